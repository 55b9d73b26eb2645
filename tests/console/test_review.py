"""Review without scripts: the next verdict, a label, the queue behind it, and who is who."""

from __future__ import annotations

import re

from tests.console.conftest import NewVisitor, Visitor, fill, verdicts
from tests.service.conftest import Service, Start


def shown(someone: Visitor, path: str = "/review") -> str:
    """The trace that is to be reviewed."""
    return str(re.findall(r'name="trace" value="([^"]+)"', someone.get(path).text)[0])


def test_two_reviewers_work_through_a_week_without_meeting(start: Start, visitor: NewVisitor) -> None:
    """Each label is in the record under the name of the key, with its note and its claims."""
    service = start()
    lan, minh = visitor(service), visitor(service)
    traces = fill(service, verdicts())
    for someone, name in ((lan, "Lan"), (minh, "Minh")):
        someone.sign_in(service.parts.keys.create(name, ["reviewer"]))
    first, other = shown(lan), shown(minh)

    lan.send(
        "/review",
        [
            ("trace", first),
            ("label", "correct"),
            ("note", "đúng"),
            ("looked", "1"),
            ("queue", "sample"),
            ("reviewer", "Minh"),
        ],
    )
    last = shown(lan)
    lan.send("/review", [("trace", last), ("label", "unclear"), ("queue", "sample")])

    assert {first, other, last} == set(traces)
    assert "This queue is empty" in lan.get("/review").text
    reviews = lan.get(f"/traces/{first}").text
    assert "Lan" in reviews
    assert "đúng" in reviews
    assert shown(minh, "/review?queue=second") in (first, last)


def test_two_people_without_a_name_do_not_get_one_verdict(start: Start, visitor: NewVisitor) -> None:
    """Where nobody signs in, browsers tell them apart; whoever comes back gets the same one again."""
    service = start()
    fill(service, verdicts())
    one, other = visitor(service), visitor(service)

    first, second = shown(one), shown(other)

    assert first != second
    assert (shown(one), shown(other)) == (first, second)


def test_an_empty_queue_says_what_it_is_for(start: Start, visitor: NewVisitor) -> None:
    """And where verdicts come from, as long as there are none."""
    someone = visitor(start())

    page = someone.get("/review?queue=low_margin").text

    assert "close to the line" in page
    assert "Verdicts come from your application" in page


def test_a_label_is_undone_by_another(console: Service, visitor: NewVisitor) -> None:
    """Both stay recorded, the later one counts."""
    someone = visitor(console)
    trace = shown(someone)
    answer = someone.send(
        "/review", [("trace", trace), ("label", "correct"), ("queue", "sample"), ("reviewer", "Hoa Lê")]
    )
    page = someone.get(answer.headers["location"]).text
    again = re.findall(r'href="(/review\?queue=sample&amp;again=[^"]+)"', page)[0].replace("&amp;", "&")

    assert shown(someone, again) == trace
    someone.send("/review", [("trace", trace), ("label", "false_refusal"), ("queue", "sample"), ("reviewer", "Hoa Lê")])

    agreement = console.get("/v1/reviews/agreement").json()
    assert agreement["reviewers"] == [["Hoa Lê", 1]]
    assert dict(agreement["counts"])["false_refusal"] == 1
    assert agreement["superseded"][0]["label"] == "correct"


def test_whoever_comes_back_to_a_verdict_finds_what_they_said(start: Start, visitor: NewVisitor) -> None:
    """Label, note and claims of their own, and nothing of what others said."""
    service = start()
    trace = fill(service, verdicts())[0]
    lan, minh = visitor(service), visitor(service)
    for someone, name in ((lan, "Lan"), (minh, "Minh")):
        someone.sign_in(service.parts.keys.create(name, ["reviewer"]))
    said = [
        ("trace", trace),
        ("label", "wrong_reason"),
        ("note", "Biểu phí\nkhác"),
        ("unsupported", "1"),
        ("looked", "1"),
    ]
    lan.send("/review", said)

    page = lan.get(f"/review?again={trace}").text
    assert "You said: wrong reason." in page
    assert 'data-key="4" aria-pressed="true"' in page
    assert "Biểu phí\nkhác</textarea>" in page
    assert page.count(" checked>") == 3  # claim 1, every claim was looked at, shortcuts
    other = minh.get(f"/review?again={trace}").text
    assert "You said" not in other
    assert "Biểu phí" not in other


def test_a_label_that_there_is_not_is_refused(console: Service, visitor: NewVisitor) -> None:
    """With what was meant, perhaps."""
    answer = visitor(console).send(
        "/review", [("trace", "trace-0001-console"), ("label", "corect"), ("queue", "sample")]
    )

    assert answer.status_code == 422
    assert "did you mean correct?" in answer.text


def test_an_appeal_comes_into_its_queue_with_what_it_says(console: Service, visitor: NewVisitor) -> None:
    """The chatbot sends it over the API; who judges it reads it, and so does who opens the trace."""
    sent = console.post("/v1/appeals", {"trace": "trace-0002-console", "note": "The customer says <b>otherwise</b>."})
    someone = visitor(console)

    assert sent.status_code == 200
    assert shown(someone, "/review?queue=appeals") == "trace-0002-console"
    for path in ("/review?queue=appeals", "/traces/trace-0002-console"):
        assert "The customer says &lt;b&gt;otherwise&lt;/b&gt;." in someone.get(path).text
    assert [each["note"] for each in console.get("/v1/traces/trace-0002-console").json()["appeals"]] == [
        "The customer says <b>otherwise</b>."
    ]
