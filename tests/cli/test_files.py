"""Files that commands write are whole, or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.cli.files import check_new, whole_file
from stillme.errors import InputError


def test_a_file_takes_its_place_when_it_is_whole(tmp_path: Path) -> None:
    """Only its owner can read it, and nothing is left beside it."""
    with whole_file(tmp_path / "out.md") as part:
        part.write_text("all of it")

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.md", "all of it")]
    assert (tmp_path / "out.md").stat().st_mode & 0o777 == 0o600


def test_what_fails_halfway_leaves_nothing(tmp_path: Path) -> None:
    """The file that was there stays as it was."""
    (tmp_path / "out.md").write_text("before")

    with pytest.raises(TypeError), whole_file(tmp_path / "out.md") as part:
        part.write_text(None)

    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.md", "before")]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    """The message names the file and why."""
    with (
        pytest.raises(InputError, match=r"cannot be written: No such file"),
        whole_file(tmp_path / "no" / "out.md"),
    ):
        pass


def test_nothing_is_overwritten_by_mistake(tmp_path: Path) -> None:
    """Unless that is wanted."""
    (tmp_path / "out.md").write_text("before")

    check_new(tmp_path / "out.md", force=True)
    with pytest.raises(InputError, match="exists: choose another name, or give --force"):
        check_new(tmp_path / "out.md", force=False)
    with pytest.raises(InputError, match=r"exists: choose another name$"):
        check_new(tmp_path / "out.md")
