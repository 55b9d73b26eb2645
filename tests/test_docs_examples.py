"""The examples of README.md and docs/ run as they stand, links lead somewhere, and nothing public goes unmentioned.

How a page is read, from top to bottom, in an empty folder of its own (beside it only a link to `examples/`):

- `<!-- file: NAME -->` above a block: the block is the content of that file and is not run. A block of YAML may name
  its file in its first line instead: `# policy.yaml`.
- A `python` block is run; the blocks of a page share one namespace. The lines `# → text` in it are what it prints.
- A `console` block: each line `$ stillme …` is run. `# exit code 10` behind the command says how it ends; without that
  it ends with 0. Lines below the command are what it prints.
- A line `$ curl …` in a `console` block is run too, where there is a curl; a command goes on until its quotes are closed.
- `<!-- service: NAME=VALUE … -->` above a block: from there on the HTTP service runs with these settings, its files in the folder of
  the page, and `http://127.0.0.1:8000` in blocks is where it is. `<!-- upstream: TEXT -->` before it: a model server that says TEXT
  stands where `STILLME_UPSTREAM_URL` says.
- `<!-- needs: NAME -->` at the top: the examples need the package NAME, and run in `make test-clients`.
- `<!-- output -->` above a block: that is what the `python` or `console` block before it prints.
- In what is printed, `…` stands for anything that the page leaves out. A `python` block that shows no output prints
  none; a command may print what the page does not show.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
from click.testing import CliRunner

from stillme.cli.commands import cli
from stillme.policy import policy_schema
from stillme.reasons import Reason
from stillme.validators.registry import BUILT_IN, parameters, validator_class

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
NOTE = re.compile(r"<!-- (file|output|service|upstream)(?:: ([^>]+))? -->")
NEEDS = re.compile(r"<!-- needs: ([\w.]+) -->")
YAML_NAME = re.compile(r"# ([\w-]+\.yaml)\n")
EXIT_CODE = re.compile(r"# exit code (\d+)$")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
ARROW = "# →"
PRINTED_URL = "http://127.0.0.1:8000"
LEFT_TO_THE_READER = {"log": lambda *_: None}
"""Names that a page may use without defining them."""


@dataclass
class Block:
    """A fenced block of a page: its language, its text, the line it begins in, and the note above it."""

    language: str
    line: int
    note: str = ""
    name: str = ""
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What stands between the fences."""
        return "".join(f"{line}\n" for line in self.lines)


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    inside, note, name = False, "", ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            if not inside:
                found.append(Block(line[3:].strip(), number + 1, note, name))
                note = name = ""
            inside = not inside
        elif inside:
            found[-1].lines.append(line)
        elif line.strip():
            above = NOTE.fullmatch(line.strip())
            note, name = (above[1], above[2] or "") if above else ("", "")
            if note == "upstream":
                found.append(Block("", number, note, name))
    assert not inside, f"{page.name}: a block has no end"
    return found


def agrees(shown: str, printed: str) -> bool:
    """Whether that was printed; `…` stands for anything, and blanks at the end of a line do not count."""
    shown, printed = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown, printed))
    pattern = ".*".join(re.escape(part) for part in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


def run_python(block: Block, page: Path, module: ModuleType) -> str:
    """What the block prints when it is run; a traceback names the page and its line."""
    code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, module.__dict__)  # noqa: S102  (running the examples is what this test is for)
    return out.getvalue()


def run_console(block: Block, scene: Scene) -> Iterator[tuple[str, str]]:
    """For each command what the page shows below it and what was printed; the exit code must be the one stated."""
    for command, shown in commands_in(block):
        stated = EXIT_CODE.search(command)
        code, printed, everything = scene.run(command)

        assert code == int(stated[1] if stated else 0), f"$ {command}\n{everything}"
        yield shown, printed


