"""A case study from run files: dataset protocol, setup, baseline, results, error analysis, limits, and how to do it again.

Every figure is a function of the records in the files and names the file, by hash, and the counts that it was computed from. What
cannot be computed (who decides, how cases were labelled, what was decided) comes from notes, and is marked where it is missing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any, Final

import yaml

from stillme.errors import InputError, PolicyError, shown, way_out
from stillme.evaluation.calibration.thresholds import Gates, Settings
from stillme.evaluation.changes import policy_changes
from stillme.evaluation.runs.case_files import CaseFile
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.runs.comparison import Comparison, compare
from stillme.evaluation.runs.curves import (
    ERRORS,
    NONE,
    CurvePoint,
    Errors,
    Kind,
    Labels,
    Mistake,
    Reasons,
    RiskCoverage,
    Sweep,
    reliability_bins,
)
from stillme.evaluation.runs.intervals import clopper_pearson, fewest
from stillme.evaluation.runs.metrics import MANDATORY, RATES, SCORES, SLICED_BY, CountedRate, RunMetrics, Tally, rate_of
from stillme.evaluation.runs.run import Run
from stillme.pages import charts
from stillme.pages.cells import (
    NOTHING,
    difference_cells,
    latency_cells,
    point_cells,
    rate_cells,
    rate_words,
    score_cells,
)
from stillme.pages.document import (
    Block,
    Bullets,
    ByHand,
    Example,
    ExampleText,
    Heading,
    Inline,
    Listing,
    Paragraph,
    Plot,
    Table,
    Tiles,
    html_page,
    markdown_page,
)
from stillme.pages.text import Code, clipped, counted, filled, percent
from stillme.policy import Policy
from stillme.reasons import Decision
from stillme.response import reason_words

__all__ = ["DISCLOSURES", "NOTES", "CaseStudy", "case_study"]

SENTENCES: Final[Mapping[str, Any]] = yaml.safe_load(
    files("stillme.pages").joinpath("case_study.yaml").read_text(encoding="utf-8")
)
NOTES: Final[Mapping[str, str]] = SENTENCES["notes"]
DISCLOSURES: Final[Sequence[str]] = SENTENCES["disclosures"]
MOST_RUNS: Final = 6
MOST_ROWS: Final = 20
MOST_TAGS: Final = 10
"""Cases have many tags; the largest are shown."""
MOST_PROBLEMS: Final = 5
MOST_EXAMPLES: Final = 6
MOST_PASSAGES: Final = 3
LONGEST_TEXT: Final = 600
LONGEST_PASSAGE: Final = 300
HASH_SHOWN: Final = 12
SMALL: Final = 30
"""A slice with fewer scored cases says little."""
WIDTH_WANTED: Final = 0.10
MOST_TRIALS: Final = 10_000
"""More than the widest interval of that width takes."""
SHOWN_FIRST: Final = (*MANDATORY, "false_refusal_rate")
"""What the study opens with, and what each slice shows: the mandatory metrics, and what strictness costs."""
KIND_RATES: Final[Mapping[Kind, str]] = {"escape": "hallucination_escape_rate", "false_refusal": "false_refusal_rate"}


def say(key: str, **slots: object) -> list[str]:
    """A sentence of the report."""
    return filled(SENTENCES[key], **slots)


@dataclass(frozen=True)
class CaseStudy:
    """A case study, to be written as Markdown or as one HTML page; both hold the same figures."""

    title: str
    blocks: tuple[Block, ...]

    @cached_property
    def charts(self) -> Mapping[str, str]:
        """Each chart by name as an SVG file of its own, for Markdown to link to."""
        return {block.name: charts.standalone(block.svg) for block in self.blocks if isinstance(block, Plot)}

    def markdown(self, pictures: Mapping[str, str] | None = None) -> str:
        """As Markdown; `pictures` says where the chart of each name was written to, else its numbers stand alone."""
        return markdown_page(self.title, self.blocks, pictures)

    def html(self) -> str:
        """As one page that needs no other file, no script and no network."""
        return html_page(self.title, SENTENCES["kicker"], self.blocks)


def case_study(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    notes: Mapping[str, str] | None = None,
    cases: CaseFile | None = None,
) -> CaseStudy:
    """The report of one run, or of several of the same cases, of which the first is the baseline.

    With `cases` the examples have their texts; they have to be the cases of the runs.
    """
    _check(runs, notes or {}, cases)
    study = _Study(tuple(map(_summary, runs, _names(runs))), notes or {}, cases)
    return CaseStudy(title or "".join(say("title", cases=runs[0].heading.cases)), tuple(study.blocks()))


def _check(runs: Sequence[Run], notes: Mapping[str, str], cases: CaseFile | None) -> None:
    if not 1 <= len(runs) <= MOST_RUNS:
        raise InputError(f"a case study is of 1 to {MOST_RUNS} runs, got {len(runs)}")
    unknown = sorted(notes.keys() - NOTES.keys())
    if unknown:
        raise InputError(f"{shown(unknown[0])} is no note: {way_out(unknown[0], NOTES, 'notes are')}")
    first = runs[0].heading
    for run in runs[1:]:
        if run.heading.cases_sha256 != first.cases_sha256:
            raise InputError(
                f"{run.path} is a run of other cases ({shown(run.heading.cases)}) than {runs[0].path} "
                f"({shown(first.cases)}): a case study is of one set of cases"
            )
    if cases is not None and cases.sha256 != first.cases_sha256:
        raise InputError(
            f"{cases.path} does not hold the cases of the run: their sha256 is {cases.sha256[:HASH_SHOWN]}, "
            f"that of the run {first.cases_sha256[:HASH_SHOWN]}; name the file that was run"
        )


def _names(runs: Sequence[Run]) -> list[Code]:
    """A name for each run that no other has."""
    times = Counter(run.heading.name for run in runs)
    return [
        Code(run.heading.name if times[run.heading.name] == 1 else f"{run.heading.name} #{number}")
        for number, run in enumerate(runs, 1)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Summary:
    """Everything that a report says of a run, which is read once."""

    name: Code
    run: Run
    sha256: Code
    policy: Policy | None
    """None where this installation cannot read it, or reads something else in it."""
    metrics: RunMetrics
    risk: RiskCoverage
    sweep: Sweep
    reasons: Reasons
    labels: Labels
    errors: Errors

    @property
    def short_hash(self) -> Code:
        return Code(self.sha256[:HASH_SHOWN])


def _summary(run: Run, name: Code) -> _Summary:
    counters = RunMetrics(), RiskCoverage(), Sweep(), Reasons(), Labels(), Errors()
    for record in run:
        for counter in counters:
            counter.add(record)
    with run.path.open("rb") as stream:
        sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
    return _Summary(name, run, Code(sha256), _policy(run), *counters)


def _policy(run: Run) -> Policy | None:
    try:
        policy = Policy.load(run.heading.policy)
        policy.build()
    except PolicyError:
        return None
    return policy if policy.hash == run.heading.policy_hash else None


@dataclass(frozen=True)
class _Study:
    """The sections of a case study, top to bottom."""

    runs: tuple[_Summary, ...]
    notes: Mapping[str, str]
    cases: CaseFile | None

    def blocks(self) -> Iterator[Block]:
        yield from self._opening()
        sections = {
            "Dataset protocol": self._dataset(),
            "Setup": self._setup(),
            "Baseline": self._baseline(),
            "Results": self._results(),
            "Error analysis": self._errors(),
            "Limits": self._limits(),
            "How to reproduce it": self._again(),
            "Decision": self._by_hand("decision", "sign_off"),
        }
        for title, blocks in sections.items():
            yield Heading(2, title)
            yield from blocks

    @property
    def last(self) -> _Summary:
        """The run that the study is about: the last one given."""
        return self.runs[-1]

    def _by_hand(self, *keys: str) -> Iterator[Block]:
        yield from (ByHand(NOTES[key], self.notes.get(key)) for key in keys)

    def _table(
        self, key: str, rows: Sequence[Sequence[str]], *of: _Summary, words: int = 1, more: str = "", **slots: object
    ) -> Table:
        """A table under its heads, computed from these runs, or from all."""
        heads = ["".join(filled(head, **slots)) for head in SENTENCES[f"heads.{key}"]]
        return Table(heads, rows, [*self._source(*of), more], words)

    def _source(self, *of: _Summary) -> list[str]:
        """What a table was computed from: file hashes and counts of records."""
        parts: list[str] = []
        for run in of or self.runs:
            tally = run.metrics
            counts = {"records": counted(tally.cases, "record"), "errors": counted(tally.errors, "error")}
            parts += ["; " if parts else "From "]
            parts += say("source", run=run.name, sha256=run.short_hash, unscored=tally.unscored, **counts)
        return [*parts, "."]

    # in short

    def _opening(self) -> Iterator[Block]:
        tally, tiles = self.last.metrics, []
        for name in SHOWN_FIRST:
            value, counts, ends = rate_cells(tally.rate(name))
            tiles.append((name, value, NOTHING if ends == NOTHING else f"{counts}, 95 % interval {ends}"))
        yield Tiles(tiles)
        yield Paragraph(self._source(self.last), "source")
        if tally.errors or tally.unverified_answers:
            answers = counted(tally.unverified_answers, "answer")
            yield Paragraph(say("opening.unverified", cases=counted(tally.errors, "case"), answers=answers), "warning")
        yield from self._charts()
        yield from self._by_hand("owner", "question")

    # dataset

    def _dataset(self) -> Iterator[Block]:
        run, tally = self.last, self.last.metrics
        heading = run.run.heading
        sha256 = Code(heading.cases_sha256)
        yield Paragraph(say("dataset.named", cases=Code(heading.cases), count=heading.count, sha256=sha256))
        yield from self._by_hand("source", "labelling", "privacy")
        labelled = {
            key if key.startswith("claims") else f"cases that {key}": count for key, count in run.labels.counts.items()
        }
        counts = {
            "cases": tally.cases,
            **labelled,
            "cases with nothing labelled": tally.unscored,
            "cases that could not be run, in no count above but the first": tally.errors,
        }
        yield self._table("labelled", [[key, f"{count:,}"] for key, count in counts.items()], run)
        expected = Counter({decision.value: 0 for decision in Decision})
        for (wanted, _), count in tally.confusion.items():
            expected[wanted] += count
        yield self._table("expected", [[key, f"{count:,}"] for key, count in expected.items()], run)
        for by in SLICED_BY:
            slices, most = tally.slices(by), _most(by)
            if slices:
                rows = [
                    [Code(value), f"{t.cases:,}", f"{t.cases - t.errors - t.unscored:,}", f"{t.errors:,}"]
                    for value, t in slices[:most]
                ]
                yield self._table("counts", rows, run, more=_more(slices, most), by=by.capitalize())

    # setup

    def _setup(self) -> Iterator[Block]:
        rows = [[run.name, *fact] for run in self.runs for fact in _setup_facts(run)]
        yield self._table("setup", rows, words=3)
        for run in self.runs:
            yield from self._policy_of(run)

    def _policy_of(self, run: _Summary) -> Iterator[Block]:
        """What the policy of a run says, as far as this installation can read it."""
        heading, policy = run.run.heading, run.policy
        yield Heading(3, "".join(say("policy.title", run=run.name)))
        if policy is None:
            yield Paragraph(SENTENCES["policy.unread"])
            recorded = yaml.safe_dump(heading.policy, allow_unicode=True, sort_keys=True, width=120)
            yield Listing(SENTENCES["policy.recorded"], recorded)
            return
        source = say("source.policy", policy=Code(heading.policy_hash[:HASH_SHOWN]), sha256=run.short_hash)
        yield Table(SENTENCES["heads.policy"], _policy_rows(policy), source, words=2)
        changes = policy_changes(Policy.load("lite"), policy)
        if changes:
            rows = [[Code(c.key), _setting(c.before), _setting(c.after)] for c in changes[:MOST_ROWS]]
            left = len(changes) - MOST_ROWS
            more = say("source.more_settings", settings=counted(left, "more setting")) if left > 0 else []
            yield Table(SENTENCES["heads.changes"], rows, [*source, *more], words=3)
        else:
            yield Paragraph(SENTENCES["policy.unchanged"])
        yield Listing(SENTENCES["policy.whole"], policy.to_yaml())

    # baseline

    def _baseline(self) -> Iterator[Block]:
        if len(self.runs) > 1:
            yield Paragraph(say("baseline.run", run=self.runs[0].name))
        else:
            yield Paragraph(SENTENCES["baseline.deliver"])
            yield self._deliver_everything()
        yield from self._by_hand("baseline")

    def _deliver_everything(self) -> Table:
        tally = self.last.metrics
        passing = tally.rate("hallucination_escape_rate").denominator
        answerable = tally.rate("false_refusal_rate").denominator
        expecting = tally.rate("decision_accuracy").denominator
        delivered = {
            "hallucination_escape_rate": (passing, passing),
            "false_refusal_rate": (0, answerable),
            "decision_accuracy": (answerable, expecting),
        }
        rows = [[Code(n), rate_words(rate_of(n, *of)), rate_words(tally.rate(n))] for n, of in delivered.items()]
        return self._table("baseline", rows, self.last, run=self.last.name)

    # results

    def _results(self) -> Iterator[Block]:
        yield self._rates("Mandatory metrics", MANDATORY)
        yield self._rates("Further metrics", [name for name in RATES if name not in MANDATORY])
        scores = [[Code(n), run.name, *score_cells(run.metrics.score(n))] for n in SCORES for run in self.runs]
        yield self._table("scores", scores, words=2)
        yield Heading(3, "What the metrics are")
        yield Bullets([[Code(name), f": {_meaning(name)}"] for name in RATES])
        yield from self._compared()
        yield Heading(3, "Decisions")
        yield from map(self._confusion, self.runs)
        yield self._latency()
        yield Heading(3, "By slice")
        yield from list(self._slices()) or [Paragraph(SENTENCES["slices.none"])]
        yield Heading(3, "Reason codes")
        yield self._reason_rates()

    def _rates(self, title: str, names: Iterable[str]) -> Table:
        rows = [[Code(n), run.name, *rate_cells(run.metrics.rate(n))] for n in names for run in self.runs]
        return self._table("rates", rows, words=2, title=title)

    def _compared(self) -> Iterator[Block]:
        baseline = self.runs[0]
        if len(self.runs) > 1:
            yield Heading(3, "Compared with the baseline")
            yield Paragraph(SENTENCES["compared"])
        for run in self.runs[1:]:
            yield from self._comparison(baseline, run, compare(baseline.run, run.run))

    def _comparison(self, baseline: _Summary, run: _Summary, found: Comparison) -> Iterator[Block]:
        rows = [difference_cells(difference) for difference in found.differences]
        both, cases = found.cases - found.left_out, counted(found.cases, "case")
        made = "".join(say("source.compared", both=both, cases=cases, draws=found.draws, seed=found.seed))
        yield self._table("differences", rows, baseline, run, more=made, run=run.name, baseline=baseline.name)
        flips = [[before, after, f"{count:,}"] for before, after, count in found.flips] or [["–", "–", "0"]]
        right = say("source.flips", changed=counted(found.changed, "case"), **dict(found.directions))
        more = "".join(right)
        yield self._table("flips", flips, baseline, run, words=2, more=more, run=run.name, baseline=baseline.name)

    def _confusion(self, run: _Summary) -> Table:
        decisions, counts = [d.value for d in Decision], run.metrics.confusion
        rows = [[f"expected {e}", *(f"{counts[e, d]:,}" for d in decisions)] for e in decisions]
        return Table([f"Run {run.name}", *decisions], rows, self._source(run))

    def _latency(self) -> Table:
        rows = [
            [f"{share * 100:.0f} % of cases within", run.name, *latency_cells(run.metrics, share)]
            for share in (0.5, 0.95)
            for run in self.runs
        ]
        return self._table("latency", rows, words=2)

    def _slices(self) -> Iterator[Block]:
        for by in SLICED_BY:
            values = [value for value, _ in self.last.metrics.slices(by)]
            rows = [
                [Code(value), run.name, f"{tally.cases:,}", *(rate_words(tally.rate(rate)) for rate in SHOWN_FIRST)]
                for value in values[: _most(by)]
                for run in self.runs
                for tally in [dict(run.metrics.slices(by)).get(value, Tally())]
            ]
            if rows:
                source = [*self._source(), _more(values, _most(by))]
                yield Table([by.capitalize(), "run", "cases", *SHOWN_FIRST], rows, source, words=2)

    def _reason_rates(self) -> Block:
        rates = [(rate, n) for n, run in enumerate(self.runs) for rate in run.metrics.reasons()]
        if not rates:
            return Paragraph(SENTENCES["reasons.none"])
        most = MOST_ROWS * 2 * len(self.runs)
        rows = [
            [Code(rate.code), self.runs[n].name, rate_words(rate.precision), rate_words(rate.recall)]
            for rate, n in sorted(rates, key=lambda pair: (pair[0].code, pair[1]))[:most]
        ]
        return self._table("reasons", rows, words=2, more=_more(rates, most))

    # charts

    def _charts(self) -> Iterator[Block]:
        yield self._risk()
        yield self._reliability()
        yield Paragraph(SENTENCES["chart.sweep.unknown"]) if self.last.policy is None else self._sweep(self.last.policy)
        yield self._reasons()

    def _risk(self) -> Plot:
        curves = [charts.Curve(run.name, run.risk.points(), run.risk.at()) for run in self.runs]
        rows = [row for curve in curves for row in _curve_rows(curve)]
        left = sum(run.risk.without_score for run in self.runs)
        note = say("chart.risk", drafts=counted(left, "labelled draft"), are="is" if left == 1 else "are")
        table = self._table("risk", rows, words=2)
        return Plot("risk-coverage", "Risk against coverage", charts.risk_coverage(curves), note, table)

    def _reliability(self) -> Plot:
        bins = reliability_bins(self.last.metrics.scored)
        table = self._table("reliability", [[f"{p.x:.2f}", *point_cells(p)] for p in bins], self.last)
        note = SENTENCES["chart.reliability"]
        return Plot("reliability", "Reliability of the scores", charts.reliability(bins), note, table)

    def _sweep(self, policy: Policy) -> Plot:
        settings = Settings.of(policy)
        least = min([settings.min_score, *settings.by_language.values(), *settings.by_domain.values()])
        escapes, refusals = self.last.sweep.escapes(least), self.last.sweep.false_refusals(least)
        rows = [[f"{x:.2f}", *point_cells(one), *point_cells(two)] for x, one, two in _side_by_side(escapes, refusals)]
        note = SENTENCES["chart.sweep"] + ("" if Gates.of(policy).score else SENTENCES["chart.sweep.idle"])
        svg = charts.threshold_sweep(escapes, refusals, least)
        table = self._table("sweep", rows, self.last)
        return Plot("threshold-sweep", "Both errors against min_score", svg, note, table)

    def _reasons(self) -> Plot:
        ranked, cases = self.last.reasons.ranked(), self.last.reasons.cases
        rows = [
            [Code(code), reason_words(code, "en")["say"], *(f"{n:,}" for n in (sum(counts), *counts))]
            for code, *counts in ranked[:MOST_ROWS]
        ]
        table = self._table("named", rows, self.last, words=2, more=_more(ranked))
        note = say("chart.reasons", cases=counted(cases, "case"))
        return Plot("reasons", "Reason codes", charts.reason_bars(ranked, max(cases, 1)), note, table)

    # errors

    def _errors(self) -> Iterator[Block]:
        wanted = {mistake.id for kind in ERRORS for mistake in self.last.errors.examples(kind, MOST_EXAMPLES)}
        texts = {case.id: case for case in self.cases or () if case.id in wanted}
        if len(self.runs) > 1:
            yield Paragraph(say("errors.run", run=self.last.name))
        yield Heading(3, "Unsupported claims that passed")
        yield from self._errors_of("escape", texts)
        yield Heading(3, "False refusals")
        yield from self._errors_of("false_refusal", texts)
        yield from self._by_hand("errors")

    def _errors_of(self, kind: Kind, texts: Mapping[str, Case]) -> Iterator[Block]:
        run, rate = self.last, self.last.metrics.rate(KIND_RATES[kind])
        wrong = run.errors.cases[kind]
        if not wrong:
            high = percent(rate.high, rate.denominator)
            none = say("errors.none", count=rate.denominator, rate=high)
            yield Paragraph("".join(none) if rate.denominator else SENTENCES["errors.unlabelled"])
            return
        yield Paragraph(say("errors.rate", metric=Code(rate.name), rate=rate_words(rate), cases=counted(wrong, "case")))
        where = [
            [by, Code(value), *rate_cells(worst)]
            for by in ("category", "language")
            for value, worst in _worst(run.metrics, by, rate.name)
        ]
        if where:
            yield self._table("where", where, run, words=2)
        ranked = sorted(run.errors.codes[kind].items(), key=lambda pair: (-pair[1], pair[0]))
        shares = [
            ["no code" if code == NONE else Code(code), *rate_cells(rate_of("", count, wrong))]
            for code, count in ranked[:MOST_ROWS]
        ]
        yield self._table(kind, shares, run, more=_more(ranked))
        chosen = run.errors.examples(kind, MOST_EXAMPLES)
        told = say("errors.examples", examples=counted(len(chosen), "example"), wrong=wrong)
        yield Paragraph([*told, "" if texts else SENTENCES["errors.textless"]])
        yield from (_example(mistake, texts.get(mistake.id)) for mistake in chosen)

    # limits

    def _limits(self) -> Iterator[Block]:
        for run in self.runs:
            yield Bullets([*_left_out(run), *_too_little(run)])
        yield Bullets([*SENTENCES["limits.general"], *DISCLOSURES])
        yield from self._by_hand("limits")

    # again

    def _again(self) -> Iterator[Block]:
        first = self.last.run.heading
        yield Paragraph(SENTENCES["again"])
        runs = [summary.run for summary in self.runs]
        report = f"stillme report {' '.join(run.path.name for run in runs)} --cases CASES --out REPORT.html"
        yield Bullets(
            [
                say("again.cases", sha256=Code(first.cases_sha256), cases=Code(first.cases)),
                *map(_command_again, runs),
                say("again.report", command=Code(report)),
                say("again.hash", command=Code("sha256sum")),
            ]
        )


def _command_again(run: Run) -> Inline:
    heading = run.heading
    command = Code(f"stillme eval CASES --policy POLICY --out {run.path.name}")
    model, policy = Code(heading.model_id), Code(heading.policy_hash)
    return say("again.run", command=command, version=Code(heading.version), model=model, policy=policy)


def _setup_facts(run: _Summary) -> list[tuple[str, str]]:
    heading = run.run.heading
    return [
        ("file", Code(run.run.path.name)),
        ("file sha256", run.sha256),
        ("records", f"{run.metrics.cases:,}"),
        ("stillme version", Code(heading.version)),
        ("model", Code(heading.model_id)),
        ("policy sha256", Code(heading.policy_hash)),
        ("mode", Code(str(heading.policy.get("mode", "monitor")))),
        ("started", Code(heading.started)),
    ]


def _policy_rows(policy: Policy) -> list[list[str]]:
    settings = Settings.of(policy)
    own = {**settings.by_language, **settings.by_domain}
    scores = [f"{settings.min_score:g}", *(f"{name}: {least:g}" for name, least in own.items())]
    return [
        ["mode", policy.mode],
        ["preset", policy.extends],
        ["similarity for factual questions at least", f"{settings.factual:g}"],
        ["similarity where sources are asked for at least", f"{settings.source_required:g}"],
        ["score of support (min_score) at least", ", ".join(scores)],
        ["generation confidence at least", f"{settings.generation_confidence:g}"],
        ["a crashed hard gate", policy.on_error],
        ["thresholds calibrated", "no" if policy.calibration is None else "yes"],
    ]


def _setting(value: object) -> Code:
    return Code("–" if value is None else clipped(str(value), 80))


def _meaning(name: str) -> str:
    return (RATES[name].__doc__ or "").partition("\n")[0].strip()


def _most(by: str) -> int:
    return MOST_TAGS if by == "tag" else MOST_ROWS


def _more(rows: Sequence[object], most: int = MOST_ROWS) -> str:
    """That there is more than is shown."""
    return "".join(say("source.more", count=len(rows) - most)) if len(rows) > most else ""


def _curve_rows(curve: charts.Curve) -> Iterator[list[str]]:
    """Every tenth point of a curve, the last, and the one where the run stands."""
    whole = curve.points[-1].denominator if curve.points else 0
    for n, point in enumerate(curve.points, 1):
        if n % 10 == 0 or n == len(curve.points):
            yield [Code(curve.name), percent(point.x, whole), *point_cells(point)]
    if curve.at:
        yield [Code(curve.name), f"{percent(curve.at.x, whole)}, as it ran", *point_cells(curve.at)]


def _side_by_side(
    one: Sequence[CurvePoint], other: Sequence[CurvePoint]
) -> Iterator[tuple[float, CurvePoint | None, CurvePoint | None]]:
    """Every tenth place of two lines, and the last."""
    first, second = ({p.x: p for p in line} for line in (one, other))
    places = sorted({*first, *second})
    for number, x in enumerate(places):
        if number % 10 == 0 or number == len(places) - 1:
            yield x, first.get(x), second.get(x)


def _worst(metrics: RunMetrics, by: str, name: str) -> list[tuple[str, CountedRate]]:
    """Where an error happens most often, by count and then by rate."""
    rates = [(value, tally.rate(name)) for value, tally in metrics.slices(by)]
    wrong = [(value, rate) for value, rate in rates if rate.numerator]
    return sorted(wrong, key=lambda pair: (-pair[1].numerator, -(pair[1].value or 0), pair[0]))[:MOST_ROWS]


def _left_out(run: _Summary) -> Iterator[Inline]:
    """What is in no figure, or in some only."""
    tally, name = run.metrics, run.name
    are = "is" if tally.errors == 1 else "are"
    yield say("limits.failed", run=name, failed=counted(tally.errors, "case"), cases=tally.cases, are=are)
    problems = sorted(run.labels.problems.items(), key=lambda pair: (-pair[1], pair[0]))
    for problem, times in problems[:MOST_PROBLEMS]:
        yield say("limits.problem", run=name, cases=counted(times, "case"), problem=Code(clipped(problem, 120)))
    verb = "counts" if tally.unscored == 1 else "count"
    yield say("limits.unlabelled", run=name, cases=counted(tally.unscored, "case"), count=verb)
    verdicts = counted(tally.unverified, "verdict")
    yield say("limits.unverified", run=name, verdicts=verdicts, answers=tally.unverified_answers)
    for by, times in sorted(tally.left_out.items()):
        yield say("limits.unsliced", run=name, cases=counted(times, "case"), by=by)


def _too_little(run: _Summary) -> Iterator[Inline]:
    """Figures with little behind them, and how much more it takes."""
    for rate in map(run.metrics.rate, MANDATORY):
        width = rate.high - rate.low
        if width > WIDTH_WANTED:
            more = max(1, _needed(rate) - rate.denominator)
            guess = "" if rate.denominator else SENTENCES["limits.guess"]
            counts = {"count": rate.denominator, "width": width * 100, "more": more}
            yield say("limits.wide", run=run.name, metric=Code(rate.name), guess=guess, **counts)
    small = [
        [f"{by} ", Code(value)]
        for by in SLICED_BY
        for value, tally in run.metrics.slices(by)
        if tally.cases - tally.errors - tally.unscored < SMALL
    ]
    if small:
        listed = [part for pair in small[:MOST_ROWS] for part in (", ", *pair)][1:]
        left = len(small) - MOST_ROWS
        rest = "".join(say("limits.small.more", count=left)) if left > 0 else ""
        yield [*say("limits.small", run=run.name, least=SMALL), *listed, *say("limits.small.rest", more=rest)]


def _needed(rate: CountedRate) -> int:
    """About how many counts it takes, at the share seen so far, for an interval of ten points or less."""
    share = 0.5 if rate.value is None else rate.value

    def is_narrow(trials: int) -> bool:
        ends = clopper_pearson(round(share * trials), trials)
        return ends.high - ends.low <= WIDTH_WANTED

    return fewest(is_narrow, MOST_TRIALS) or MOST_TRIALS


def _example(mistake: Mistake, case: Case | None) -> Example:
    facts: list[tuple[str, str]] = [
        ("expected", Code(mistake.expected or "nothing")),
        ("decided", Code(mistake.decision)),
        ("category", Code(mistake.category or NONE)),
        ("language", Code(mistake.language or NONE)),
        ("least score", "–" if mistake.score is None else f"{mistake.score:.2f}"),
        ("reasons", Code(", ".join(mistake.reasons[:8]) or NONE)),
    ]
    return Example(Code(mistake.id), facts, list(_texts(mistake, case)) if case else [])


def _texts(mistake: Mistake, case: Case) -> Iterator[ExampleText]:
    yield ExampleText("Question", clipped(case.request.query, LONGEST_TEXT))
    if case.request.draft_answer:
        unsupported = [(start, end) for start, end, supported in case.spans if not supported]
        yield _excerpt(case.request.draft_answer, unsupported or list(mistake.spans))
    passages = case.request.retrieved_context
    for passage in passages[:MOST_PASSAGES]:
        yield ExampleText(f"Source {clipped(passage.source_id, 60)}", clipped(passage.text, LONGEST_PASSAGE))
    if len(passages) > MOST_PASSAGES:
        yield ExampleText("Sources left out", counted(len(passages) - MOST_PASSAGES, "more source"))
    if case.why:
        yield ExampleText("Why", clipped(case.why, LONGEST_TEXT))


def _excerpt(draft: str, spans: Sequence[tuple[int, int]]) -> ExampleText:
    """As much of a draft as is shown, around the first place that matters where it is long, and the places within it."""
    first = min((start for start, _ in spans), default=0)
    start = 0 if first < LONGEST_TEXT - 100 else first - 100
    lead = "… " if start else ""
    shift, end = len(lead) - start, min(len(draft), start + LONGEST_TEXT)
    kept = [(max(a, start) + shift, min(b, end) + shift) for a, b in sorted(spans) if a < end and b > start]
    label = "Draft, what is labelled unsupported marked" if kept else "Draft"
    return ExampleText(label, lead + clipped(draft[start:], LONGEST_TEXT), kept)
