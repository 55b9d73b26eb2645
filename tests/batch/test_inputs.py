"""Which files a batch reads, in which order, and what is said where there are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stillme.batch.inputs import InputFile, find_inputs
from stillme.errors import InputError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of logs with a subfolder, a file that holds no rows, and an output of an earlier batch."""
    monkeypatch.chdir(tmp_path)
    for name in (
        "logs/b.jsonl",
        "logs/a.csv",
        "logs/2026/c.jsonl.gz",
        "logs/d.parquet",
        "logs/readme.txt",
        "logs/out.jsonl",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"12345")
    (tmp_path / "logs/out.jsonl.lines.jsonl").write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        pytest.param(["logs/b.jsonl"], ["logs/b.jsonl"], id="a file"),
        pytest.param(
            ["logs"], ["logs/2026/c.jsonl.gz", "logs/a.csv", "logs/b.jsonl", "logs/d.parquet"], id="a folder, sorted"
        ),
        pytest.param(["logs/*.csv", "logs/*.jsonl"], ["logs/a.csv", "logs/b.jsonl"], id="patterns, in their order"),
        pytest.param(["logs/**/*.gz"], ["logs/2026/c.jsonl.gz"], id="a pattern that goes into folders"),
        pytest.param(["logs/b.jsonl", "logs/b.*"], ["logs/b.jsonl"], id="a file that is named twice counts once"),
    ],
)
def test_files_folders_and_patterns(folder: Path, sources: list[str], expected: list[str]) -> None:
    """The output of the batch and what lies beside it are never its input."""
    assert [file.name for file in find_inputs(sources, folder / "logs" / "out.jsonl")] == expected


def test_a_file_has_a_form_and_a_size(folder: Path) -> None:
    """The name says the form."""
    found = find_inputs(["logs/2026"], folder / "out.jsonl")

    assert found == [InputFile("logs/2026/c.jsonl.gz", "jsonl", 5)]
    assert found[0].is_compressed


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("nowhere.jsonl", "is no file, no folder and no pattern", id="a file that is not there"),
        pytest.param("logs/*.xml", "no file of rows is there", id="a pattern that fits nothing"),
        pytest.param("logs/readme.txt", "is in no form that is known", id="a file in another form"),
        pytest.param("logs/out.jsonl", "is the output itself", id="the output"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_way_out(folder: Path, source: str, words: str) -> None:
    """And the forms that can are named."""
    with pytest.raises(InputError, match=words) as raised:
        find_inputs([source], folder / "logs" / "out.jsonl")

    assert ".parquet" in str(raised.value)


def test_a_name_that_no_result_can_carry_is_said_before_anything_is_verified(tmp_path: Path) -> None:
    """It is not UTF-8, as names from old disks may be."""
    try:
        Path(os.fsdecode(os.fsencode(tmp_path / "old-") + b"\xff.jsonl")).write_bytes(b"{}")
    except OSError:
        pytest.skip("this file system takes no such name")

    with pytest.raises(InputError, match=r"not UTF-8.*rename"):
        find_inputs([str(tmp_path)], tmp_path / "out.jsonl")