def commands_in(block: Block) -> Iterator[tuple[str, str]]:
    """The commands of a block, each with the lines below it; one whose quotes are open goes on in the next line."""
    starts = [at for at, line in enumerate(block.lines) if line.startswith("$ ")]
    assert starts[:1] == [0], "a console block begins with a command"
    for at, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        command, below = block.lines[at].removeprefix("$ "), at + 1
        while command.count("'") % 2 or command.endswith("\\"):
            command, below = f"{command}\n{block.lines[below]}", below + 1
        yield command, "\n".join(block.lines[below:end])


@dataclass
class Scene:
    """What a page has running: a service, and a model server behind it."""

    folder: Path
    stack: contextlib.ExitStack
    url: str = PRINTED_URL
    environment: dict[str, str] = field(default_factory=dict)

    def enter(self, block: Block) -> None:
        """Start what a block asks for."""
        if block.note == "upstream":
            from tests.chat.upstream import Upstream, completion, stream  # noqa: PLC0415  (few pages need it)

            said = block.name.strip()
            play = Upstream(lambda asked: stream(said) if asked.body.get("stream") else completion(said))
            upstream = self.stack.enter_context(play)
            self.environment["STILLME_UPSTREAM_URL"] = upstream.url
        if block.note == "service":
            from tests.service.conftest import running  # noqa: PLC0415

            named = dict(pair.split("=", 1) for pair in shlex.split(block.name))
            data = self.folder / "stillme-data"
            self.url = self.stack.enter_context(running(data, self.environment | named)).url

    def run(self, command: str) -> tuple[int, str, str]:
        """The exit code of a command, what it prints to stdout, and all that it prints."""
        program, *arguments = shlex.split(command, comments=True)
        if program == "curl":
            if shutil.which("curl") is None:
                pytest.skip("there is no curl here")
            done = subprocess.run(["curl", *arguments], capture_output=True, text=True, timeout=600, check=False)
            return done.returncode, done.stdout, done.stdout + done.stderr
        assert program == "stillme", f"only stillme and curl are run here, not {program}"
        result = CliRunner().invoke(cli, arguments, catch_exceptions=False)
        return result.exit_code, result.stdout, result.output


def follow(page: Path, module: ModuleType, scene: Scene) -> None:
    """Do what the page says, from top to bottom."""
    found = blocks(page)
    for at, block in enumerate(found):
        scene.enter(block)
        block.lines = [line.replace(PRINTED_URL, scene.url) for line in block.lines]
        below = next((after.text for after in found[at + 1 : at + 2] if after.note == "output"), "")
        if name := file_name(block):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            arrows = [line for line in block.lines if line.startswith(ARROW)]
            shown = "\n".join(line.removeprefix(ARROW).removeprefix(" ") for line in arrows)
            printed = run_python(block, page, module)
            assert agrees(below or shown, printed), f"{page.name} line {block.line} prints:\n{printed}"
        elif block.language == "console":
            for shown_below, printed in run_console(block, scene):
                expected = below or shown_below
                assert not expected or agrees(expected, printed), f"{page.name} line {block.line} prints:\n{printed}"


def file_name(block: Block) -> str:
    """The file that a block is the content of, or nothing."""
    named = YAML_NAME.match(block.text) if block.language == "yaml" else None
    return named[1] if named else block.name if block.note == "file" else ""


