"""Try it without scripts: forms in, a verdict out, nothing recorded unless it is saved."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from stillme.console.try_it import examples
from tests.console.conftest import NewVisitor
from tests.service.conftest import Service, Start

FORM = [
    ("query", "How long do I have to return unused gear?"),
    ("draft", "You can return unused gear within 90 days of delivery [1]."),
    ("source_id", "faq"),
    ("passage", "We accept returns of unused gear within 30 days of delivery."),
]


def test_the_first_page_shows_a_verdict_before_anything_is_typed(console: Service, visitor: NewVisitor) -> None:
    """In the reader's language, with the claim that decides it and the words of the source."""
    page = visitor(console, "vi").get("/").text

    assert "Từ chối" in page
    assert 'class="c-1 claim contradicted"' in page
    assert 'class="c-1 quote contradicted"' in page


@pytest.mark.parametrize("name", sorted(examples()))
def test_every_example_gives_a_verdict(console: Service, visitor: NewVisitor, name: str) -> None:
    """And none of them is an empty page."""
    page = visitor(console).get(f"/try?example={name}")

    assert page.status_code == 200
    assert 'class="outcome' in page.text


def test_a_form_gives_a_verdict_and_records_nothing(console: Service, visitor: NewVisitor) -> None:
    """The characters that no source has are marked."""
    before = len(console.get("/v1/traces").json()["traces"])

    page = visitor(console).send("/try", [*FORM, ("do", "verify")]).text

    assert re.search(r'class="c-1 claim contradicted gap">90 days<', page)
    assert len(console.get("/v1/traces").json()["traces"]) == before


@pytest.mark.parametrize(
    ("mode", "policy", "action"),
    [
        ("", "in_force", "Deliver all the same"),
        ("enforce", "in_force", "Block"),
        ("", "strict", "Block"),
        ("monitor", "book", "Deliver all the same"),
    ],
)
def test_mode_and_policy_can_be_switched(
    console: Service, visitor: NewVisitor, mode: str, policy: str, action: str
) -> None:
    """The decision stays, the action follows."""
    page = visitor(console).send("/try", [*FORM, ("mode", mode), ("policy", policy)]).text

    assert f"<dd>{action}</dd>" in page


def test_sources_that_disagree_are_drawn_side_by_side(console: Service, visitor: NewVisitor) -> None:
    """Each with its own words."""
    page = visitor(console).get("/try?example=conflict").text

    assert page.count('<figure class="conflict"') == 1
    assert page.count("<blockquote>") == 2


def test_passages_are_added_and_removed_without_scripts(console: Service, visitor: NewVisitor) -> None:
    """What was typed stays."""
    someone = visitor(console)

    more = someone.send("/try", [*FORM, ("do", "add")]).text
    less = someone.send("/try", [*FORM, ("source_id", "b"), ("passage", "Other words."), ("do", "remove-0")]).text

    assert more.count('name="passage"') == 2
    assert less.count('name="passage"') == 1
    assert "Other words." in less


def test_a_question_that_is_missing_gets_no_verdict_and_a_draft_alone_is_told_so(
    console: Service, visitor: NewVisitor
) -> None:
    """What is beyond a limit says which."""
    someone = visitor(console)

    assert 'class="outcome' not in someone.get("/try?blank").text
    too_long = someone.send("/try", [("query", "w" * 9000), ("draft", ""), ("source_id", ""), ("passage", "")])
    assert too_long.status_code == 422
    assert "query" in too_long.text


def test_saving_records_the_verdict_and_leads_to_it(console: Service, visitor: NewVisitor) -> None:
    """Its address carries an id and no text."""
    someone = visitor(console)

    saved = someone.send("/try", [*FORM, ("do", "save")])

    assert saved.status_code == 303
    assert re.fullmatch(r"/traces/trace-[0-9a-f-]+", saved.headers["location"])
    assert "return unused gear" in someone.get(saved.headers["location"]).text


def test_the_link_to_the_form_carries_no_text_of_anybody(console: Service, visitor: NewVisitor) -> None:
    """An example of ours by its name, with policy and mode; of what was typed, only these."""
    someone = visitor(console)
    ours = someone.get("/try?example=conflict&policy=strict&mode=warn").text
    typed = someone.send("/try", [*FORM, ("policy", "strict")]).text
    links = [unescape(re.findall(r">(http://[^<]+/try\?[^<]*)<", page)[0]) for page in (ours, typed)]

    assert links == [
        f"{console.url}/try?example=conflict&policy=strict&mode=warn",
        f"{console.url}/try?blank&policy=strict",
    ]
    assert "handbook-2026" in someone.get(links[0].removeprefix(console.url)).text
    assert '<option value="strict" selected>' in someone.get(links[1].removeprefix(console.url)).text


@pytest.mark.parametrize(
    "chosen",
    [
        pytest.param([], id="the policy in force"),
        pytest.param([("policy", "strict")], id="a preset"),
        pytest.param([("mode", "enforce")], id="a mode"),
    ],
)
def test_what_is_copied_runs_as_it_is(
    console: Service, visitor: NewVisitor, tmp_path: Path, chosen: list[tuple[str, str]]
) -> None:
    """The command, the program and the test case give the verdict of the page, whatever quotes are in the texts."""
    hostile = 'Return it\'s "unused" gear $(touch x) `id` within 90 days [1].'
    page = visitor(console).send("/try", [FORM[0], ("draft", hostile), *FORM[2:], *chosen]).text
    curl, python, case, _ = (unescape(text) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL))
    shown = console.post("/v1/try", {"request": json.loads(case)["request"], **dict(chosen)}).json()

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True, timeout=600)

    (tmp_path / "copied.py").write_text(python.replace("verdict.decision, ", "verdict.decision, verdict.action, "))
    (tmp_path / "cases.jsonl").write_text(case + "\n")
    answered = json.loads(run("bash", "-c", curl).stdout)
    evaluated = json.loads(run(sys.executable, "-m", "stillme", "eval", "cases.jsonl", "--json").stdout)["runs"][0]

    assert [answered[name] for name in ("decision", "action")] == [shown[name] for name in ("decision", "action")]
    assert run(sys.executable, "copied.py").stdout.split()[:2] == [shown["decision"], shown["action"]]
    assert json.loads(case)["expected"] == shown["decision"]
    assert evaluated["metrics"]["confusion"][shown["decision"]][shown["decision"]] == 1
    assert not (tmp_path / "x").exists()


def test_a_program_reads_the_policy_of_the_operator_from_its_file(
    tmp_path: Path, visitor: NewVisitor, start: Start
) -> None:
    """What is in force is no preset then."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("extends: strict\nvalidators:\n  VerbosityValidator:\n    enabled: false\n", encoding="utf-8")

    page = visitor(start(STILLME_POLICY=str(policy))).send("/try", [*FORM, ("mode", "warn")]).text

    assert """Policy.load("policy.yaml").with_changes({"mode": 'warn'})""" in unescape(page)


def test_the_api_tries_under_any_preset(console: Service) -> None:
    """And names a key that it does not know."""
    request = {
        "query": FORM[0][1],
        "draft_answer": FORM[1][1],
        "retrieved_context": [{"source_id": "a", "text": FORM[3][1]}],
    }

    strict = console.post("/v1/try", {"request": request, "policy": "strict"})
    wrong = console.post("/v1/try", {"request": request, "policy": "severe"})

    assert (strict.json()["mode"], strict.json()["action"]) == ("enforce", "block")
    assert wrong.status_code == 422
    assert "policy" in wrong.json()["detail"]
