"""A setting is read from its variable, and a value that cannot be meant names the variable, the value and the way out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stillme.errors import InputError
from stillme.settings import EnvironmentSettings, Row, choice, named, number, rows, setting, switch, whole


@dataclass(frozen=True, slots=True)
class Kettle(EnvironmentSettings):
    """A setting of each kind."""

    lid: bool = setting(True, "KETTLE_LID", "whether it has one")
    whistle: bool | None = setting(None, "KETTLE_WHISTLE", "whether it calls", switch)
    label: str = setting("tea", "KETTLE_LABEL", "what is in it")
    guests: tuple[str, ...] = setting((), "KETTLE_GUESTS", "who drinks")
    heat: float = setting(95.5, "KETTLE_HEAT", "how hot", number(0, 100))
    grams: int = setting(2_000_000, "KETTLE_GRAMS", "how heavy", whole(1, 3_000_000))
    colour: str = setting("red", "KETTLE_COLOUR", "red or blue", choice("red", "blue"))
    cups: tuple[str, ...] = setting(("Big",), "KETTLE_CUPS", "which cups", named(lambda: ("Big", "Small")))
    dents: int = 0


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({}, Kettle(), id="nothing set"),
        pytest.param({"KETTLE_LID": " ", "KETTLE_HEAT": ""}, Kettle(), id="empty is not set"),
        pytest.param({"KETTLE_LID": "Off", "KETTLE_WHISTLE": "1"}, Kettle(lid=False, whistle=True), id="switches"),
        pytest.param({"KETTLE_LABEL": " trà "}, Kettle(label="trà"), id="blanks around a value"),
        pytest.param({"KETTLE_GUESTS": "an, bình,,"}, Kettle(guests=("an", "bình")), id="a list"),
        pytest.param({"KETTLE_HEAT": "1e1", "KETTLE_GRAMS": "3"}, Kettle(heat=10.0, grams=3), id="numbers"),
        pytest.param({"KETTLE_COLOUR": "BLUE", "KETTLE_CUPS": "Small"}, Kettle(colour="blue", cups=("Small",)), id="choices"),
        pytest.param({"KETTLE_DENTS": "3"}, Kettle(), id="what has no variable is not read"),
    ],
)  # fmt: skip
def test_settings_are_read_from_their_variables(variables: dict[str, str], expected: Kettle) -> None:
    """Each as its kind is read."""
    assert Kettle.from_environment(variables) == expected


@pytest.mark.parametrize(
    ("variable", "given", "message"),
    [
        ("KETTLE_LID", "perhaps", "KETTLE_LID must be true or false, got 'perhaps'"),
        ("KETTLE_HEAT", "warm", "KETTLE_HEAT must be a number from 0 to 100, got 'warm'"),
        ("KETTLE_HEAT", "nan", "KETTLE_HEAT must be a number from 0 to 100, got 'nan'"),
        ("KETTLE_GRAMS", "1.5", "KETTLE_GRAMS must be a whole number from 1 to 3000000, got '1.5'"),
        ("KETTLE_GRAMS", "9" * 5000, "KETTLE_GRAMS must be a whole number from 1 to 3000000, got '9999"),
        ("KETTLE_COLOUR", "blu", "KETTLE_COLOUR must be one of red, blue, got 'blu' (did you mean blue?)"),
        ("KETTLE_CUPS", "small", "KETTLE_CUPS names 'small', which is unknown: did you mean Small?"),
    ],
)
def test_a_value_that_cannot_be_meant_names_variable_value_and_way_out(variable: str, given: str, message: str) -> None:
    """In one line, however long the value."""
    with pytest.raises(InputError) as error:
        Kettle.from_environment({variable: given})

    assert str(error.value).startswith(message)
    assert len(str(error.value)) < 200


def test_the_reference_shows_every_variable_with_its_default() -> None:
    """As the table of the docs is made."""
    found: list[Any] = rows(Kettle)

    assert found[:4] == [
        Row("KETTLE_LID", "true", "whether it has one"),
        Row("KETTLE_WHISTLE", "", "whether it calls"),
        Row("KETTLE_LABEL", "tea", "what is in it"),
        Row("KETTLE_GUESTS", "", "who drinks"),
    ]
    assert [row.default for row in found[4:]] == ["95.5", "2000000", "red", "Big"]


def test_a_setting_may_stand_in_a_file_that_its_twin_names(tmp_path: Path) -> None:
    """As secrets are mounted: blanks and the end of the line do not count, and it is read as the variable would be."""
    (tmp_path / "heat").write_text(" 40\n", encoding="utf-8")

    assert Kettle.from_environment({"KETTLE_HEAT_FILE": str(tmp_path / "heat")}) == Kettle(heat=40.0)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        pytest.param({"KETTLE_LABEL": "tea", "KETTLE_LABEL_FILE": "label"}, "KETTLE_LABEL and KETTLE_LABEL_FILE are both set", id="both"),
        pytest.param({"KETTLE_LABEL_FILE": "none"}, "KETTLE_LABEL_FILE: 'none' cannot be read: No such file", id="no file"),
        pytest.param({"KETTLE_LABEL_FILE": "empty"}, "KETTLE_LABEL_FILE: 'empty' is empty: write the value of KETTLE_LABEL", id="empty"),
        pytest.param({"KETTLE_LABEL_FILE": "bytes"}, "'bytes' cannot be read: it is not UTF-8", id="no text"),
        pytest.param({"KETTLE_HEAT_FILE": "label"}, "KETTLE_HEAT must be a number from 0 to 100, got 'trà'", id="a bad value"),
    ],
)  # fmt: skip
def test_a_file_that_gives_no_value_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], message: str
) -> None:
    """A secret that is missing is never an empty one."""
    monkeypatch.chdir(tmp_path)
    for name, held in {"label": "trà".encode(), "empty": b" \n", "bytes": b"\xff\xfe"}.items():
        Path(name).write_bytes(held)

    with pytest.raises(InputError, match=message):
        Kettle.from_environment(variables)
