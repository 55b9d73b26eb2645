"""`stillme chat` as a user calls it: what it prints, what it reads, and the exit code that scripts branch on."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from stillme.audit import AuditStore, Filter
from stillme.chat.documents.ingest import ingest
from stillme.cli.commands import cli
from stillme.models.embedding import embed
from stillme.storage.knowledge.engines import store_at
from tests.chat.upstream import Answer, Upstream, completion, error

NOTE = "note: answers are not validated; --validators, or ENABLE_VALIDATORS=true, turns the validators on\n"
REFUNDS = "How long after delivery are refunds paid?"
WARRANTY = "Thời hạn bảo hành của bếp Larkfield là bao lâu?"
DOCUMENTS = {
    "refunds.md": "# Refunds\n\nRefunds are paid within 14 days of delivery. Unused gear can be returned.\n",
    "bao-hanh.md": "# Bảo hành\n\nThời hạn bảo hành của bếp Larkfield là 24 tháng kể từ ngày mua.\n",
    "plans.md": "# Plans\n\nThe Starter plan costs $9 per month. The Team plan costs $29 per month.\n",
}


@pytest.fixture(scope="module")
def knowledge(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store of three documents, read as `stillme ingest` reads them."""
    folder = tmp_path_factory.mktemp("knowledge") / "shop"
    folder.mkdir()
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    where = str(folder.parent / "knowledge.db")
    with closing(store_at(where)) as store:
        ingest([folder], store, embed=embed)
    return where


@pytest.fixture(autouse=True)
def _nothing_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the environment nor the working folder says anything."""
    for name in [
        n for n in os.environ if n.startswith(("STILLME_", "ENABLE_", "VALIDATOR_")) or n.endswith("_API_KEY")
    ]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def run(*args: str, stdin: str | bytes = "", **env: str) -> Result:
    """The result of `stillme chat …` in this process, with standard input that is no terminal."""
    return CliRunner().invoke(cli, ["chat", *args], input=stdin, env=env, catch_exceptions=False)


def source(line: str) -> str:
    """A line of a source with its id, which is long, left out."""
    return re.sub(r"#[0-9a-f]+$", "", line)


def printed(result: Result) -> list[str]:
    """The lines of stdout, ids left out."""
    return [source(line) for line in result.stdout.splitlines()]


# one question


def test_one_answer_and_its_source(knowledge: str) -> None:
    """The answer, then the numbered sources that it cites; that nothing checked it is said on stderr."""
    result = run(REFUNDS, "--store", knowledge)

    assert (result.exit_code, result.stderr) == (0, NOTE)
    assert printed(result) == ["Refunds are paid within 14 days of delivery. [1]", "[1] Refunds, shop/refunds.md", ""]


def test_one_answer_in_vietnamese(knowledge: str) -> None:
    """Questions in Vietnamese are answered in Vietnamese."""
    result = run(WARRANTY, "--store", knowledge)

    assert result.exit_code == 0
    assert printed(result) == [
        "Thời hạn bảo hành của bếp Larkfield là 24 tháng kể từ ngày mua. [1]",
        "[1] Bảo hành, shop/bao-hanh.md",
        "",
    ]


@pytest.mark.parametrize(
    ("args", "env"),
    [
        pytest.param(["--validators"], {}, id="a flag"),
        pytest.param(["--policy", "lite"], {}, id="a policy named here"),
        pytest.param([], {"ENABLE_VALIDATORS": "true"}, id="the environment"),
    ],
)
def test_with_validators_the_decision_is_shown(knowledge: str, args: list[str], env: dict[str, str]) -> None:
    """One line below the sources says what was decided and why; there is no note then."""
    result = run(REFUNDS, "--store", knowledge, *args, **env)

    assert (result.exit_code, result.stderr) == (0, "")
    assert re.fullmatch(r"answer \(deliver\w*\), confidence high, verified(: [a-z_, ]+)?", printed(result)[2])


def test_what_the_documents_do_not_say_is_refused(knowledge: str) -> None:
    """A refusal is 10 and cites nothing."""
    result = run("Who won the football cup in Brazil in 1962?", "--store", knowledge, "--validators")

    assert result.exit_code == 10
    assert result.stdout.startswith("I can't give you a verified answer to this question.")
    assert printed(result)[1].startswith("refuse (block), confidence low")


def test_a_draft_that_the_sources_contradict_is_not_shown(knowledge: str) -> None:
    """What the user reads is the refusal; the model's own words do not come through."""
    with Upstream(completion("Refunds are paid within 99 days of delivery [1].")) as upstream:
        result = run(
            REFUNDS,
            *("--store", knowledge, "--validators", "--provider", "local"),
            STILLME_LOCAL_MODEL="m",
            STILLME_LOCAL_URL=upstream.url,
        )

    assert result.exit_code == 10
    assert "99" not in result.stdout
    assert "contradicted_claim" in result.stdout


