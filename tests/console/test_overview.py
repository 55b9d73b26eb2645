"""Overview and rollout without scripts: numbers that lead to their traces, and a step of the rollout with its reason."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from pathlib import Path

import pytest

from stillme.console.overview import chart_of
from stillme.console.words import ConsoleWords
from stillme.evaluation.rollout.checklist import RolloutEvidence, checks_of
from stillme.evaluation.rollout.modes import ModeRun
from stillme.policy import Policy
from tests.console.conftest import NewVisitor, fill, verdicts
from tests.service.conftest import Service, Start


def test_every_number_of_the_overview_leads_to_as_many_traces(console: Service, visitor: NewVisitor) -> None:
    """Cards, bars and reasons."""
    someone = visitor(console)
    page = someone.get("/overview").text
    cards = re.findall(r'card-value"><a href="([^"]+)">([0-9,]+)<', page)
    bars = re.findall(r'<a href="([^"]+)" aria-label="[^"]+: ([0-9]+)"', page)
    reasons = re.findall(r'<a class="code" href="([^"]+)">.*?<span class="figure">([0-9,]+)<', page)

    assert len(cards) == 4
    assert bars
    assert reasons
    for link, number in [*cards, *bars, *reasons]:
        assert someone.get(unescape(link)).text.count('class="row-link"') == int(number)


def test_no_figure_of_the_overview_stands_without_a_link(start: Start, visitor: NewVisitor) -> None:
    """Those of the rollout lead to the verdicts of their weeks, times and the model's share to all, the table to each day."""
    service = start()
    given, now = verdicts(), datetime.now(UTC)
    made = [
        replace(
            each,
            verdict=each.verdict.model_copy(update={"validator_trace_id": f"trace-{n}"}),
            at=now - timedelta(days=8),
        )
        for n, each in enumerate(given)
    ]
    assert service.parts.store is not None
    service.parts.store.record(made)
    someone = visitor(service)
    page = someone.get("/overview?days=28").text
    figures = re.findall(r"<strong>(.*?)</strong>", page)

    assert len(figures) == 7
    assert all(each.startswith('<a href="/traces?') for each in figures)
    assert not re.search(r'<td class="figure">[1-9]', page)
    for link in dict.fromkeys(re.findall(r'<strong><a href="([^"]+)"', page)):
        assert someone.get(unescape(link)).text.count('class="row-link"') > 0


def test_the_chart_is_a_table_for_those_who_do_not_see_it(console: Service, visitor: NewVisitor) -> None:
    """One row a day, and no figure that was not counted."""
    page = visitor(console, "vi").get("/overview?days=7").text

    assert page.count('<th scope="row" ') == 7
    assert "chưa tuần nào kết thúc" in page


@pytest.mark.parametrize(
    ("counts", "top"), [([0], 2), ([1], 2), ([3], 4), ([9, 12], 20), ([999], 1000), ([1001], 2000)]
)
def test_bars_stand_under_a_number_that_reads_well(counts: list[int], top: int) -> None:
    """And none is taller than the chart."""
    days = [{"day": f"2026-03-{n + 1:02}", "decisions": {"answer": count}} for n, count in enumerate(counts)]
    chart = chart_of(days)

    assert chart.lines[-1] == (0, top)
    assert all(part.y >= 0 for bar in chart.bars for part in bar.parts)


def test_an_empty_store_has_a_way_to_begin(start: Start, visitor: NewVisitor) -> None:
    """Instead of empty charts."""
    page = visitor(start()).get("/overview").text

    assert "Nothing has been recorded yet" in page
    assert '<svg class="chart"' not in page


def test_a_promotion_is_held_back_until_somebody_gives_a_reason(
    start: Start, visitor: NewVisitor, tmp_path: Path
) -> None:
    """Then the file has the mode, the record has who and why, and the way back needs a reason too."""
    policy = tmp_path / "policy.yaml"
    policy.write_text("# ours\nmode: monitor\n", encoding="utf-8")
    service = start(STILLME_POLICY=str(policy))
    fill(service, verdicts())
    service.parts.keys.create("auditor", ["viewer"])
    auditor, someone = visitor(service), visitor(service)
    auditor.sign_in(service.parts.keys.create("Hà", ["viewer"]))
    someone.sign_in(service.parts.keys.create("Lan", ["operator"]))

    assert auditor.send("/rollout", {"to": "warn", "reason": "because"}).status_code == 403
    held = someone.send("/rollout", {"to": "warn", "reason": ""})
    assert held.status_code == 409
    assert "nothing was changed" in held.text
    assert policy.read_text(encoding="utf-8") == "# ours\nmode: monitor\n"

    assert someone.send("/rollout", {"to": "warn", "reason": "pilot at one branch"}).status_code == 303
    assert policy.read_text(encoding="utf-8") == "# ours\nmode: warn\n"
    assert "Done: the mode is warn now." in someone.get("/rollout?done").text
    page = someone.get("/rollout").text
    assert "pilot at one branch" in page
    assert "key:Lan" in page

    assert someone.send("/rollout", {"to": "monitor", "reason": ""}).status_code == 422
    assert someone.send("/rollout", {"to": "monitor", "reason": "complaints"}).status_code == 303
    assert policy.read_text(encoding="utf-8") == "# ours\nmode: monitor\n"
    history = service.get("/v1/rollout", x_api_key=service.parts.keys.create("Tú", ["viewer"])).json()["history"]
    assert [(step["to"], step["how"], step["why"]) for step in history] == [
        ("monitor", "demotion", "complaints"),
        ("warn", "override", "pilot at one branch"),
    ]


def test_the_checklist_speaks_the_language_of_the_reader(console: Service, visitor: NewVisitor) -> None:
    """What was found, what is asked for and the way out; the words of the record are folded away."""
    page = visitor(console, "vi").get("/rollout").text
    shown = re.sub(r"<details class=\"as-recorded\">.*?</details>", "", page, flags=re.DOTALL)

    assert "cần ít nhất" in shown
    assert "Hãy gán nhãn mẫu hằng tuần" in shown
    assert not re.search(r"at least|verdicts reviewed|wait for the end", shown)
    assert "cần ít nhất 1.000" in shown
    assert "tối đa 5,0 %" in shown
    assert "at least" in page


def test_a_checklist_without_verdicts_says_what_to_do_first(start: Start, visitor: NewVisitor) -> None:
    """Each check that is missing names a way, and none speaks of a last verdict."""
    page = visitor(start()).get("/rollout").text

    missing = re.findall(r'<li class="(?:failed|unknown)">.*?</li>', page, re.DOTALL)
    assert len(missing) == 26
    assert all('class="way-out"' in each for each in missing)
    assert "save a verdict on the page Try it" in page
    assert "made in –" not in page


def test_every_check_has_words_in_every_language() -> None:
    """A check that is added later is missed here."""
    names = {check.name for step in ("warn", "enforce") for check in checks_of(nothing_yet(), step)}

    for language in ("en", "vi"):
        say = ConsoleWords(language)
        assert [n for n in sorted(names) if not say.knows(f"checksaid.{n}") or not say.knows(f"checkway.{n}")] == []


def nothing_yet() -> RolloutEvidence:
    """What is known before the first verdict."""
    return RolloutEvidence(ModeRun(), Policy(), 0, None, None, ())


def test_without_a_policy_file_the_page_says_how_to_have_one(console: Service, visitor: NewVisitor) -> None:
    """And offers no button."""
    page = visitor(console).get("/rollout").text

    assert "stillme serve --policy policy.yaml" in page
    assert 'name="to"' not in page