def is_runnable(page: Path) -> bool:
    """Whether what a page needs is here: in that environment of `make test-clients` that is meant for it, elsewhere by chance."""
    needed = NEEDS.search(page.read_text(encoding="utf-8"))
    environment = os.environ.get("STILLME_CLIENTS")
    if needed is None:
        return True
    if environment is None:
        return find_spec(needed[1].partition(".")[0]) is not None
    package = page.stem.replace("-", "_")
    apart = (ROOT / "tests" / "clients" / "requirements" / f"{package}.txt").is_file()
    return environment == (package if apart else "together")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_as_they_stand(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, Python and commands, in the order of the page."""
    if not is_runnable(page):
        pytest.skip("`make test-clients` has what it needs")
    if NEEDS.search(page.read_text(encoding="utf-8")):
        warnings.simplefilter("ignore")  # until the end of this test: they are another package's
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STILLME_POLICY", raising=False)
    os.symlink(ROOT / "examples", tmp_path / "examples")  # noqa: PTH211  (a link, as a user stands in the repository)
    module = ModuleType("example")
    module.__dict__.update(LEFT_TO_THE_READER)
    monkeypatch.setitem(sys.modules, "example", module)

    with contextlib.ExitStack() as stack:
        follow(page, module, Scene(tmp_path, stack))


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        pytest.param("refuse", "refuse\n", True, id="the same but for the end of the line"),
        pytest.param("refuse", "answer\n", False, id="something else"),
        pytest.param("a\n…\nd", "a\nb\nc\nd\n", True, id="lines left out"),
        pytest.param("a\n…\nd", "a\nb\nc\n", False, id="what follows the gap is missing"),
        pytest.param("", "a\n", False, id="printed and not shown"),
        pytest.param("(a.b)*", "(a.b)*", True, id="signs mean themselves"),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(shown: str, printed: str, agree: bool) -> None:
    assert agrees(shown, printed) is agree


def test_every_link_leads_to_a_file() -> None:
    """Links within the repository point at what is there; those with an anchor, at a heading that is there."""
    assert len(PAGES) > len(BUILT_IN)
    assert [f"{page.relative_to(ROOT)}: {link}" for page in PAGES for link in broken_links(page)] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    """A file, a heading of another page and one of the page itself; what stands in code is no link."""
    (tmp_path / "other.md").write_text("# Other\n\n## A heading\n", encoding="utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n[a](other.md) [b](other.md#a-heading) [c](#page) [d](https://stillme.example/gone)\n"
        "[e](gone.md) [f](other.md#gone) [g](#gone)\n```\n[h](gone.md)\n```\n",
        encoding="utf-8",
    )

    assert broken_links(page) == ["gone.md", "other.md#gone", "#gone"]


def broken_links(page: Path) -> list[str]:
    """The links of a page that lead to no file, or to no heading of it."""
    broken = []
    for target in LINK.findall(re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)):
        path, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = page.parent / path if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    return broken


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_index_names_every_page() -> None:
    """A page that nothing links to is not found."""
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    linked = {(DOCS / target.partition("#")[0]).resolve() for target in LINK.findall(index)}

    assert [str(page.relative_to(DOCS)) for page in PAGES[1:] if page not in linked and page.name != "README.md"] == []


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_page_of_a_validator_names_its_reasons_and_parameters(name: str) -> None:
    """Each code it flags and each parameter it takes stands there in backticks."""
    page = (DOCS / "validators" / f"{name}.md").read_text(encoding="utf-8")
    cls = validator_class(name)
    wanted = [name, *(str(reason) for reason in cls.gates), *parameters(cls)]

    assert page.startswith(f"# {name}\n")
    assert [word for word in wanted if not re.search(rf"\b{word}\b", page)] == []


def test_every_reason_code_is_documented() -> None:
    page = (DOCS / "reasons.md").read_text(encoding="utf-8")

    assert [code.value for code in Reason if f"`{code.value}`" not in page] == []


def test_every_command_is_documented() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")

    assert [name for name in commands(cli, "stillme") if f"### `{name}`" not in page] == []


def commands(command: click.Command, name: str) -> Iterator[str]:
    """The names of a command and of those below it."""
    yield name
    for below, found in command.commands.items() if isinstance(command, click.Group) else ():
        yield from commands(found, f"{name} {below}")


def test_every_key_of_a_policy_is_documented() -> None:
    page = (DOCS / "policy.md").read_text(encoding="utf-8")

    assert [key for key in policy_keys(policy_schema()) if f"`{key}`" not in page] == []


def policy_keys(schema: dict[str, Any]) -> set[str]:
    """Every key that a policy may hold, without the sections it stands in; the names of validators are keys too."""
    keys: set[str] = set()
    waiting: list[dict[str, Any]] = [schema]
    while waiting:
        node = waiting.pop()
        if "$ref" in node:
            waiting.append(schema["$defs"][node["$ref"].rpartition("/")[2]])
        waiting += node.get("anyOf", [])
        keys |= set(node.get("properties", {}))
        waiting += node.get("properties", {}).values()
    return keys - {"en", "vi"}
