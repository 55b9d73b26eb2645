"""A log for programs: one JSON object a line, whatever the message holds."""

from __future__ import annotations

import json
import logging
import logging.config

import pytest

from stillme.service.logs import JsonLines, logging_config


def written(message: str, *arguments: object, **more: object) -> dict[str, object]:
    """What a record becomes."""
    record = logging.LogRecord("stillme.service", logging.WARNING, "x.py", 1, message, arguments, None)
    record.__dict__.update(more)
    line = JsonLines().format(record)
    assert "\n" not in line
    found: dict[str, object] = json.loads(line)
    return found


def test_named_arguments_are_fields_of_their_own() -> None:
    """Beside the message, which reads as in a log for people; none of them replaces the level."""
    found = written("%(method)s took %(ms).1f ms", {"method": "POST", "ms": 2.345, "level": "none"})

    assert (found["message"], found["method"], found["ms"]) == ("POST took 2.3 ms", "POST", 2.345)
    assert (found["level"], found["logger"]) == ("warning", "stillme.service")
    assert str(found["time"]).endswith("+00:00")


def test_a_message_cannot_begin_a_line_of_its_own() -> None:
    """Line breaks and quotes of a text stay inside its field."""
    assert written("%s", 'không được\n{"level": "info"}')["message"] == 'không được\n{"level": "info"}'


def test_an_exception_is_a_field() -> None:
    """With its traceback, on the same line."""
    try:
        raise ValueError("no")
    except ValueError as error:
        found = written("failed", exc_info=(ValueError, error, error.__traceback__))

    assert "ValueError: no" in str(found["exception"])


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_configuration_is_one_that_logging_takes(form: str) -> None:
    """Its formatter is the one that was asked for."""
    logging.config.DictConfigurator(logging_config(form)).configure_formatter(logging_config(form)["formatters"][form])
