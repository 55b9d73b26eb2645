"""The commands as a user calls them: what they print where, and the exit code that scripts branch on."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from stillme import Guard, Policy, __version__
from stillme.cli.commands import cli
from stillme.policy import policy_schema
from stillme.reasons import Reason
from stillme.validators.registry import BUILT_IN

PASSAGE = {
    "source_id": "faq-returns",
    "title": "Returns",
    "text": "Larkfield Outdoor accepts returns of unused gear within 30 days of delivery.",
    "similarity": 0.9,
}
PLANS = {
    "source_id": "plans",
    "text": "The Starter plan costs $9 per month. The Team plan costs $29 per month. The Giant plan costs $99.",
    "similarity": 0.9,
}
QUESTION = "How long do I have to return unused gear to Larkfield Outdoor?"
AS_OF = "2026-02-01T09:00:00Z"


def request(name: str, query: str, draft: str, *passages: dict[str, Any]) -> dict[str, Any]:
    """A request with everything set, so that its verdict is the same at any time."""
    return {
        "request_id": name,
        "query": query,
        "draft_answer": draft,
        "retrieved_context": list(passages),
        "as_of": AS_OF,
    }


ANSWERED = request(
    "good", QUESTION, "Larkfield Outdoor accepts returns of unused gear within 30 days of delivery [1].", PASSAGE
)
REFUSED = request(
    "bad", QUESTION, "Larkfield Outdoor accepts returns of unused gear within 45 days of delivery [1].", PASSAGE
)
UNCLEAR = request("open", "How much does the plan cost per month?", "The Team plan costs $29 per month [1].", PLANS)
VIETNAMESE = request(
    "vi",
    "Thủ đô của Việt Nam là thành phố nào?",
    "Thủ đô của Việt Nam là Huế [1].",
    {"source_id": "dia-ly", "text": "Thủ đô của Việt Nam là Hà Nội.", "similarity": 0.9},
)

FAILING_GATE = {"validators": {"FactualHallucinationValidator": {"timeout_s": 1e-9}}}
NOTHING_CHECKED = {"validators": {name: {"enabled": False} for name in BUILT_IN}}


@pytest.fixture(autouse=True)
def _no_policy_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STILLME_POLICY", raising=False)


def run(*args: str | Path, stdin: str | bytes = "", **options: Any) -> Result:
    """The result of a command in this process."""
    return CliRunner().invoke(cli, [str(arg) for arg in args], input=stdin, catch_exceptions=False, **options)


def lines(*values: object) -> str:
    """Values as JSON lines."""
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def without_ids(verdict: Any) -> Any:
    """A verdict as data, without what differs between two runs."""
    data = json.loads(verdict) if isinstance(verdict, str) else verdict.model_dump(mode="json")
    del data["validator_trace_id"], data["metrics"]["elapsed_ms"]
    for finding in data["findings"]:
        del finding["elapsed_ms"]
    return data


# what verify decides, as an exit code


@pytest.mark.parametrize(
    ("requests", "policy", "code"),
    [
        pytest.param([ANSWERED], {}, 0, id="an answer is 0"),
        pytest.param([REFUSED], {}, 10, id="a refusal is 10"),
        pytest.param([UNCLEAR], {}, 11, id="a question back is 11"),
        pytest.param([VIETNAMESE], {}, 10, id="a refusal in Vietnamese is 10"),
        pytest.param([ANSWERED, UNCLEAR, ANSWERED], {}, 11, id="a question back weighs more than answers"),
        pytest.param([UNCLEAR, REFUSED, ANSWERED], {}, 10, id="a refusal weighs more than a question back"),
        pytest.param([ANSWERED], FAILING_GATE, 5, id="a hard gate that errors is 5"),
        pytest.param([ANSWERED], {**FAILING_GATE, "on_error": "deliver"}, 5, id="even where the policy delivers"),
        pytest.param([ANSWERED], NOTHING_CHECKED, 5, id="an answer that nothing checked is 5"),
        pytest.param([REFUSED, {"query": ""}, ANSWERED], FAILING_GATE, 3, id="a bad request weighs most"),
    ],
)
@pytest.mark.parametrize("mode", ["monitor", "warn", "enforce"])
def test_the_exit_code_tells_the_decision_in_every_mode(
    tmp_path: Path, requests: list[Any], policy: dict[str, Any], code: int, mode: str
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(yaml.safe_dump(policy), encoding="utf-8")

    result = run("verify", "-", "--policy", file, "--mode", mode, "--quiet", stdin=lines(*requests))

    assert (result.exit_code, result.stdout) == (code, "")


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        pytest.param(["verify"], 2, "Missing argument 'FILE|-'", id="no file"),
        pytest.param(["verify", "-", "--mode", "block"], 2, "'block' is not one of", id="an unknown mode"),
        pytest.param(["verfy", "-"], 2, "No such command 'verfy'", id="an unknown command"),
        pytest.param(["verify", "none.json"], 3, "error: none.json cannot be read: No such file or", id="no such file"),
        pytest.param(["verify", "."], 3, "error: . cannot be read: Is a directory", id="a directory"),
        pytest.param(
            ["verify", "-", "--policy", "none.yaml"],
            4,
            "error: there is no policy file 'none.yaml'",
            id="no such policy",
        ),
        pytest.param(
            ["verify", "-", "--policy", "strct"], 4, "did you mean the preset strict?", id="a misspelt preset"
        ),
        pytest.param(
            ["verify", "none.json", "--policy", "none.yaml"],
            3,
            "none.json cannot be read",
            id="input comes before policy",
        ),
        pytest.param(["policy", "check", "none.yaml"], 4, "error: there is no policy file", id="no policy to check"),
        pytest.param(["policy", "show", "none.yaml"], 4, "error: there is no policy file", id="no policy to show"),
        pytest.param(["reasons", "--language", "fr"], 2, "'fr' is not one of 'en', 'vi'", id="an unknown language"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(args: list[str], code: int, message: str) -> None:
    result = run(*args, stdin=lines(ANSWERED))

    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert "Traceback" not in result.stderr


# what verify prints


def test_json_is_the_verdict_of_the_guard() -> None:
    result = run("verify", "-", stdin=json.dumps(REFUSED, indent=2))

    assert result.stdout.count("\n") == 1
    assert without_ids(result.stdout) == without_ids(Guard().verify(REFUSED))
    assert result.stderr == ""


def test_many_are_one_verdict_a_line_in_order_with_a_summary_on_stderr() -> None:
    result = run("verify", "-", stdin=lines(REFUSED, ANSWERED, VIETNAMESE, UNCLEAR))

    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    assert [verdict["request_id"] for verdict in verdicts] == ["bad", "good", "vi", "open"]
    assert result.stderr.splitlines()[:4] == [
        "4 requests",
        "       2 refuse",
        "       1 answer",
        "       1 ask_clarify",
    ]
    assert "       2 contradicted_claim" in result.stderr.splitlines()


def test_a_list_gives_the_same_verdicts_as_lines() -> None:
    requests = [REFUSED, ANSWERED]

    as_list, as_lines = (run("verify", "-", stdin=text).stdout for text in (json.dumps(requests), lines(*requests)))

    assert [without_ids(v) for v in as_list.splitlines()] == [without_ids(v) for v in as_lines.splitlines()]


def test_a_bad_request_is_reported_with_its_place_and_the_others_are_verified(tmp_path: Path) -> None:
    file = tmp_path / "in.jsonl"
    file.write_text(lines(ANSWERED) + '{"query"\n\n' + lines({"qeury": "?"}, REFUSED), encoding="utf-8")

    result = run("verify", file)

    assert result.exit_code == 3
    assert [json.loads(line)["request_id"] for line in result.stdout.splitlines()] == ["good", "bad"]
    assert result.stderr.splitlines()[:5] == [
        f"error: {file} line 2: not valid JSON: Expecting ':' delimiter (line 2 column 9)",
        f"error: {file} line 4: query is missing: it is required; unknown key 'qeury': did you mean 'query'?",
        "4 requests",
        "       2 not read",
        "       1 answer",
    ]


def test_a_list_with_one_bad_element_is_verified_but_for_that_one() -> None:
    result = run("verify", "-", stdin=json.dumps([ANSWERED, 3, {"query": "a", "generation_confidence": 1.5}, REFUSED]))

    assert result.exit_code == 3
    assert [json.loads(line)["request_id"] for line in result.stdout.splitlines()] == ["good", "bad"]
    assert result.stderr.splitlines()[:2] == [
        "error: standard input item 2: a request is a JSON object or a VerifyRequest, got int",
        "error: standard input item 3: generation_confidence: should be less than or equal to 1, got 1.5",
    ]


def test_quiet_still_reports_problems() -> None:
    result = run("verify", "-", "--quiet", stdin=lines(ANSWERED, {"query": " "}))

    assert result.stdout == ""
    assert result.stderr == "error: standard input line 2: query is blank (' '): send the user's question\n"


def test_human_prints_pages_in_a_pipe_too() -> None:
    result = run("verify", "-", "--human", "--mode", "enforce", stdin=lines(VIETNAMESE))

    assert result.exit_code == 10
    assert result.stdout.startswith(" refuse  blocked, confidence low, verified\n")
    assert "(contradicted_claim)" in result.stdout
    assert "Bản nháp mâu thuẫn với tài liệu." in result.stdout
    assert "\x1b" not in result.stdout


def test_all_findings_show_what_passed() -> None:
    some, every = (
        run("verify", "-", "--human", *flag, stdin=lines(ANSWERED)).stdout for flag in ([], ["--all-findings"])
    )

    assert "LanguageValidator" not in some
    assert re.search(r"passed +hard +LanguageValidator", every)


# the other commands


def test_a_good_policy_is_ok(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("extends: book\nmode: warn\n", encoding="utf-8")

    result = run("policy", "check", file)

    assert (result.exit_code, result.stdout) == (0, f"ok: preset book, mode warn, sha256 {Policy.load(file).hash}\n")


def test_a_bad_policy_is_told_line_by_line(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text("mode: enforc\nthresholds:\n  min_similarity_for_factual: 1.7\n", encoding="utf-8")

    result = run("policy", "check", file)

    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr == (
        "error: mode must be one of monitor, warn, enforce, got 'enforc' (policy.yaml line 1)\n"
        "error: thresholds.min_similarity_for_factual must be in [0, 1], got 1.7 (policy.yaml line 3)\n"
    )


def test_what_policy_show_prints_loads_to_the_same_policy(tmp_path: Path) -> None:
    file = tmp_path / "shown.yaml"

    for preset in ("lite", "book", "strict"):
        file.write_bytes(run("policy", "show", preset).stdout_bytes)
        assert Policy.load(file).hash == Policy.load(preset).hash
    assert run("policy", "show").stdout == run("policy", "show", "lite").stdout
    assert run("policy", "show", env={"STILLME_POLICY": "book"}).stdout == run("policy", "show", "book").stdout


def test_policy_schema_is_the_schema() -> None:
    assert json.loads(run("policy", "schema").stdout) == policy_schema()


def test_validators_and_reasons_are_tables_or_json() -> None:
    names = [row["name"] for row in json.loads(run("validators", "--json").stdout)]
    codes = [row["code"] for row in json.loads(run("reasons", "--json").stdout)]

    tables = run("validators").stdout, run("reasons").stdout, run("reasons", "--language", "vi").stdout

    assert all(name in tables[0] for name in names)
    assert codes == [reason.value for reason in Reason]
    assert "documents" in " ".join(tables[1].split())
    assert "tài liệu" in " ".join(tables[2].split())


def test_the_version() -> None:
    assert run("--version").stdout == f"stillme {__version__}\n"


# in a process of its own


@pytest.fixture
def rules_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A policy for processes that are only looked at from outside: they have no model to load."""
    file = tmp_path / "rules.yaml"
    file.write_text("grounding: {model: none}\n", encoding="utf-8")
    monkeypatch.setenv("STILLME_POLICY", str(file))


