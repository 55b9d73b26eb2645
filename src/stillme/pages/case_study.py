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
from typing import Final

import yaml

from stillme.contract import RetrievedPassage
from stillme.errors import InputError, PolicyError, nearest, shown
from stillme.evaluation.calibration.thresholds import Gates, Settings
from stillme.evaluation.changes import policy_changes
from stillme.evaluation.runs.case_files import CaseFile
from stillme.evaluation.runs.cases import Case
from stillme.evaluation.runs.comparison import Comparison, Difference, compare
from stillme.evaluation.runs.curves import (
    ERRORS,
    NONE,
    Errors,
    Kind,
    Labels,
    Mistake,
    Point,
    Reasons,
    RiskCoverage,
    Sweep,
    reliability_bins,
)
from stillme.evaluation.runs.intervals import clopper_pearson
from stillme.evaluation.runs.metrics import MANDATORY, RATES, SCORES, SLICED_BY, Metrics, Rate, Score, Tally, rate_of
from stillme.evaluation.runs.run import Run
from stillme.pages import plots
from stillme.pages.document import (
    Block,
    Bullets,
    ByHand,
    Code,
    Example,
    Figure,
    Heading,
    Listing,
    Paragraph,
    Table,
    Tiles,
    clipped,
    counted,
    html_page,
    interval_words,
    markdown_page,
    percent,
)
from stillme.policy import Policy
from stillme.reasons import Decision
from stillme.response import reason_words

__all__ = ["NOTES", "Report", "case_study"]

NOTES: Final[Mapping[str, str]] = {
    "owner": "Who answers for this study:",
    "question": "What it has to decide, and by when:",
    "source": "Where the cases come from, and how they were drawn:",
    "labelling": "Who labelled them, by which guide, and how disagreements were settled:",
    "privacy": "What the texts may hold, and who may read this report:",
    "baseline": "Why this is the baseline:",
    "errors": "What the errors have in common, and what is done about them:",
    "limits": "What else limits these figures:",
    "decision": "What was decided:",
    "sign_off": "Who signed, and when:",
}
"""What only people know, by key, and how the report asks for it."""
DISCLOSURES: Final = (
    "StillMe reduces risk; it does not guarantee that every answer is correct.",
    "The quality of retrieval strongly affects what can be verified.",
    "A domain may need its own policy.",
    "Strict refusal lowers the share of questions that are answered where there is little context.",
)
"""Spec 1, section 10: to be said in every report."""
MOST_RUNS: Final = 6
MOST_ROWS: Final = 20
MOST_TAGS: Final = 10
"""Cases have many tags; the largest are shown."""
MOST_EXAMPLES: Final = 6
MOST_PASSAGES: Final = 3
LONGEST_TEXT: Final = 600
LONGEST_PASSAGE: Final = 300
HASH_SHOWN: Final = 12
SMALL: Final = 30
"""A slice with fewer scored cases says little."""
WIDTH_WANTED: Final = 0.10
SHOWN_IN_SLICES: Final = (*MANDATORY, "false_refusal_rate")
NOTHING: Final = "nothing to count"
LATENCIES: Final = (0.5, 0.95)
KIND_RATES: Final[Mapping[Kind, str]] = {
    "escape": "hallucination_escape_rate",
    "false_refusal": "false_refusal_rate",
}


@dataclass(frozen=True)
class Report:
    """A case study, to be written as Markdown or as one HTML page; both hold the same figures."""

    title: str
    blocks: tuple[Block, ...]

    @cached_property
    def plots(self) -> Mapping[str, str]:
        """Each plot by name as an SVG file of its own, for Markdown to link to."""
        return {block.name: plots.standalone(block.svg) for block in self.blocks if isinstance(block, Figure)}

    def markdown(self, pictures: Mapping[str, str] | None = None) -> str:
        """As Markdown; `pictures` says where the plot of each name was written to, else its numbers stand alone."""
        return markdown_page(self.title, self.blocks, pictures)

    def html(self) -> str:
        """As one page that needs no other file, no script and no network."""
        style = files("stillme.pages").joinpath("case_study.css").read_text(encoding="utf-8")
        return html_page(self.title, "A case study of StillMe", self.blocks, style + plots.STYLE)


def case_study(
    runs: Sequence[Run],
    *,
    title: str | None = None,
    notes: Mapping[str, str] | None = None,
    cases: CaseFile | None = None,
) -> Report:
    """The report of one run, or of several of the same cases, of which the first is the baseline.

    With `cases` the examples have their texts; they have to be the cases of the runs.
    """
    _check(runs, notes or {}, cases)
    study = _Study(tuple(map(_seen, runs)), _labels_of(runs), notes or {}, cases)
    return Report(title or f"Case study: {runs[0].heading.cases}", tuple(study.blocks()))


