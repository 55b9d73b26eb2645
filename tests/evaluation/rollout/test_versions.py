"""Versions of a policy file: what is wrong stands at its line, a change is recorded before it is done, and an earlier text comes back."""

from __future__ import annotations

from pathlib import Path

import pytest

from stillme.audit import AuditStore
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.seals import HmacKey
from stillme.errors import InputError, StillMeError
from stillme.evaluation.rollout.versions import FileProblem, file_problems, roll_back, save, text_digest, versions

FIRST = "# chúng tôi đã thống nhất\nmode: warn\n"
SECOND = "# chúng tôi đã thống nhất\nmode: warn\non_error: deliver\n"


@pytest.fixture
def store(tmp_path: Path) -> AuditStore:
    """An empty store."""
    return AuditStore(tmp_path / "audit.db", key=HmacKey(bytes(32)))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A policy file."""
    path = tmp_path / "policy.yaml"
    path.write_text(FIRST, encoding="utf-8")
    return path


def known(file: Path) -> str:
    """The digest of the file as it stands."""
    return text_digest(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(FIRST, [], id="a policy"),
        pytest.param("", [], id="nothing: the preset"),
        pytest.param("a: [", [(2, "not valid YAML")], id="no YAML, at the line where it breaks"),
        pytest.param("mode: warn\nmode: warn\n", [(2, "duplicate key mode")], id="a key twice"),
        pytest.param("mode: cảnh báo\nfoo: 1", [(1, "mode must be one of"), (2, "unknown key foo")], id="two at once"),
        pytest.param("x" * 300_000, [(None, "256 KiB at most")], id="more than a policy can be, of no line"),
        pytest.param("- a\n- b\n", [(1, "a policy is a mapping")], id="a list"),
        pytest.param(
            'mode: "a (policy.yaml line 9"', [(1, "mode must be one of")], id="a value that looks like a place"
        ),
    ],
)
def test_each_problem_stands_at_its_line(text: str, found: list[tuple[int | None, str]]) -> None:
    """As a file of that name would tell it."""
    problems = file_problems(text)

    assert [problem.line for problem in problems] == [line for line, _ in found]
    assert all(words in problem.text for problem, (_, words) in zip(problems, found, strict=True))
    assert all(isinstance(problem, FileProblem) for problem in problems)


def test_a_change_is_recorded_with_the_text_before_it(store: AuditStore, file: Path) -> None:
    """Who, why, the mode and the text; the chain holds, and a second change records one version more."""
    save(store, file, SECOND, by="Lan", why="chạy thử", known=known(file))
    save(store, file, FIRST + "limits:\n  passages: 9\n", by="Minh", why="quá nhiều đoạn", known=known(file))

    assert [(v.how, v.by, v.why, v.mode) for v in versions(store)] == [
        ("edited", "Minh", "quá nhiều đoạn", "warn"),
        ("edited", "Lan", "chạy thử", "warn"),
        ("found", "file", "", "warn"),
    ]
    assert [v.text for v in versions(store)][1:] == [SECOND, FIRST]
    assert verify_store(store).fault is None


def test_what_was_written_by_other_means_is_recorded_before_it_is_replaced(store: AuditStore, file: Path) -> None:
    """Nothing that was ever in force is lost."""
    save(store, file, SECOND, by="Lan", why="x", known=known(file))
    file.write_text("mode: warn\nextends: strict\n", encoding="utf-8")
    save(store, file, FIRST, by="Lan", why="y", known=known(file))

    assert [v.how for v in versions(store)] == ["edited", "found", "edited", "found"]


def test_rolling_back_keeps_the_mode_of_today(store: AuditStore, file: Path) -> None:
    """A step of the rollout is not undone by the way."""
    save(store, file, SECOND, by="Lan", why="x", known=known(file))
    file.write_text(SECOND.replace("warn", "monitor"), encoding="utf-8")

    roll_back(store, file, versions(store)[-1].id, by="Minh", why="lại như cũ", known=known(file))

    assert file.read_text(encoding="utf-8") == FIRST.replace("warn", "monitor")
    assert versions(store)[0].how == "rolled back"


def test_a_file_that_cannot_be_read_can_be_mended(store: AuditStore, file: Path) -> None:
    """The broken text is kept too."""
    file.write_text("mode: [", encoding="utf-8")
    save(store, file, FIRST, by="Lan", why="sửa lỗi gõ", known=known(file))

    assert versions(store)[1].text == "mode: ["
    assert file.read_text(encoding="utf-8") == FIRST


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        pytest.param("mode: [", {}, "not valid YAML", id="no policy"),
        pytest.param("mode: enforce\n", {}, "cannot become enforce", id="another mode"),
        pytest.param("", {}, "cannot become monitor", id="an empty file is monitor too"),
        pytest.param(SECOND, {"why": " "}, "needs a name and a reason", id="no reason"),
        pytest.param(SECOND, {"by": ""}, "needs a name and a reason", id="nobody"),
        pytest.param(SECOND, {"known": "0"}, "was changed meanwhile", id="an older text was edited"),
    ],
)
def test_what_is_refused_leaves_file_and_record_alone(
    store: AuditStore, file: Path, text: str, more: dict[str, str], words: str
) -> None:
    """And says why."""
    with pytest.raises(InputError, match=words):
        save(store, file, text, **{"by": "Lan", "why": "x", "known": known(file), **more})

    assert file.read_text(encoding="utf-8") == FIRST
    assert versions(store) == []


def test_a_file_that_is_not_there_is_told_so(store: AuditStore, file: Path, tmp_path: Path) -> None:
    """Half a file is never in force."""
    with pytest.raises(StillMeError, match="there is no policy file"):
        save(store, tmp_path / "nowhere" / "policy.yaml", SECOND, by="Lan", why="x", known=known(file))

    assert versions(store) == []
