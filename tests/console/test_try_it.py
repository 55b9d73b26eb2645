"""Try it without scripts: forms in, a verdict out, nothing recorded unless it is saved."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
from html import unescape

import pytest

from stillme import Guard
from stillme.console.try_it import examples
from tests.console.conftest import NewVisitor
from tests.service.conftest import Service

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


def test_what_is_copied_runs_as_it_is(console: Service, visitor: NewVisitor) -> None:
    """The command, the program and the test case give the verdict of the page, whatever quotes are in the texts."""
    hostile = 'Return it\'s "unused" gear $(touch x) `id` within 90 days [1].'
    page = visitor(console).send("/try", [FORM[0], ("draft", hostile), *FORM[2:]]).text
    curl, python, case, _ = (unescape(text) for text in re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.DOTALL))

    words = shlex.split(curl.replace("\\\n", ""))
    answered = subprocess.run(words, capture_output=True, check=True, timeout=600).stdout
    program = ast.parse(python)
    request = ast.literal_eval(
        next(node.args[0] for node in ast.walk(program) if isinstance(node, ast.Call) and node.args)
    )

    assert json.loads(answered)["decision"] == json.loads(case)["expected"]
    assert Guard().verify(request).decision == json.loads(case)["expected"]
    assert json.loads(case)["request"]["draft_answer"] == hostile


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