needs_no_model = pytest.mark.usefixtures("rules_alone")


def stillme(*args: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """The installed command, as a shell starts it."""
    command = [sys.executable, "-c", "from stillme.cli import main; main()", *args]
    return subprocess.run(command, capture_output="stdout" not in options, timeout=600, check=False, **options)


@pytest.mark.parametrize("start", [["-m", "stillme"], ["-c", "from stillme.cli import main; main()"]], ids=" ".join)
def test_every_way_to_start_it_is_the_same_command(start: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, *start, "reasons", "--nonsense"], capture_output=True, text=True, timeout=600, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Usage: stillme reasons [OPTIONS]\n")


def test_importing_it_loads_nothing_of_a_third_party() -> None:
    code = "import sys, stillme.cli; print(sorted({'click', 'rich', 'pydantic', 'yaml'} & set(sys.modules)))"

    assert subprocess.check_output([sys.executable, "-c", code], text=True, timeout=600) == "[]\n"


def test_help_needs_neither_rich_nor_the_guard() -> None:
    code = (
        "import sys; from stillme.cli.commands import cli; cli(['--help'], standalone_mode=False);"
        "print(sorted({'rich', 'pydantic', 'yaml', 'stillme.guard'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=True)

    assert done.stdout.splitlines()[-1] == "[]"


@needs_no_model
def test_json_needs_no_rich() -> None:
    code = (
        "import sys; from stillme.cli.commands import cli; code = cli(['verify', '-'], standalone_mode=False);"
        "print(code, sorted({'rich'} & set(sys.modules)))"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], input=lines(REFUSED), capture_output=True, text=True, timeout=600, check=True
    )

    assert done.stdout.splitlines()[-1] == "10 []"


@needs_no_model
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_any_output_encoding_gets_json_in_utf_8_and_pages_it_can_show(encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding}

    as_json = stillme("verify", "-", input=lines(VIETNAMESE).encode(), env=environment)
    page = stillme("verify", "-", "--human", input=lines(VIETNAMESE).encode(), env=environment)

    assert json.loads(as_json.stdout)["claims"][0]["text"] == VIETNAMESE["draft_answer"]
    assert "Huế" in page.stdout.decode(encoding) or "Hu\\u1ebf" in page.stdout.decode(encoding)
    assert (as_json.stderr, page.stderr, page.returncode) == (b"", b"", 10)


@needs_no_model
def test_output_that_cannot_be_written_is_said() -> None:
    with Path("/dev/full").open("wb") as full:
        done = stillme("verify", "-", input=lines(ANSWERED).encode(), stdout=full, stderr=subprocess.PIPE)

    assert (done.returncode, done.stderr) == (1, b"error: the output cannot be written: No space left on device\n")


@needs_no_model
def test_a_defect_is_a_line_and_a_traceback_only_on_demand() -> None:
    code = "import stillme.cli as p, stillme.cli.commands as c; c.VerdictPrinter = None; p.main()"
    command = [sys.executable, "-c", code, "verify", "-"]

    plain = subprocess.run(command, input=lines(ANSWERED).encode(), capture_output=True, timeout=600, check=False)
    traced = subprocess.run(
        command,
        input=lines(ANSWERED).encode(),
        capture_output=True,
        timeout=600,
        check=False,
        env={**os.environ, "STILLME_TRACEBACK": "1"},
    )

    assert (plain.returncode, plain.stderr) == (
        1,
        b"error: stillme failed: TypeError: \"'NoneType' object is not callable\" (STILLME_TRACEBACK=1 shows where)\n",
    )
    assert b"Traceback" in traced.stderr


@pytest.fixture
def streaming() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has verified its first batch and waits for more."""
    # A shell that starts the tests in the background has interrupts ignored, and children inherit that: listen to them again.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{listen}; from stillme.cli import main; main()", "verify", "-", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(lines(*[ANSWERED] * 65).encode())
        process.stdin.flush()
        yield process
        process.kill()


@needs_no_model
def test_verdicts_are_printed_while_input_is_still_coming_and_an_interrupt_is_quiet(
    streaming: subprocess.Popen[bytes],
) -> None:
    assert streaming.stdout is not None
    assert streaming.stderr is not None
    first = [json.loads(streaming.stdout.readline())["decision"] for _ in range(64)]

    streaming.send_signal(signal.SIGINT)

    assert first == ["answer"] * 64
    assert (streaming.wait(timeout=600), streaming.stderr.read()) == (130, b"")


@needs_no_model
def test_a_reader_that_goes_away_ends_it_quietly(streaming: subprocess.Popen[bytes]) -> None:
    assert streaming.stdin is not None
    assert streaming.stdout is not None
    assert streaming.stderr is not None
    streaming.stdout.readline()
    streaming.stdout.close()

    try:
        streaming.stdin.write(lines(*[ANSWERED] * 200).encode())
        streaming.stdin.close()
    except BrokenPipeError:
        pass

    assert (streaming.wait(timeout=600), streaming.stderr.read()) == (141, b"")


def on_terminal(*args: str, columns: int, stdin: bytes = b"", **environment: str) -> tuple[int, str]:
    """Exit code and screen of a command whose stdout and stderr are a terminal."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    known = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LINES", "FORCE_COLOR")}
    with subprocess.Popen(
        [sys.executable, "-c", "from stillme.cli import main; main()", *args],
        stdin=subprocess.PIPE,
        stdout=follower,
        stderr=follower,
        env={**known, "TERM": "xterm-256color", **environment},
    ) as process:
        os.close(follower)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        screen = b"".join(iter(lambda: _read(leader), b""))
        os.close(leader)
        return process.wait(timeout=600), screen.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux reports the end of a terminal as an error
        return b""


