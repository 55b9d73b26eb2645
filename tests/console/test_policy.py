"""The page Policy: what is wrong stands at its line, a trial shows which verdicts flip, a change keeps who and why, and there is a way back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from tests.console.conftest import NewVisitor, Visitor, fill, verdicts
from tests.service.conftest import Service, running

FIRST = "# what we agreed on\nmode: monitor\n"
LENIENT = "# what we agreed on\nmode: monitor\nvalidators:\n  FactualHallucinationValidator:\n    gate: soft\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Service, Path]]:
    """A service that follows a policy file, with three verdicts."""
    file = tmp_path / "policy.yaml"
    file.write_text(FIRST, encoding="utf-8")
    with running(tmp_path / "data", {"STILLME_POLICY": str(file), "STILLME_REQUEST_TIMEOUT_S": "900"}) as service:
        fill(service, verdicts())
        yield service, file


def known(someone: Visitor) -> str:
    """The digest of the file that the page was made from."""
    return str(re.findall(r'name="known" value="([0-9a-f]+)"', someone.get("/policy").text)[0])


def save(someone: Visitor, text: str, why: str = "Agreed in the weekly meeting.", do: str = "save") -> str:
    """Send the form; the page that comes of it."""
    answer = someone.send(
        "/policy", {"text": text.replace("\n", "\r\n"), "why": why, "known": known(someone), "do": do}
    )
    return someone.get("/policy").text if answer.status_code == 303 else unescape(answer.text)


def test_the_page_shows_the_file_as_it_stands(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """With its name, its comments and the mode in force, in both languages."""
    page = visitor(served[0]).get("/policy").text

    assert "# what we agreed on\nmode: monitor\n</textarea>" in page
    assert "policy.yaml" in page
    assert "Lịch sử" in visitor(served[0], "vi").get("/policy").text


def test_an_error_stands_at_its_line(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """Several at once, each with the number of its line beside the text and in the list."""
    wrong = "mode: monitor\nthresholds:\n  min_similarity_for_factual: 7\nfoo: 1\n"
    page = save(visitor(served[0]), wrong, do="check")

    assert re.findall(r'data-line="(\d+)"', page) == ["3", "4"]
    assert re.findall(r'<b class="bad">(\d+)</b>', page) == ["3", "4"]
    assert "must be in [0, 1], got 7" in page
    assert "unknown key foo" in page


def test_a_valid_text_shows_what_it_changes(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """Before anything is saved, as a part of the page for a script too."""
    someone = visitor(served[0])
    answer = someone.send("/policy", {"text": LENIENT, "known": known(someone)}, x_fragment="1")

    shown = answer.text.replace("<wbr>", "")
    assert "validators.FactualHallucinationValidator.gate.contradicted_claim" in shown
    assert "<html" not in answer.text
    assert served[1].read_text(encoding="utf-8") == FIRST


@pytest.mark.parametrize(
    ("on", "opened"),
    [
        pytest.param("traffic", 'href="/traces/trace-0000-console"', id="recorded traffic: the trace"),
        pytest.param("starter", 'action="/try"', id="bundled cases: the case in Try it"),
    ],
)
def test_a_trial_shows_which_verdicts_would_flip_and_each_opens(
    served: tuple[Service, Path], visitor: NewVisitor, on: str, opened: str
) -> None:
    """In the direction that they flip, and nothing is saved by it."""
    someone = visitor(served[0])
    answer = someone.send(
        "/policy", {"text": LENIENT, "known": known(someone), "do": "what-if", "on": on, "most": "50"}
    )
    table = answer.text.split('id="what-if"')[1]

    assert answer.status_code == 200
    assert opened in table
    assert re.search(r"bad\">Refuse</span>.*good\">Answer</span>", table, re.DOTALL)
    assert served[1].read_text(encoding="utf-8") == FIRST


def test_cases_of_ones_own_are_tried(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """One a line; a line that is none is named."""
    someone = visitor(served[0])
    case = '{"id": "own", "request": {"query": "Khi nào hoàn vé?", "draft_answer": "Vé được hoàn sau 9 ngày [1].", "retrieved_context": [{"source_id": "a", "text": "Vé được hoàn sau 3 ngày."}]}, "expected": "refuse"}'
    fields = {"text": LENIENT, "known": known(someone), "do": "what-if", "on": "cases"}

    tried = someone.send("/policy", fields | {"cases": case})
    wrong = someone.send("/policy", fields | {"cases": f"{case}\n{{oops"})

    assert "Khi nào hoàn vé?" in tried.text
    assert "against its label" in tried.text
    assert wrong.status_code == 422
    assert "Line 2 of the cases is no JSON" in wrong.text


def test_a_change_without_a_reason_is_not_saved_and_keeps_what_was_typed(
    served: tuple[Service, Path], visitor: NewVisitor
) -> None:
    """The page says what is missing in the reader's words; one that is saved says so too."""
    someone = visitor(served[0], "vi")
    page = save(someone, LENIENT, why=" ")

    assert "Hãy nêu lý do" in page
    assert LENIENT in page
    assert served[1].read_text(encoding="utf-8") == FIRST
    assert "Đã lưu và áp dụng." in someone.get("/policy?saved").text
    assert "Đã lưu và áp dụng." not in someone.get("/policy").text