def test_the_style_is_the_one_asked_for(knowledge: str) -> None:
    """A flag comes before the environment."""
    friendly = run(REFUNDS, "--store", knowledge, "--style", "friendly", STILLME_TONE_STYLE="scholarly")
    scholarly = run(REFUNDS, "--store", knowledge, STILLME_TONE_STYLE="scholarly")

    assert "Let me know if you would like more detail." in friendly.stdout
    assert "Please consult the cited sources for details." in scholarly.stdout


def test_what_a_model_writes_does_nothing_to_the_terminal(knowledge: str) -> None:
    """Control and bidirectional characters are written out, and brackets are no markup."""
    with Upstream(completion("Paid \x1b]0;owned\x07\x1b[31m[bold]in\u202e 14 days[/bold] [1].")) as upstream:
        result = run(
            REFUNDS,
            *("--store", knowledge, "--provider", "local", "--model", "m"),
            STILLME_LOCAL_MODEL="m",
            STILLME_LOCAL_URL=upstream.url,
        )

    assert printed(result)[0] == r"Paid \x1b]0;owned\x07\x1b[31m[bold]in\u202e 14 days[/bold] [1]."


# what goes wrong


@pytest.mark.parametrize(
    ("args", "env", "code", "problem"),
    [
        pytest.param([" "], {}, 3, "the question is blank (' '): ask something", id="a blank question"),
        pytest.param(["x" * 8001], {}, 3, "the question: String should have at most 8000 characters, got 'xxx", id="a long question"),
        pytest.param([REFUNDS, "--session", "a b"], {}, 3, "--session: String should match pattern", id="a session with a blank"),
        pytest.param([REFUNDS, "--provider", "opnai"], {}, 3, "opnai", id="an unknown provider"),
        pytest.param([REFUNDS, "--policy", "strct"], {}, 4, "did you mean the preset strict?", id="an unknown policy"),
        pytest.param([REFUNDS], {"ENABLE_VALIDATORS": "maybe"}, 3, "ENABLE_VALIDATORS", id="a bad variable"),
        pytest.param([REFUNDS, "--style", "rude"], {}, 2, "'rude' is not one of", id="an unknown style"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_said_in_a_line(
    knowledge: str, args: list[str], env: dict[str, str], code: int, problem: str
) -> None:
    """Nothing on stdout, one line on stderr, an exit code, no traceback."""
    result = run(*args, "--store", knowledge, **env)

    assert (result.exit_code, result.stdout) == (code, "")
    assert problem in result.stderr
    assert "Traceback" not in result.stderr


def test_a_model_that_fails_is_an_error_and_never_text(knowledge: str) -> None:
    """Exit code 5, and the server's own words stay out."""
    with Upstream(error(400, "secret words of the server")) as upstream:
        result = run(
            REFUNDS,
            *("--store", knowledge, "--provider", "local"),
            STILLME_LOCAL_MODEL="m",
            STILLME_LOCAL_URL=upstream.url,
        )

    assert (result.exit_code, result.stdout) == (5, "")
    assert "error: " in result.stderr
    assert "secret" not in result.stderr


# several questions


def test_piped_questions_stand_one_on_a_line(knowledge: str) -> None:
    """Blank lines are skipped, `exit` ends, and the strictest decision is the exit code."""
    stdin = f"{REFUNDS}\n\n  {WARRANTY}\nexit\nWho is never asked?\n"

    result = run("--store", knowledge, stdin=stdin)

    assert result.exit_code == 0
    assert [line for line in printed(result) if line] == [
        f"> {REFUNDS}",
        "Refunds are paid within 14 days of delivery. [1]",
        "[1] Refunds, shop/refunds.md",
        f"> {WARRANTY}",
        "Thời hạn bảo hành của bếp Larkfield là 24 tháng kể từ ngày mua. [1]",
        "[1] Bảo hành, shop/bao-hanh.md",
    ]


def test_a_question_that_fails_does_not_end_the_others(knowledge: str) -> None:
    """It is reported with the others answered, and the exit code tells of it."""
    result = run("--store", knowledge, stdin=f"{'x' * 8001}\n{REFUNDS}\n")

    assert result.exit_code == 3
    assert "at most 8000 characters" in result.stderr
    assert "Refunds are paid within 14 days of delivery. [1]" in result.stdout


def test_piped_questions_are_one_conversation(knowledge: str) -> None:
    """A model is given the earlier turns, as data, with the later question."""
    with Upstream(completion("Refunds are paid within 14 days of delivery [1].")) as upstream:
        run(
            *("--store", knowledge, "--provider", "local"),
            stdin=f"{REFUNDS}\nAnd how long for the warranty?\n",
            STILLME_LOCAL_MODEL="m",
            STILLME_LOCAL_URL=upstream.url,
        )

    first, second = (body["messages"][-1]["content"] for body in upstream.bodies)
    assert "(the user said)" not in first
    assert f"(the user said)\n| {REFUNDS}\n(the assistant said)\n| Refunds are paid within 14 days" in second


def test_input_that_is_no_text_is_told(knowledge: str) -> None:
    """What cannot be decoded is a line on stderr."""
    result = run("--store", knowledge, stdin=b"\xff\xfe\n")

    assert result.exit_code == 3
    assert "standard input is not UTF-8 text" in result.stderr


def test_a_session_is_found_again_in_a_later_run(knowledge: str) -> None:
    """What was answered in a session reaches a later question of it, and no other session's."""

    def asked(session: str, script: Answer, question: str) -> str:
        with Upstream(script) as upstream:
            run(
                *(question, "--store", knowledge, "--session", session, "--provider", "local"),
                STILLME_LOCAL_MODEL="m",
                STILLME_LOCAL_URL=upstream.url,
            )
        return str(upstream.bodies[-1]["messages"][-1]["content"])

    reply = completion("Refunds are paid within 14 days of delivery [1].")
    asked("ann", reply, REFUNDS)

    assert "(said earlier)" in asked("ann", reply, "How long after delivery are refunds paid, again?")
    assert "(said earlier)" not in asked("bob", reply, "How long after delivery are refunds paid, again?")


def test_verdicts_are_recorded_where_a_store_is_named(knowledge: str, tmp_path: Path) -> None:
    """Each validated answer leaves one record with who asked."""
    where = str(tmp_path / "audit.db")

    result = run(REFUNDS, "--store", knowledge, "--validators", "--audit", where)

    with AuditStore(where, create=False) as store:
        found = [record.entry for record in store.records(Filter(kind="verdict"))]
    assert result.exit_code == 0
    assert [str(entry.caller).partition(":")[0] for entry in found if entry] == ["cli"]


# a terminal


def on_terminal(*args: str, typed: list[bytes]) -> tuple[int, str]:
    """Exit code and screen of `stillme chat …` with all three streams on a terminal, each text typed when a prompt stands there."""
    leader, follower = pty.openpty()
    known = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-c", "from stillme.cli import main; main()", "chat", *args],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**known, "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(follower)
    try:
        screen = b""
        for text in typed:
            screen += _read(leader, until=b"> ")
            os.write(leader, text)
        screen += _read(leader)
        return process.wait(timeout=600), screen.decode()
    finally:
        process.kill()
        process.wait()
        os.close(leader)


def _read(terminal: int, until: bytes = b"") -> bytes:
    """What appears on a terminal, up to a prompt at the end or to the end of all."""
    seen = b""
    while not until or not re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", seen).endswith(until):
        assert select.select([terminal], [], [], 60)[0], seen
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux reports the end of a terminal as an error
            return seen
        if not piece:
            return seen
        seen += piece
    return seen


@pytest.mark.parametrize("end", [pytest.param(b"exit\n", id="exit"), pytest.param(b"\x04", id="Ctrl-D")])
def test_a_terminal_holds_a_conversation_until_it_ends(knowledge: str, end: bytes) -> None:
    """A prompt, an answer, dim sources and a dim decision; a question that fails does not end it."""
    typed = [f"{REFUNDS}\n".encode(), b"\n", b"x" * 20 + b"\n", end]

    code, screen = on_terminal("--store", knowledge, "--validators", typed=typed)

    bare = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", screen).replace("\r", "")
    assert code == 0
    assert "Ask something. exit, or Ctrl-D, ends the chat." in bare
    assert "Refunds are paid within 14 days of delivery. [1]" in bare
    assert re.search(r"\x1b\[2m\[1\] Refunds", screen)
    assert re.search(r"\x1b\[2;3manswer \(", screen)


def test_help_is_there_without_a_store() -> None:
    """What the command does and how it ends is told before anything is opened."""
    result = run("--help")

    assert result.exit_code == 0
    assert "Answer QUESTION from the knowledge store" in result.stdout


def test_without_a_store_nothing_is_made_up(tmp_path: Path) -> None:
    """A store that is not there, or has nothing in it, ends in a refusal or an error, never in an answer."""
    result = run(REFUNDS, "--store", str(tmp_path / "none.db"), "--validators")

    assert result.exit_code in (3, 5, 10)
    assert "14 days" not in result.stdout