@needs_no_model
@pytest.mark.parametrize("columns", [60, 120])
def test_a_terminal_gets_a_coloured_page_that_fits(columns: int) -> None:
    code, screen = on_terminal("verify", "-", columns=columns, stdin=lines(REFUSED).encode())

    bare = re.sub(r"\x1b\[[0-9;]*m", "", screen)
    assert code == 10
    assert re.search(r"\x1b\[[0-9;]*41m refuse \x1b", screen)
    assert re.search(r"\x1b\[4;31m45\b", screen)
    assert max(len(line) for line in bare.splitlines()) <= columns
    assert "in no source: 45" in bare


@needs_no_model
def test_no_color_is_honoured() -> None:
    _, screen = on_terminal("verify", "-", columns=80, stdin=lines(REFUSED).encode(), NO_COLOR="1")

    assert not re.search(r"\x1b\[(?:[0-9]+;)*(?:3[0-7]|4[0-7]|38|48)[;m]", screen)


@needs_no_model
def test_a_terminal_gets_every_page_a_bar_and_the_summary() -> None:
    code, screen = on_terminal("verify", "-", columns=80, stdin=lines(ANSWERED, {"query": ""}, REFUSED).encode())

    assert code == 3
    assert "standard input line 3" in screen
    assert "error: standard input line 2: query is blank" in screen
    assert "verified" in screen
    assert screen.index("3 requests") > screen.index("standard input line 3")


@needs_no_model
def test_json_on_a_terminal_is_not_broken_by_a_bar() -> None:
    _, screen = on_terminal("verify", "-", "--json", columns=80, stdin=lines(ANSWERED, REFUSED).encode())

    printed = [json.loads(line)["request_id"] for line in screen.splitlines()[:2]]
    assert printed == ["good", "bad"]
    assert "\x1b" not in screen