def test_a_change_is_in_force_at_once_and_its_history_says_who_and_why(
    served: tuple[Service, Path], visitor: NewVisitor
) -> None:
    """The text before it is kept too, although nobody had saved it here."""
    service, file = served
    page = save(visitor(service), LENIENT)

    assert file.read_text(encoding="utf-8") == LENIENT
    assert "Agreed in the weekly meeting." in page
    assert [each["how"] for each in service.get("/v1/policy/history").json()["versions"]] == ["edited", "found"]
    assert service.parts.guard.policy.hash == service.get("/v1/policy/file").json()["policy_hash"]
    assert service.post("/v1/try", {"request": {"query": "x?"}}).status_code == 200


def test_an_earlier_version_comes_back_byte_for_byte(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """With a reason, as a version of its own."""
    service, file = served
    someone = visitor(service)
    save(someone, LENIENT)
    first = service.get("/v1/policy/history").json()["versions"][-1]["id"]

    page = someone.get(f"/policy/{first}").text
    fields = {"why": "Too lenient.", "known": re.findall(r'name="known" value="(\w+)"', page)[0]}
    answer = someone.send(f"/policy/{first}", fields)

    assert "# what we agreed on" in page
    assert answer.headers["location"] == "/policy?saved"
    assert file.read_text(encoding="utf-8") == FIRST
    assert [each["how"] for each in service.get("/v1/policy/history").json()["versions"]] == [
        "rolled back",
        "edited",
        "found",
    ]


@pytest.mark.parametrize(
    ("text", "why", "said"),
    [
        pytest.param("mode: monitr\n", "x", "must be one of monitor, warn, enforce", id="a text that is no policy"),
        pytest.param("mode: enforce\n", "x", "cannot become enforce by an edit", id="a step of the rollout"),
        pytest.param(LENIENT, " ", "why", id="no reason"),
        pytest.param(FIRST, "x", "nothing to save", id="no change"),
    ],
)
def test_what_may_not_be_saved_changes_nothing_and_stays_in_the_form(
    served: tuple[Service, Path], visitor: NewVisitor, text: str, why: str, said: str
) -> None:
    """And the page says why."""
    page = save(visitor(served[0]), text, why)

    assert said in page
    assert f"{text}</textarea>" in page
    assert served[1].read_text(encoding="utf-8") == FIRST
    assert served[0].get("/v1/policy/history").json()["versions"] == []


def test_a_file_that_somebody_else_changed_meanwhile_is_not_overwritten(
    served: tuple[Service, Path], visitor: NewVisitor
) -> None:
    """Whoever edited an older text is told so."""
    service, file = served
    someone = visitor(service)
    before = known(someone)
    file.write_text("mode: monitor\non_error: refuse\n", encoding="utf-8")

    answer = someone.send("/policy", {"text": LENIENT, "why": "x", "known": before, "do": "save"})

    assert answer.status_code == 422
    assert "was changed meanwhile" in answer.text
    assert file.read_text(encoding="utf-8") == "mode: monitor\non_error: refuse\n"


def test_without_a_file_it_is_read_and_tried_and_the_page_says_how_to_get_one(
    console: Service, visitor: NewVisitor
) -> None:
    """A newcomer who serves a preset sees every value of it."""
    page = visitor(console).get("/policy").text

    assert "stillme policy show" in page
    assert 'value="save"' not in page
    assert "min_similarity_for_factual" in page


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [
        pytest.param("viewer", "/v1/policy/file", 200, id="a viewer reads"),
        pytest.param("viewer", "/v1/policy/history", 200, id="a viewer reads the history"),
        pytest.param("viewer", "/v1/policy/save", 403, id="a viewer saves nothing"),
        pytest.param("reviewer", "/v1/policy/what-if", 403, id="a reviewer sets nothing going"),
        pytest.param("reviewer", "/v1/policy/roll-back", 403, id="a reviewer brings nothing back"),
        pytest.param("operator", "/v1/policy/save", 422, id="an operator may, and is told what is missing"),
        pytest.param("verify", "/v1/policy/file", 403, id="a key for verification opens no file"),
    ],
)
def test_roles_decide(keyed: tuple[Service, dict[str, str]], role: str, path: str, status: int) -> None:
    """At the API, whatever a page shows."""
    service, keys = keyed
    ask = service.get if path.endswith(("file", "history")) else lambda to, **h: service.post(to, {}, **h)

    assert ask(path, x_api_key=keys[role]).status_code == status


