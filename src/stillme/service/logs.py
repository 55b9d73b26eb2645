"""How the service logs: lines for people, or one JSON object a line for whoever collects them."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

__all__ = ["FORMATS", "JsonLines", "logging_config"]

FORMATS: Final = ("text", "json")


class JsonLines(logging.Formatter):
    """A record as JSON; the named arguments of a message become fields of their own."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the message holds."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if isinstance(record.args, Mapping):
            fields |= {name: value for name, value in record.args.items() if name not in fields}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def logging_config(form: str) -> dict[str, Any]:
    """What `logging.config.dictConfig` is told: everything to stderr, in that form."""
    line = {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": line, "json": {"()": JsonLines}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form, "stream": "ext://sys.stderr"}},
        "loggers": {
            "stillme": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
            "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        },
    }
