"""Whether a wrapping changes what becomes of a claim: `python -m benchmarks.disguises [--part held] [--show] [--json FILE]`.

Each wrapping of `data/wrappings.tsv` (language, kind, text with `{claim}`, `{clause}` and the like) is put around some pairs of
`data/claim_pairs.yaml`: a claim that its passage supports and one that it does not. A false claim that is delivered in enforce mode has
escaped; a true one that is not is refused. Pairs that are judged wrong without any wrapping are left out, and counted. Half of the
wrappings, told by the hash of their text, are held back: they are measured, and never looked at while rules are written.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from stillme import Guard
from stillme.text.tokens import fold_text
from stillme.version import __version__

DATA = Path(__file__).parent / "data"
PARTS = ("develop", "held")
DELIVERED = ("deliver", "deliver_with_warning")
FIELD = re.compile(r"\{([a-z]+)\}")
OPEN = re.compile(r"\{claim\}(?![.,;:!?…])")
ANSWERS = ("yes", "no")
NAMES = ("right", "wrong")


@dataclass(frozen=True)
class Wrapping:
    """Words and marks around a claim; of the kinds "yes" and "no" they are the whole answer."""

    lang: str
    kind: str
    text: str

    @property
    def number(self) -> int:
        """A number that only its text decides."""
        return int(hashlib.sha256(self.text.encode()).hexdigest()[:8], 16)

    @property
    def part(self) -> str:
        """Whether it is for development or held back."""
        return PARTS[self.number % 2]

    def fits(self, pair: dict[str, Any]) -> bool:
        """Whether the pair is in its language and has what it needs."""
        need = "asked" if self.kind in ANSWERS else "cell" if "{value}" in self.text else "right"
        return pair["lang"] == self.lang and need in pair


@dataclass(frozen=True)
class Trial:
    """A wrapped claim and what became of it."""

    wrapping: Wrapping
    true: bool
    draft: str
    verdict: Any

    @property
    def wrong(self) -> bool:
        """A false claim delivered, or a true one refused."""
        return (self.verdict.action in DELIVERED) != self.true


def main() -> None:
    """Measure, print, and write a record on request."""
    options = argparse.ArgumentParser(description=__doc__.partition(":")[0] if __doc__ else "")
    options.add_argument(
        "--wrappings", type=Path, default=DATA / "wrappings.tsv", help="language, kind and text by tabs"
    )
    options.add_argument("--pairs", type=Path, default=DATA / "claim_pairs.yaml", help="true and false claims")
    options.add_argument("--part", choices=PARTS, action="append", help="only this half; both unless told")
    options.add_argument("--kind", help="only wrappings of this kind")
    options.add_argument("--lang", help="only wrappings of this language")
    options.add_argument(
        "--sample", type=int, default=4, help="how many pairs a wrapping meets; others for each wrapping"
    )
    options.add_argument("--closed", action="store_true", help="{claim} brings its full stop, where no mark follows it")
    options.add_argument("--show", action="store_true", help="print each claim that was judged wrong")
    options.add_argument("--json", type=Path, help="write the counts as a run record")
    given = options.parse_args()
    guard = Guard({"mode": "enforce"})
    pairs = yaml.safe_load(given.pairs.read_text(encoding="utf-8"))
    sound = [pair for pair in pairs if judged_right(guard, pair)]
    wrappings = [
        w
        for w in read(given.wrappings, closed=given.closed)
        if w.part in (given.part or PARTS) and given.kind in (None, w.kind) and given.lang in (None, w.lang)
    ]
    trials = list(run(guard, wrappings, sound, given.sample))
    left_out = len(pairs) - len(sound)
    print(f"{len(wrappings)} wrappings, {len(pairs)} pairs, {left_out} left out: judged wrong without a wrapping")
    print("\n".join(table(trials)))
    if given.show:
        print("\n".join(described(trial) for trial in trials if trial.wrong))
    if given.json:
        record = recorded(trials, given, len(pairs), left_out)
        given.json.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: Path, *, closed: bool = False) -> list[Wrapping]:
    """The wrappings of a file, but for a line that names the columns; `closed`: they take a claim to end with a full stop."""
    rows = (line.split("\t", 2) for line in path.read_text(encoding="utf-8").splitlines())
    texts = [(lang, kind, text.replace(r"\n", "\n")) for lang, kind, text in rows if lang != "lang"]
    return [Wrapping(lang, kind, OPEN.sub("{claim}.", text) if closed else text) for lang, kind, text in texts]


def judged_right(guard: Guard, pair: dict[str, Any]) -> bool:
    """Whether both claims of a pair are judged right without a wrapping."""
    return all((verify(guard, pair, f"{pair[name]}.").action in DELIVERED) == (name == "right") for name in NAMES)


def run(guard: Guard, wrappings: Sequence[Wrapping], pairs: Sequence[dict[str, Any]], sample: int) -> Iterator[Trial]:
    """Each wrapping around some pairs, others for each."""
    for wrapping in wrappings:
        own = [pair for pair in pairs if wrapping.fits(pair)]
        chosen = {(wrapping.number // 2 + n * max(1, len(own) // sample)) % len(own) for n in range(sample)}
        for place in sorted(chosen):
            for name in NAMES:
                yield tried(guard, wrapping, own[place], name)


def tried(guard: Guard, wrapping: Wrapping, pair: dict[str, Any], name: str) -> Trial:
    """One claim of a pair in a wrapping; a bare yes or no answers the question that makes it true or false."""
    if wrapping.kind in ANSWERS:
        asked = pair["asked"][(name == "right") != (wrapping.kind == "yes")]
        verdict = verify(guard, {**pair, "query": asked}, wrapping.text)
        return Trial(wrapping, name == "right", f"{asked} {wrapping.text}", verdict)
    draft = wrapped(wrapping.text, pair, name)
    return Trial(wrapping, name == "right", draft, verify(guard, pair, draft))


def wrapped(text: str, pair: dict[str, Any], name: str) -> str:
    """A wrapping with its fields filled."""
    claim = pair[name]
    label, *values = pair.get("cell", ("", "", ""))
    fields = {
        "claim": claim,
        "clause": claim if claim.split()[0] in pair.get("names", ()) else claim[:1].lower() + claim[1:],
        "upper": claim.upper(),
        "lower": claim.lower(),
        "title": " ".join(word[:1].upper() + word[1:] for word in claim.split(" ")),
        "spaced": "  ".join(" ".join(word) for word in claim.split()),
        "unaccented": "".join(fold_text(c) if c.islower() else fold_text(c).upper() for c in claim),
        "bold": " ".join(f"{w[:2]}**{w[2:]}**" if len(w) > 3 else w for w in claim.split()),
        "query": pair["query"],
        "label": label,
        "value": values[name == "wrong"],
    }
    return FIELD.sub(lambda field: fields.get(field.group(1), field.group()), text)


def verify(guard: Guard, pair: dict[str, Any], draft: str) -> Any:
    """The verdict on a draft."""
    source = {"source_id": "a", "title": "Document", "text": pair["passage"], "similarity": 0.9}
    return guard.verify({"query": pair["query"], "draft_answer": draft, "retrieved_context": [source]})


def counts(trials: Sequence[Trial]) -> dict[str, int]:
    """How many were false, how many of them escaped; how many were true, how many of them were refused."""
    true = [trial for trial in trials if trial.true]
    false = [trial for trial in trials if not trial.true]
    return {
        "false": len(false),
        "escaped": sum(trial.wrong for trial in false),
        "true": len(true),
        "refused": sum(trial.wrong for trial in true),
    }


def grouped(trials: Sequence[Trial]) -> Iterator[tuple[str, str, str, dict[str, int]]]:
    """Part, language, kind and counts, with the whole of each language first."""
    for part in PARTS:
        for lang in ("en", "vi"):
            own = [t for t in trials if (t.wrapping.part, t.wrapping.lang) == (part, lang)]
            for kind in ("all", *sorted({t.wrapping.kind for t in own})) if own else ():
                yield part, lang, kind, counts([t for t in own if kind in ("all", t.wrapping.kind)])


def table(trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each part, language and kind."""
    for part, lang, kind, found in grouped(trials):
        escaped = f"{found['escaped']:3}/{found['false']:3} {found['escaped'] / found['false']:6.1%}"
        refused = f"{found['refused']:3}/{found['true']:3} {found['refused'] / found['true']:6.1%}"
        print_kind = kind.upper() if kind == "all" else kind
        yield f"{part:8} {lang} {print_kind:15} escaped {escaped}   true refused {refused}"


def described(trial: Trial) -> str:
    """A claim that was judged wrong, and by what."""
    what = "REFUSED" if trial.true else "ESCAPED"
    claims = [(c.text, c.status, c.detail) for c in trial.verdict.claims]
    reasons = [str(reason) for reason in trial.verdict.reasons]
    return f"{what} {trial.wrapping.lang} {trial.wrapping.kind}: {trial.draft!r}\n    {reasons}\n    {claims}"


def recorded(trials: Sequence[Trial], given: argparse.Namespace, pairs: int, left_out: int) -> dict[str, Any]:
    """The counts with what they were measured on."""
    files = [given.wrappings, given.pairs]
    return {
        "version": __version__,
        "data_hash": hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest(),
        "sample": given.sample,
        "pairs": pairs,
        "pairs_left_out": left_out,
        "wrappings": len({trial.wrapping for trial in trials}),
        "rows": [{"part": p, "lang": lang, "kind": kind, **found} for p, lang, kind, found in grouped(trials)],
    }


if __name__ == "__main__":
    main()
