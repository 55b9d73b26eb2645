"""`stillme report`: a case study from run files, as one HTML page or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from stillme.cli.files import check_new, whole_file
from stillme.cli.printing import print_text, tell
from stillme.errors import InputError, shown

if TYPE_CHECKING:
    from stillme.evaluation.runs.case_files import CaseFile
    from stillme.evaluation.runs.run import Run
    from stillme.pages.case_study import CaseStudy

__all__ = ["report"]

PAGES: Final = (".html", ".htm")
MARKDOWN: Final = (".md", ".markdown")
MOST_NOTES: Final = 1024 * 1024
CASES_HELP = "The cases of the runs (a file, or starter): examples then have their texts. They may hold private text."
OUT_HELP = "Write FILE.html, one page with its plots, or FILE.md with the plots beside it. Without: Markdown, printed."
NOTES_HELP = "A YAML file of what cannot be computed: owner, source, labelling, decision and the others (key: text)."


@click.command("report", short_help="Write a case study from run files.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option("--cases", "cases_name", metavar="FILE", help=CASES_HELP)
@click.option("--out", metavar="FILE.html|FILE.md", help=OUT_HELP)
@click.option("--title", help="Of the report. Without: the name of the cases.")
@click.option("--notes", "notes_file", metavar="FILE", help=NOTES_HELP)
@click.option("--force", is_flag=True, help="Replaces files that are there.")
def report(
    runs: tuple[str, ...],
    cases_name: str | None,
    out: str | None,
    title: str | None,
    notes_file: str | None,
    force: bool,
) -> None:
    """Write a case study from the RUN files that `stillme eval --out` kept.

    Of several runs of the same cases the first is the baseline and the last is what the study is about. Every table names the run
    file it was computed from, by hash. Sections: docs/CASE_STUDY_TEMPLATE.md.

    \b
    Exit codes
       0  done
       3  a run, the cases, the notes or an option cannot be used
    """
    from stillme.evaluation.runs.run import read_run
    from stillme.pages.case_study import case_study

    form = _form(out)
    found = [read_run(run) for run in runs]
    made = case_study(found, title=title, notes=_notes(notes_file), cases=_cases(cases_name, found))
    if out is None:
        print_text(made.markdown().rstrip())
        return
    texts = _files(made, Path(out), form)
    for path in texts:
        check_new(path, force)
    for path, text in texts.items():
        with whole_file(path) as part:
            part.write_text(text, encoding="utf-8", newline="\n")
    tell([f"case study of {len(found)} run{'s' * (len(found) > 1)} written to {out}"])


def _form(out: str | None) -> str:
    suffix = Path(out or "a.md").suffix.lower()
    if suffix not in (*PAGES, *MARKDOWN):
        raise InputError(f"--out ends with .html or .md, which says what is written; got {shown(out)}")
    return "html" if suffix in PAGES else "markdown"


def _cases(name: str | None, runs: list[Run]) -> CaseFile | None:
    """The cases of the runs; where a run had a limit, as many of them."""
    if name is None:
        return None
    from stillme.evaluation.runs.case_files import STARTER, checked, starter_file

    bundled = name == STARTER and not Path(STARTER).is_file()
    return checked(starter_file() if bundled else name, runs[0].heading.count, name)


def _notes(name: str | None) -> dict[str, str]:
    if name is None:
        return {}
    import yaml

    try:
        with Path(name).open("rb") as stream:
            found = yaml.safe_load(stream.read(MOST_NOTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(name)} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except yaml.YAMLError as error:
        raise InputError(
            f"{shown(name)} is not YAML: {getattr(error, 'problem', None) or 'it cannot be parsed'}"
        ) from None
    if not isinstance(found, dict):
        raise InputError(f"{shown(name)} has to hold key: text, got {type(found).__name__}")
    empty = {str(key): "" if text is None else text for key, text in found.items()}
    for key, text in empty.items():
        if not isinstance(text, str):
            raise InputError(
                f"{shown(name)}: {shown(key)} has to be a text, got {type(text).__name__}; put it in quotes"
            )
    return {key: text.strip() for key, text in empty.items()}


def _files(made: CaseStudy, out: Path, form: str) -> dict[Path, str]:
    """What is written where: the page, or Markdown and its plots."""
    from urllib.parse import quote

    if form == "html":
        return {out: made.html()}
    pictures = {name: out.with_name(f"{out.stem}-{name}.svg") for name in made.charts}
    links = {name: quote(path.name) for name, path in pictures.items()}
    return {out: made.markdown(links)} | {path: made.charts[name] for name, path in pictures.items()}