def test_a_viewer_reads_the_page_and_cannot_edit(keyed: tuple[Service, dict[str, str]], visitor: NewVisitor) -> None:
    """Nor by sending the form all the same."""
    service, keys = keyed
    someone = visitor(service)
    someone.sign_in(keys["viewer"])

    assert " readonly>" in someone.get("/policy").text
    assert someone.send("/policy", {"text": "mode: warn", "do": "save", "why": "x", "known": ""}).status_code == 403


def test_a_text_is_data_wherever_it_is_shown(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """In the editor, in an error, in a reason, in the history and in a version."""
    service, _ = served
    someone, payload = visitor(service), "</textarea><script>alert(1)</script>\"' onload=x"
    wrong = someone.send("/policy", {"text": f"mode: {payload}", "known": known(someone), "do": "check"})
    save(someone, f"# {payload}\nmode: monitor\n", why=payload)
    version = service.get("/v1/policy/history").json()["versions"][0]["id"]

    for page in (wrong.text, someone.get("/policy").text, someone.get(f"/policy/{version}").text):
        assert "alert(1)" in page
        assert "<script>alert" not in page


def test_a_form_from_elsewhere_saves_nothing(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """Without the token of the visitor."""
    someone = visitor(served[0])
    fields = {"text": LENIENT, "why": "x", "known": known(someone), "do": "save"}

    assert someone.send("/policy", fields, token="0" * 64).status_code == 403
    assert served[1].read_text(encoding="utf-8") == FIRST


def test_a_version_that_there_is_not_is_told_so(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """A trace is no version either."""
    assert visitor(served[0]).get("/policy/policy-nowhere").status_code == 404
    assert visitor(served[0]).get("/policy/trace-0000-console").status_code == 404


def test_the_chain_holds_after_changes_of_the_policy(served: tuple[Service, Path], visitor: NewVisitor) -> None:
    """Versions are records like all others."""
    from stillme.audit.chain.integrity import verify_store  # noqa: PLC0415

    save(visitor(served[0]), LENIENT)
    assert served[0].parts.store is not None

    assert verify_store(served[0].parts.store).fault is None
