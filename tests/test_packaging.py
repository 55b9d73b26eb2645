"""What users install: dependencies up to the major that was tested, one installation for the first commands, and a PATH that is told."""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
UNCAPPED = {"cryptography", "pyarrow"}
"""Majors come several times a year and break little; the newest is in constraints.txt, which every test runs with."""
NOT_FOR_USERS = {"dev", "training"}


def requirements() -> Iterator[Requirement]:
    """What the package and its extras for users need of other packages."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    lists = [project["dependencies"], *(extras[name] for name in extras if name not in NOT_FOR_USERS)]
    yield from (each for one in lists for each in map(Requirement, one) if each.name != "stillme")


def pins() -> dict[str, str]:
    """The versions that every test runs with."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    return {str(canonicalize_name(name)): version for name, _, version in (line.partition("==") for line in lines)}


@pytest.mark.parametrize("requirement", list(requirements()), ids=str)
def test_a_dependency_is_capped_at_a_major_that_was_tested(requirement: Requirement) -> None:
    """The version of constraints.txt, where it is there, is admitted, and a major after it is not."""
    tested = pins().get(str(canonicalize_name(requirement.name)))

    assert tested is None or requirement.specifier.contains(tested)
    if requirement.name not in UNCAPPED:
        assert any(each.operator == "<" for each in requirement.specifier), "give it an upper bound"
    if tested is not None and requirement.name not in UNCAPPED:
        assert not requirement.specifier.contains(f"{int(tested.split('.')[0]) + 1}.0")


def test_the_first_commands_install_once_and_show_it(tmp_path: Path) -> None:
    """`make demo` and `make serve` need the same installation, which is one call of pip that is not quiet."""
    planned = [
        subprocess.run(
            ["make", "--no-print-directory", "-n", target, f"VENV={tmp_path / 'venv'}"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        ).stdout
        for target in ("demo", "serve")
    ]  # fmt: skip

    installs = [[line for line in plan.splitlines() if "pip install" in line] for plan in planned]
    assert len(installs[0]) == 1
    assert installs[0] == installs[1]
    assert "--quiet" not in installs[0][0]


def test_the_readme_says_how_the_command_gets_on_the_path() -> None:
    """Before it is first used."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    used = re.search(r"^\$ stillme ", text, re.MULTILINE)

    assert used is not None
    assert ". .venv/bin/activate" in text[: used.start()]


def test_every_environment_of_clients_runs_in_ci() -> None:
    """A package that StillMe works inside has its requirements, a place in `make test-clients`, and a job."""
    environments = {file.stem for file in (ROOT / "tests" / "clients" / "requirements").iterdir()}
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))["jobs"]
    made = re.search(r"\$\(or \$\(CLIENTS\),([^)]*)\)", (ROOT / "Makefile").read_text(encoding="utf-8"))

    assert made is not None
    assert set(made[1].split()) == environments
    assert set(jobs["clients"]["strategy"]["matrix"]["environment"]) == environments
    assert jobs["clients"]["steps"][-1]["run"].startswith("make test-clients CLIENTS=")
