"""The steps of CONTRIBUTING.md lead where it says: each is followed in a copy of the tree, and a forgotten one is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import stillme

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SOURCE = Path(stillme.__file__).parent
# A code that stands in every file that has words for reasons, and is put before by what a step adds.
KNOWN_CODE = "  source_required_no_context:\n"

VALIDATOR = '''
"""The answer does not shout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from stillme.reasons import Gate, Reason
from stillme.validators.base import Finding, Observer

if TYPE_CHECKING:
    from stillme.evidence import Evidence

__all__ = ["CalmWords"]


@dataclass(frozen=True, slots=True)
class CalmWords(Observer):
    """The answer has no exclamation mark."""

    name: ClassVar[str] = "CalmWords"
    gates: ClassVar = {Reason.SHOUTING: Gate.SOFT}

    def run(self, evidence: Evidence) -> Finding:
        """Flag a draft that shouts."""
        if "!" in evidence.draft.raw:
            return self.flagged(Reason.SHOUTING, "there is an exclamation mark")
        return self.passed()
'''
ENGINE = '''
"""A file that is kept beside another one."""

from stillme.storage.audit.sqlite import SqliteDatabase

__all__ = ["BesideDatabase"]


class BesideDatabase(SqliteDatabase):
    """SQLite under a scheme of its own."""

    def __init__(self, where: str, timeout_s: float = 5.0) -> None:
        super().__init__(where.removeprefix("beside://"), timeout_s)
        self.name = "the store beside"
'''
VERDICTS = """
from stillme import Guard
from stillme.catalogue import reason_rows
question, context = "When does the ferry leave?", [{"source_id": "a", "text": "The ferry leaves at nine."}]
for draft in ("The ferry leaves at nine [1]!", "The ferry leaves at nine [1]."):
    verdict = Guard({"grounding": {"model": "none"}, "validators": {"CalmWords": {"enabled": True}}}).verify(
        {"query": question, "draft_answer": draft, "retrieved_context": context}
    )
    print("shouting" in verdict.reasons)
print("shouting" in str(list(reason_rows("vi"))))
"""
RECORDS = """
import sys
from stillme import Guard
from stillme.audit import AuditStore
from stillme.audit.chain.integrity import verify_store
with AuditStore("beside://" + sys.argv[1]) as store:
    Guard({"grounding": {"model": "none"}}, audit=store).verify({"query": "Hello?"})
    print(store.database.name, verify_store(store).ok, len(list(store.records())))
"""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A copy of the tree, to change."""

    folder: Path

    @property
    def source(self) -> Path:
        return self.folder / "src" / "stillme"

    def put(self, path: str, text: str) -> None:
        """Write a new file."""
        (self.folder / path).write_text(text.lstrip("\n"), encoding="utf-8")

    def insert(self, path: Path, before: str, text: str) -> None:
        """Put text before the only place where something stands."""
        whole = path.read_text(encoding="utf-8")
        assert whole.count(before) == 1, f"{path} has {before!r} {whole.count(before)} times"
        path.write_text(whole.replace(before, text + before), encoding="utf-8")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """What Python prints here."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(self.folder / "src"), str(self.folder)])}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each of them would compile the whole tree
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip

    def checks(self, names: str) -> str:
        """What the tests of the tree say."""
        return self.python("-m", "pytest", "-p", "no:cacheprovider", "tests/test_architecture.py", "-k", names).stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """The tree without what the steps do not touch; the weights are linked, not copied."""
    left_out = shutil.ignore_patterns("weights", "__pycache__")
    shutil.copytree(SOURCE, tmp_path / "src" / "stillme", ignore=left_out)
    (tmp_path / "src" / "stillme" / "models" / "weights").symlink_to(SOURCE / "models" / "weights")
    shutil.copytree(ROOT / "docs" / "validators", tmp_path / "docs" / "validators")
    shutil.copytree(ROOT / "tests" / "validators", tmp_path / "tests" / "validators", ignore=left_out)
    for name in (
        "pyproject.toml",
        "tests/__init__.py",
        "tests/conftest.py",
        "tests/soak.py",
        "tests/test_architecture.py",
    ):
        shutil.copy(ROOT / name, tmp_path / name)
    return Checkout(tmp_path)


def test_a_validator_and_a_reason_are_added_as_the_page_says(checkout: Checkout) -> None:
    """Before its words, its page and its test are there, the checks name what is missing; then all of it works."""
    checkout.put("src/stillme/validators/calm_words.py", VALIDATOR)
    checkout.insert(
        checkout.source / "reasons.py",
        '    SOURCE_REQUIRED_NO_CONTEXT = "source_required_no_context"\n',
        '    SHOUTING = "shouting"\n',
    )
    checkout.insert(
        checkout.source / "validators" / "registry.py",
        '    Slot("VerbosityValidator"',
        '    Slot("CalmWords", "draft", "calm_words"),\n',
    )

    forgotten = checkout.checks("five_places or reason")
    assert "test_calm_words.py" in forgotten
    assert "CalmWords.md" in forgotten
    assert "shouting" in forgotten

    worded = [path for path in checkout.source.rglob("*.yaml") if KNOWN_CODE in path.read_text(encoding="utf-8")]
    for path in worded:
        checkout.insert(path, KNOWN_CODE, "  shouting:\n    say: it shouts.\n    help: calmer words.\n")
    checkout.put("tests/validators/test_calm_words.py", '"""The answer does not shout."""\n')
    checkout.put("docs/validators/CalmWords.md", "# CalmWords\n")

    done = checkout.checks("five_places or reason")
    assert "passed" in done, done
    assert "failed" not in done, done
    shown = checkout.python("-c", VERDICTS)
    assert shown.stdout.split() == ["True", "False", "True"], shown.stderr


def test_a_storage_engine_is_added_as_the_page_says(checkout: Checkout, tmp_path: Path) -> None:
    """A class with the methods of Database, and its scheme in engines.py: a store there keeps a chain that verifies."""
    checkout.put("src/stillme/storage/audit/beside.py", ENGINE)
    engines = checkout.source / "storage" / "audit" / "engines.py"
    names = '    """The database that a path or URL names."""\n'
    whole = engines.read_text(encoding="utf-8")
    assert whole.count(names) == 1
    chosen = (
        '    if where.startswith("beside://"):\n'
        "        from stillme.storage.audit.beside import BesideDatabase\n\n"
        "        return BesideDatabase(where, timeout_s)\n"
    )
    engines.write_text(whole.replace(names, names + chosen), encoding="utf-8")

    shown = checkout.python("-c", RECORDS, str(tmp_path / "audit.db"))

    assert shown.stdout.strip() == "the store beside True 2", shown.stderr