def _check(runs: Sequence[Run], notes: Mapping[str, str], cases: CaseFile | None) -> None:
    if not 1 <= len(runs) <= MOST_RUNS:
        raise InputError(f"a case study is of 1 to {MOST_RUNS} runs, got {len(runs)}")
    for key in notes:
        if key not in NOTES:
            guess = nearest(key, NOTES)
            raise InputError(
                f"{shown(key)} is no note: {f'did you mean {guess}?' if guess else 'notes are ' + ', '.join(NOTES)}"
            )
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


def _labels_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """A name for each run that no other has."""
    names = Counter(run.heading.name for run in runs)
    return tuple(
        run.heading.name if names[run.heading.name] == 1 else f"{run.heading.name} #{number}"
        for number, run in enumerate(runs, 1)
    )


# one run, read once


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Everything that a report says of a run."""

    run: Run
    sha256: str
    policy: Policy | None
    metrics: Metrics
    risk: RiskCoverage
    sweep: Sweep
    reasons: Reasons
    labels: Labels
    errors: Errors


def _seen(run: Run) -> _Seen:
    metrics, risk, sweep, reasons, labels, errors = Metrics(), RiskCoverage(), Sweep(), Reasons(), Labels(), Errors()
    for record in run:
        for counter in (metrics, risk, sweep, reasons, labels, errors):
            counter.add(record)
    return _Seen(run, _file_hash(run), _policy(run), metrics, risk, sweep, reasons, labels, errors)


def _file_hash(run: Run) -> str:
    with run.path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _policy(run: Run) -> Policy | None:
    """The policy of a run; None where this installation cannot read it, or reads something else in it."""
    try:
        policy = Policy.load(run.heading.policy)
        policy.build()
    except PolicyError:
        return None
    return policy if policy.hash == run.heading.policy_hash else None


# how figures are written


def _rate_cells(rate: Rate) -> list[str]:
    """A rate as a value, its counts and its interval."""
    if rate.value is None:
        return ["–", "0 / 0", NOTHING]
    ends = interval_words((rate.low, rate.high), rate.denominator)
    return [percent(rate.value, rate.denominator), f"{rate.numerator:,} / {rate.denominator:,}", ends]


def _rate_words(rate: Rate) -> str:
    """A rate in one cell."""
    value, counts, ends = _rate_cells(rate)
    return f"{value} ({counts}; {ends})" if rate.denominator else "– (0 / 0)"


def _score_cells(score: Score) -> list[str]:
    of = f"{score.unsupported:,} unsupported, {score.supported:,} supported"
    if score.value is None:
        return ["–", of, NOTHING]
    return [f"{score.value:.2f}", of, f"{score.low:.2f} to {score.high:.2f}"]


def _points(value: float) -> str:
    written = f"{value * 100:+.1f}"
    return "0.0" if written in ("+0.0", "-0.0") else written


def _p_words(p: float | None) -> str:
    return "–" if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"


def _needed(rate: Rate) -> int:
    """About how many counts it takes, at the share seen so far, for an interval of ten points or less."""
    share = 0.5 if rate.value is None else rate.value
    low, high = 0, 1
    while _width(share, high) > WIDTH_WANTED:
        low, high = high, high * 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _width(share, middle) <= WIDTH_WANTED else (middle, high)
    return high


def _width(share: float, trials: int) -> float:
    ends = clopper_pearson(round(share * trials), trials)
    return ends.high - ends.low


@dataclass(frozen=True)
class _Study:
    """The sections of a case study, top to bottom."""

    seen: tuple[_Seen, ...]
    names: tuple[str, ...]
    notes: Mapping[str, str]
    cases: CaseFile | None

    def blocks(self) -> Iterator[Block]:
        yield from self._opening()
        yield from self._dataset()
        yield from self._setup()
        yield from self._baseline()
        yield from self._results()
        yield from self._errors()
        yield from self._limits()
        yield from self._again()
        yield Heading(2, "Decision")
        yield from self._by_hand("decision", "sign_off")

    @property
    def last(self) -> _Seen:
        """The run that the study is about: the last one given."""
        return self.seen[-1]

    def _by_hand(self, *keys: str) -> Iterator[Block]:
        yield from (ByHand(NOTES[key], self.notes.get(key)) for key in keys)

    def _named(self) -> Iterator[tuple[Code, _Seen]]:
        yield from ((Code(name), seen) for name, seen in zip(self.names, self.seen, strict=True))

    def _source(self, *chosen: _Seen) -> list[str]:
        """What a table was computed from: file hashes and counts of records."""
        parts: list[str] = ["From "]
        for name, seen in self._named():
            if chosen and seen not in chosen:
                continue
            tally = seen.metrics
            counts = f": {counted(tally.cases, 'record')}, {counted(tally.errors, 'error')}, {tally.unscored:,} without labels"
            parts += ["; " * (len(parts) > 1), "run ", name, ", file sha256 ", Code(seen.sha256[:HASH_SHOWN]), counts]
        return [*(part for part in parts if part), "."]

    # in short

    def _opening(self) -> Iterator[Block]:
        tally = self.last.metrics
        tiles = []
        for name in MANDATORY:
            value, counts, ends = _rate_cells(tally.rate(name))
            about = f"{counts}, 95 % interval {ends}" if tally.rate(name).denominator else NOTHING
            tiles.append((name, value, about))
        yield Tiles(tiles)
        yield Paragraph(self._source(self.last), "source")
        if tally.errors or tally.unverified_answers:
            yield Paragraph(
                f"{counted(tally.errors, 'case')} could not be run and "
                f"{counted(tally.unverified_answers, 'answer')} passed without being verified: see the limits.",
                "warning",
            )
        yield from self._by_hand("owner", "question")

    # dataset

    def _dataset(self) -> Iterator[Block]:
        heading, seen = self.last.run.heading, self.last
        yield Heading(2, "Dataset protocol")
        named: list[str] = [
            "The cases were named ",
            Code(heading.cases),
            f" and are {heading.count:,}. Their sha256, whatever file ",
        ]
        yield Paragraph([*named, "they are in, is ", Code(heading.cases_sha256), "."])
        yield from self._by_hand("source", "labelling", "privacy")
        rows = [
            [f"cases that {key}" if not key.startswith("claims") else key, f"{n:,}"]
            for key, n in seen.labels.counts.items()
        ]
        rows = [
            ["cases", f"{seen.metrics.cases:,}"],
            *rows,
            ["cases with nothing labelled", f"{seen.metrics.unscored:,}"],
        ]
        rows.append(["cases that could not be run, in no count above but the first", f"{seen.metrics.errors:,}"])
        yield Table(["What is labelled", "count"], rows, self._source(seen))
        expected = Counter(dict.fromkeys((d.value for d in Decision), 0))
        for (wanted, _), count in seen.metrics.confusion.items():
            expected[wanted] += count
        yield Table(["Expected decision", "cases"], [[k, f"{n:,}"] for k, n in expected.items()], self._source(seen))
        for by in SLICED_BY:
            yield from self._counts_by(by)

    def _counts_by(self, by: str) -> Iterator[Block]:
        found, most = self.last.metrics.slices(by), _most(by)
        if not found:
            return
        rows: list[list[str]] = [
            [Code(value), f"{t.cases:,}", f"{t.cases - t.errors - t.unscored:,}", f"{t.errors:,}"]
            for value, t in found[:most]
        ]
        heads = [by.capitalize(), "cases", "scored", "errors"]
        yield Table(heads, rows, [*self._source(self.last), *_more(found, most)])

    # setup

    def _setup(self) -> Iterator[Block]:
        yield Heading(2, "Setup")
        rows: list[list[str]] = []
        for name, seen in self._named():
            heading = seen.run.heading
            facts: list[tuple[str, str]] = [
                ("file", Code(seen.run.path.name)),
                ("file sha256", Code(seen.sha256)),
                ("records", f"{seen.metrics.cases:,}"),
                ("stillme version", Code(heading.version)),
                ("model", Code(heading.model_id)),
                ("policy sha256", Code(heading.policy_hash)),
                ("mode", Code(str(heading.policy.get("mode", "monitor")))),
                ("started", Code(heading.started)),
            ]
            rows += [[name, key, value] for key, value in facts]
        yield Table(["Run", "what", "value"], rows, self._source(), words=3)
        for name, seen in self._named():
            yield from self._says(name, seen)

    def _says(self, name: Code, seen: _Seen) -> Iterator[Block]:
        """What the policy of a run says, as far as this installation can read it."""
        heading = seen.run.heading
        written = yaml.safe_dump(heading.policy, allow_unicode=True, sort_keys=True, width=120)
        yield Heading(3, f"What the policy of {name} says")
        if seen.policy is None:
            yield Paragraph(
                "This installation does not read the policy as the run did; below it stands as it was recorded."
            )
            yield Listing("The policy as recorded", written)
            return
        settings, policy = Settings.of(seen.policy), seen.policy
        rows = [
            ["mode", policy.mode],
            ["preset", policy.extends],
            ["similarity for factual questions at least", f"{settings.factual:g}"],
            ["similarity where sources are asked for at least", f"{settings.source_required:g}"],
            ["score of support (min_score) at least", _score_setting(settings)],
            ["generation confidence at least", f"{settings.generation_confidence:g}"],
            ["a crashed hard gate", policy.on_error],
            ["thresholds calibrated", "no" if policy.calibration is None else "yes"],
        ]
        source = ["Policy sha256 ", Code(heading.policy_hash[:HASH_SHOWN]), ", recorded in the file with sha256 "]
        yield Table(["Setting", "value"], rows, [*source, Code(seen.sha256[:HASH_SHOWN]), "."], words=2)
        changes = policy_changes(Policy.load("lite"), policy)
        if changes:
            lines = [[Code(c.key), _setting(c.before), _setting(c.after)] for c in changes[:MOST_ROWS]]
            more = [f" And {counted(len(changes) - MOST_ROWS, 'more setting')}."] if len(changes) > MOST_ROWS else []
            heads = ["Differs from lite", "in lite", "here"]
            yield Table(heads, lines, [*source, Code(seen.sha256[:HASH_SHOWN]), ".", *more], words=3)
        else:
            yield Paragraph("It is the preset lite, unchanged.")
        yield Listing("The whole policy", policy.to_yaml())

    # baseline

    def _baseline(self) -> Iterator[Block]:
        yield Heading(2, "Baseline")
        if len(self.seen) > 1:
            yield Paragraph(["The baseline is the run ", Code(self.names[0]), ", on the same cases."])
        else:
            yield Paragraph(
                "No other run was given, so the baseline is to deliver every draft: worked out from the labels, not run. "
                "It refuses nothing, so it has no refusal precision, and its sources are not checked."
            )
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
        rows = [[Code(n), _rate_words(rate_of(n, *of)), _rate_words(tally.rate(n))] for n, of in delivered.items()]
        return Table(["Metric", "every draft delivered", f"run {self.names[-1]}"], rows, self._source(self.last))

    # results

    def _results(self) -> Iterator[Block]:
        yield Heading(2, "Results")
        yield self._rates("Mandatory metrics", MANDATORY)
        yield self._rates("Further metrics", [name for name in RATES if name not in MANDATORY])
        scores = [[Code(n), name, *_score_cells(s.metrics.score(n))] for n in SCORES for name, s in self._named()]
        yield Table(["Metric", "run", "value", "claims", "95 % interval"], scores, self._source(), words=2)
        yield Heading(3, "What the metrics are")
        yield Bullets([[Code(name), f": {_meaning(name)}"] for name in RATES])
        yield from self._compared()
        yield from self._plots()
        yield Heading(3, "Decisions")
        for name, seen in self._named():
            yield self._confusion(name, seen)
        yield self._latency()
        yield from self._slices()
        yield from self._reason_rates()

    def _rates(self, title: str, names: Iterable[str]) -> Table:
        rows = [[Code(n), name, *_rate_cells(s.metrics.rate(n))] for n in names for name, s in self._named()]
        return Table([title, "run", "value", "counts", "95 % interval"], rows, self._source(), words=2)

    def _compared(self) -> Iterator[Block]:
        if len(self.seen) == 1:
            return
        yield Heading(3, "Compared with the baseline")
        yield Paragraph(
            "Differences are later run less baseline, in percentage points, over the cases that could be run in both. p is "
            "corrected by Holm's method for the number of metrics in a table."
        )
        for name, seen in list(self._named())[1:]:
            found = compare(self.seen[0].run, seen.run)
            yield self._differences(name, seen, found)
            yield self._flips(name, seen, found)

    def _differences(self, name: Code, seen: _Seen, found: Comparison) -> Table:
        rows = [_difference_row(difference) for difference in found.differences]
        made = f" {found.cases - found.left_out:,} of {counted(found.cases, 'case')} in both; {found.draws:,} draws, seed {found.seed}."
        heads = [f"{name} less {self.names[0]}", "baseline", "later", "difference", "95 % interval", "p", "says"]
        return Table(heads, rows, [*self._source(self.seen[0], seen), made])

    def _flips(self, name: Code, seen: _Seen, found: Comparison) -> Table:
        rows = [[before, after, f"{count:,}"] for before, after, count in found.flips] or [["–", "–", "0"]]
        sides = dict(found.directions)
        right = (
            f" Of {counted(found.changed, 'case')} decided differently {sides['before']:,} were right before, {sides['after']:,} "
            f"after, {sides['neither']:,} in neither, and {sides['unknown']:,} expect nothing."
        )
        heads = [f"Decision in {self.names[0]}", f"in {name}", "cases"]
        return Table(heads, rows, [*self._source(self.seen[0], seen), right], words=2)

    def _confusion(self, name: Code, seen: _Seen) -> Table:
        decisions, counts = [d.value for d in Decision], seen.metrics.confusion
        rows = [[f"expected {e}", *(f"{counts[e, d]:,}" for d in decisions)] for e in decisions]
        return Table([f"Run {name}", *decisions], rows, self._source(seen))

    def _latency(self) -> Table:
        rows = [
            [f"{share * 100:.0f} % of cases within", name, *_latency_cells(seen.metrics, share)]
            for share in LATENCIES
            for name, seen in self._named()
        ]
        heads = ["Time for a case, on the machine of the run", "run", "ms", "cases", "95 % interval"]
        return Table(heads, rows, self._source(), words=2)

    def _slices(self) -> Iterator[Block]:
        yield Heading(3, "By slice")
        some = False
        for by in SLICED_BY:
            values = [value for value, _ in self.last.metrics.slices(by)]
            if not values:
                continue
            some = True
            rows = [
                [Code(value), name, f"{tally.cases:,}", *(_rate_words(tally.rate(rate)) for rate in SHOWN_IN_SLICES)]
                for value in values[: _most(by)]
                for name, seen in self._named()
                for tally in [dict(seen.metrics.slices(by)).get(value, Tally())]
            ]
            heads = [by.capitalize(), "run", "cases", *SHOWN_IN_SLICES]
            yield Table(heads, rows, [*self._source(), *_more(values, _most(by))], words=2)
        if not some:
            yield Paragraph("The cases have no language, domain, category or tag.")

    def _reason_rates(self) -> Iterator[Block]:
        found = sorted(
            (
                (reason, number, name)
                for number, (name, seen) in enumerate(self._named())
                for reason in seen.metrics.reasons()
            ),
            key=lambda row: (row[0].code, row[1]),
        )
        yield Heading(3, "Reason codes")
        if not found:
            yield Paragraph("No case says which codes it expects, so precision and recall of codes are not known.")
            return
        most = MOST_ROWS * 2 * len(self.seen)
        rows = [[Code(r.code), name, _rate_words(r.precision), _rate_words(r.recall)] for r, _, name in found[:most]]
        heads = ["Code, over cases that say which codes they expect", "run", "precision", "recall"]
        yield Table(heads, rows, [*self._source(), *_more(found, most)], words=2)

    # plots

    def _plots(self) -> Iterator[Block]:
        yield Heading(3, "Plots")
        yield self._risk_figure()
        yield self._reliability_figure()
        yield from self._sweep_figure()
        yield self._reason_figure()

    def _risk_figure(self) -> Figure:
        curves = [plots.Curve(name, seen.risk.points(), seen.risk.at()) for name, seen in self._named()]
        rows: list[list[str]] = []
        for curve in curves:
            thinned = [p for n, p in enumerate(curve.points) if n % 10 == 9 or n == len(curve.points) - 1]
            whole = curve.points[-1].denominator if curve.points else 0
            rows += [[Code(curve.name), percent(p.x, whole), *_point_cells(p)] for p in thinned]
            rows += (
                [[Code(curve.name), f"{percent(curve.at.x, whole)}, as it ran", *_point_cells(curve.at)]]
                if curve.at
                else []
            )
        left = sum(seen.risk.without_score for seen in self.seen)
        note = (
            " Drafts with labelled claims, those with the best scores first (the score of a draft is the least of its claims); risk is "
            "the share that holds an unsupported claim. Intervals are of each point by itself. "
            f"{counted(left, 'labelled draft')} had no score and {'is' if left == 1 else 'are'} not in it."
        )
        table = Table(["Run", "coverage", "risk", "counts", "95 % interval"], rows, self._source(), words=2)
        return Figure("risk-coverage", "Risk against coverage", plots.risk_coverage(curves), note, table)

    def _reliability_figure(self) -> Figure:
        bins = reliability_bins(self.last.metrics.scored)
        rows = [[f"{p.x:.2f}", *_point_cells(p)] for p in bins]
        note = " A claim's score is meant as the probability that it is supported: on the dashed line it is just that."
        heads = ["Mean score in the bin", "labelled supported", "counts", "95 % interval"]
        table = Table(heads, rows, self._source(self.last))
        return Figure("reliability", "Reliability of the scores", plots.reliability(bins), note, table)

    def _sweep_figure(self) -> Iterator[Block]:
        policy = self.last.policy
        if policy is None:
            yield Paragraph(
                "The threshold sweep is left out: the min_score of the run is not known to this installation."
            )
            return
        settings = Settings.of(policy)
        least = min([settings.min_score, *settings.by_language.values(), *settings.by_domain.values()])
        escapes, refusals = self.last.sweep.escapes(least), self.last.sweep.false_refusals(least)
        rows = [
            [f"{x:.2f}", *(cell for p in pair for cell in (_point_cells(p) if p else ["–", "0 / 0", NOTHING]))]
            for x, pair in _side_by_side(escapes, refusals)
        ]
        idle = (
            ""
            if Gates.of(policy).score
            else " Under this policy the check decides nothing: the curves show what it would do as a hard gate."
        )
        note = (
            " Every answer with a supported claim below min_score becomes a refusal; nothing else changes. To choose a threshold, use "
            f"stillme calibrate, which allows for having looked.{idle}"
        )
        heads = [
            "min_score",
            *(h for n in ("escape", "false refusal") for h in (f"{n} rate", "counts", "95 % interval")),
        ]
        table = Table(heads, rows, self._source(self.last))
        svg = plots.threshold_sweep(escapes, refusals, least)
        yield Figure("threshold-sweep", "Both errors against min_score", svg, note, table)

    def _reason_figure(self) -> Figure:
        ranked, cases = self.last.reasons.ranked(), self.last.reasons.cases
        rows = [
            [Code(code), reason_words(code, "en")["say"], *(f"{n:,}" for n in (sum(c), *c))]
            for code, *c in ranked[:MOST_ROWS]
        ]
        heads = ["Code", "in words", "cases", "as expected", "not as expected", "nothing expected"]
        table = Table(heads, rows, [*self._source(self.last), *_more(ranked)], words=2)
        note = f" Of {counted(cases, 'case')} that ran; a case may name several codes, and shares are of all cases."
        return Figure("reasons", "Reason codes", plots.reason_bars(ranked, max(cases, 1)), note, table)

    # errors

    def _errors(self) -> Iterator[Block]:
        yield Heading(2, "Error analysis")
        texts = self._texts()
        if len(self.seen) > 1:
            yield Paragraph(["Of the run ", Code(self.names[-1]), "."])
        yield Heading(3, "Unsupported claims that passed")
        yield from self._kind("escape", "Code that was expected and not named", texts)
        yield Heading(3, "False refusals")
        yield from self._kind("false_refusal", "Code that was named", texts)
        yield from self._by_hand("errors")

    def _texts(self) -> Mapping[str, Case]:
        """The cases of the examples, where they were given."""
        wanted = {m.id for kind in ERRORS for m in self.last.errors.examples(kind, MOST_EXAMPLES)}
        return {case.id: case for case in self.cases if case.id in wanted} if self.cases is not None and wanted else {}

    def _kind(self, kind: Kind, codes: str, texts: Mapping[str, Case]) -> Iterator[Block]:
        seen, rate = self.last, self.last.metrics.rate(KIND_RATES[kind])
        wrong = seen.errors.cases[kind]
        if not wrong:
            none = f"none among {rate.denominator:,}: the true rate may still be up to {percent(rate.high, rate.denominator)}"
            yield Paragraph(
                f"There {'is none to find: nothing is labelled for it' if not rate.denominator else f'are {none}'}."
            )
            return
        yield Paragraph([Code(rate.name), f": {_rate_words(rate)}, in {counted(wrong, 'case')}."])
        rows: list[list[str]] = []
        for by in ("category", "language"):
            rows += [[by, Code(v), *_rate_cells(r)] for v, r in _worst(seen.metrics, by, rate.name)]
        if rows:
            yield Table(["By", "slice", "rate", "counts", "95 % interval"], rows, self._source(seen), words=2)
        ranked = sorted(seen.errors.codes[kind].items(), key=lambda pair: (-pair[1], pair[0]))
        shares = [[_code_name(c), *_rate_cells(rate_of("", n, wrong))] for c, n in ranked[:MOST_ROWS]]
        yield Table(
            [codes, "share of these cases", "counts", "95 % interval"], shares, [*self._source(seen), *_more(ranked)]
        )
        chosen = seen.errors.examples(kind, MOST_EXAMPLES)
        yield Paragraph(
            f"{counted(len(chosen), 'example')} of {wrong:,}, from each category in turn, those with the highest score first."
            + ("" if texts else " Their texts are shown where the file of cases is given.")
        )
        yield from (_example(mistake, texts.get(mistake.id)) for mistake in chosen)

    # limits

    def _limits(self) -> Iterator[Block]:
        yield Heading(2, "Limits")
        for name, seen in self._named():
            yield Bullets([*self._apart(name, seen), *self._too_little(name, seen)])
        yield Bullets(
            [
                "The figures hold for cases drawn like these, with this version, model and policy.",
                "Intervals treat the claims of one draft as independent; where drafts hold several, the truth is somewhat less certain.",
                *DISCLOSURES,
            ]
        )
        yield from self._by_hand("limits")

    def _apart(self, name: Code, seen: _Seen) -> Iterator[Sequence[str]]:
        """What is in no figure, or in some only."""
        tally = seen.metrics
        start = ["Run ", name, ": "]
        yield [
            *start,
            f"{counted(tally.errors, 'case')} of {tally.cases:,} could not be run and {'is' if tally.errors == 1 else 'are'} in no figure.",
        ]
        for problem, count in sorted(seen.labels.problems.items(), key=lambda pair: (-pair[1], pair[0]))[:5]:
            yield [*start, f"{counted(count, 'case')} ended with ", Code(clipped(problem, 120)), "."]
        count_in = "counts" if tally.unscored == 1 else "count"
        bare = f"{counted(tally.unscored, 'case')} had nothing labelled and {count_in} in no figure that needs a label."
        yield [*start, bare]
        answers = f"{tally.unverified_answers:,} of them answers, which are never counted as right."
        yield [*start, f"{counted(tally.unverified, 'verdict')} not verified to the end, {answers}"]
        for by, count in sorted(tally.left_out.items()):
            yield [*start, f"{counted(count, 'case')} in no slice by {by}: there are too many of them."]

    def _too_little(self, name: Code, seen: _Seen) -> Iterator[Sequence[str]]:
        """Figures with little behind them, and how much more it takes."""
        for metric in MANDATORY:
            rate = seen.metrics.rate(metric)
            if rate.high - rate.low > WIDTH_WANTED:
                more = max(1, _needed(rate) - rate.denominator)
                have = f"rests on {rate.denominator:,}: its interval is {(rate.high - rate.low) * 100:.0f} points wide"
                guess = "" if rate.denominator else ", if it is about a half"
                yield ["Run ", name, ": ", Code(metric), f" {have}. About {more:,} more make it ten points{guess}."]
        small = [
            (by, value)
            for by in SLICED_BY
            for value, t in seen.metrics.slices(by)
            if t.cases - t.errors - t.unscored < SMALL
        ]
        if small:
            listed = [part for by, value in small[:MOST_ROWS] for part in (", ", f"{by} ", Code(value))][1:]
            rest = f", and {len(small) - MOST_ROWS:,} more" if len(small) > MOST_ROWS else ""
            yield [
                "Run ",
                name,
                f": fewer than {SMALL} scored cases in ",
                *listed,
                f"{rest}. Their figures say little.",
            ]

    # again

    def _again(self) -> Iterator[Block]:
        heading = self.last.run.heading
        yield Heading(2, "How to reproduce it")
        yield Paragraph(
            "With the same version, model, policy and cases a run gives the same records but for the time each took, so its file has "
            "another hash and the same figures."
        )
        names = [Code(seen.run.path.name) for seen in self.seen]
        steps: list[list[str]] = [
            ["Cases: sha256 ", Code(heading.cases_sha256), ", ", Code(heading.cases), "."],
            *(
                [Code(f"stillme eval CASES --policy POLICY --out {name}"), " with stillme ", Code(s.run.heading.version), ", model ",
                 Code(s.run.heading.model_id), " and the policy with sha256 ", Code(s.run.heading.policy_hash), "."]
                for name, s in zip(names, self.seen, strict=True)
            ),
            [Code(f"stillme report {' '.join(names)} --cases CASES --out REPORT.html"), " makes this report from the run files."],
            ["A run file is the one used here if its sha256 (", Code("sha256sum"), ") is the one under Setup."],
        ]  # fmt: skip
        yield Bullets(steps)


def _meaning(name: str) -> str:
    return (RATES[name].__doc__ or "").partition("\n")[0].strip()


def _most(by: str) -> int:
    return MOST_TAGS if by == "tag" else MOST_ROWS


def _more(rows: Sequence[object], most: int = MOST_ROWS) -> list[str]:
    """That there is more than is shown."""
    return [f" {len(rows) - most:,} more not shown."] if len(rows) > most else []


def _score_setting(settings: Settings) -> str:
    own = {**settings.by_language, **settings.by_domain}
    return ", ".join([f"{settings.min_score:g}", *(f"{name}: {least:g}" for name, least in own.items())])


def _setting(value: object) -> Code:
    return Code("–" if value is None else clipped(str(value), 80))


def _difference_row(difference: Difference) -> list[str]:
    before, after = _rate_words(difference.before), _rate_words(difference.after)
    if difference.value is None:
        return [Code(difference.name), before, after, "–", NOTHING, "–", difference.verdict]
    ends = f"{_points(difference.low)} to {_points(difference.high)}"
    p = _p_words(difference.adjusted)
    return [Code(difference.name), before, after, _points(difference.value), ends, p, difference.verdict]


def _latency_cells(tally: Tally, share: float) -> list[str]:
    """The quantile, how many cases it is of, and its interval: the quantiles between which its share may truly lie."""
    cases = tally.latencies.total()
    found = tally.latency_ms(share)
    if found is None:
        return ["–", "0", NOTHING]
    ends = clopper_pearson(min(cases, round(share * cases)), cases)
    low, high = tally.latency_ms(ends.low), tally.latency_ms(ends.high)
    # Where the share may be all of the cases, one that is slower than any seen would be no surprise.
    words = f"{low or 0:.1f} or more" if ends.high >= 1 else f"{low or 0:.1f} to {high or 0:.1f}"
    return [f"{found:.1f}", f"{cases:,}", words]


def _point_cells(point: Point) -> list[str]:
    of = point.denominator
    return [percent(point.y, of), f"{point.numerator:,} / {of:,}", interval_words((point.low, point.high), of)]


def _side_by_side(
    one: Sequence[Point], other: Sequence[Point]
) -> Iterator[tuple[float, tuple[Point | None, Point | None]]]:
    """Every tenth place of two lines, and the last."""
    first, second = ({p.x: p for p in line} for line in (one, other))
    places = sorted({*first, *second})
    for number, x in enumerate(places):
        if number % 10 == 0 or number == len(places) - 1:
            yield x, (first.get(x), second.get(x))


def _worst(metrics: Metrics, by: str, name: str) -> list[tuple[str, Rate]]:
    """Where an error happens most often, by count and then by rate."""
    found = [(value, tally.rate(name)) for value, tally in metrics.slices(by)]
    wrong = [(value, rate) for value, rate in found if rate.numerator]
    return sorted(wrong, key=lambda pair: (-pair[1].numerator, -(pair[1].value or 0), pair[0]))[:MOST_ROWS]


def _code_name(code: str) -> str:
    return "no code" if code == NONE else Code(code)


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


def _texts(mistake: Mistake, case: Case) -> Iterator[tuple[str, str, Sequence[tuple[int, int]]]]:
    yield "Question", clipped(case.request.query, LONGEST_TEXT), ()
    if case.request.draft_answer:
        unsupported = [(start, end) for start, end, supported in case.spans if not supported]
        text, spans = _excerpt(case.request.draft_answer, unsupported or list(mistake.spans))
        yield ("Draft, what is labelled unsupported marked" if spans else "Draft"), text, spans
    passages = case.request.retrieved_context
    yield from (_passage(passage) for passage in passages[:MOST_PASSAGES])
    if len(passages) > MOST_PASSAGES:
        yield "Sources left out", counted(len(passages) - MOST_PASSAGES, "more source"), ()
    if case.why:
        yield "Why", clipped(case.why, LONGEST_TEXT), ()


def _passage(passage: RetrievedPassage) -> tuple[str, str, Sequence[tuple[int, int]]]:
    return f"Source {clipped(passage.source_id, 60)}", clipped(passage.text, LONGEST_PASSAGE), ()


def _excerpt(draft: str, spans: Sequence[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """As much of a draft as is shown, around the first place that matters where it is long, and the places within it."""
    first = min((start for start, _ in spans), default=0)
    start = 0 if first < LONGEST_TEXT - 100 else first - 100
    lead = "… " if start else ""
    shift = len(lead) - start
    end = min(len(draft), start + LONGEST_TEXT)
    kept = [(max(a, start) + shift, min(b, end) + shift) for a, b in sorted(spans) if a < end and b > start]
    return lead + clipped(draft[start:], LONGEST_TEXT), kept
