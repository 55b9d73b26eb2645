"""Which validators exist, in which order, and what an installed package can add."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stillme.errors import PolicyError
from stillme.validators import registry
from stillme.validators.registry import BUILT_IN, CHAIN, available, chain_with, parameters, summary, validator_class

SAMPLE = Path(__file__).parents[1] / "plugin"

QUERY_STAGE = [
    "AmbiguousQuery",
    "SourceRequired",
    "Answerability",
    "QueryTerms",
    "ContextInstructions",
    "EthicsAdapter",
]
DRAFT_STAGE = [
    "LanguageValidator",
    "CitationRequired",
    "CitationRelevance",
    "EvidenceOverlap",
    "NumericUnitsBasic",
    "SchemaFormat",
    "RetrievalCoverage",
    "SourceConsensusValidator",
    "ConfidenceValidator",
    "FactualHallucinationValidator",
    "ReligiousChoiceValidator",
    "EgoNeutralityValidator",
    "IdentityCheckValidator",
    "PhilosophicalDepthValidator",
    "VerbosityValidator",
    "FutureDatesValidator",
    "EthicsAdapter",
]

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution with entry points on sys.path, as an installer would, without one."""

    def put(distribution: str, entries: dict[str, str], **modules: str) -> None:
        site = tmp_path / distribution
        info = site / f"{distribution.replace('-', '_')}-1.0.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0.0\n", encoding="utf-8"
        )
        lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
        (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{lines}", encoding="utf-8")
        for module, source in modules.items():
            (site / f"{module}.py").write_text(source, encoding="utf-8")
            monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.syspath_prepend(site)

    return put


@pytest.fixture
def sample(install: Install) -> None:
    """The sample package, installed with the entry points of its own pyproject.toml."""
    project = tomllib.loads((SAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    source = (SAMPLE / "stillme_sample_validator.py").read_text(encoding="utf-8")
    install(project["name"], project["entry-points"][registry.GROUP], stillme_sample_validator=source)


def test_the_chain_has_the_order_of_the_design() -> None:
    assert [slot.name for slot in CHAIN if slot.stage == "query"] == QUERY_STAGE
    assert [slot.name for slot in CHAIN if slot.stage == "draft"] == DRAFT_STAGE
    assert [slot.stage for slot in CHAIN] == ["query"] * len(QUERY_STAGE) + ["draft"] * len(DRAFT_STAGE)


def test_built_in_names_are_the_chain_with_each_name_once() -> None:
    assert sorted(BUILT_IN) == sorted({*QUERY_STAGE, *DRAFT_STAGE})


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_built_in_class_carries_its_own_name_and_stage(name: str) -> None:
    cls = validator_class(name)

    slots = [slot for slot in CHAIN if slot.name == name]

    assert (cls.__name__, cls.name) == (name, name)
    assert cls.__module__ == f"stillme.validators.{slots[0].module}"
    assert len(slots) == 2 or cls.stage == slots[0].stage


@pytest.mark.slow
def test_importing_the_registry_imports_no_validator() -> None:
    code = "import sys, stillme.validators.registry as r; print(sorted(set(r.MODULES.values()) & set(sys.modules)))"

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.strip() == "[]"


def test_entry_points_are_not_read_for_a_built_in_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> list[Any]:
        raise AssertionError("entry points were read")

    monkeypatch.setattr(registry, "distributions", refuse)

    assert validator_class("EvidenceOverlap").name == "EvidenceOverlap"


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        pytest.param("EvidenceOverlp", "did you mean EvidenceOverlap?", id="a letter is missing"),
        pytest.param("citationrequired", "did you mean CitationRequired?", id="the case is wrong"),
        pytest.param("xyz", "unknown validator 'xyz': valid names:", id="nothing is near, so no guess"),
        pytest.param("", "unknown validator ''", id="an empty name"),
        pytest.param("A" * 100_000, "unknown validator 'AAAA", id="a very long name is cut in the message"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_and_all_valid_ones(name: str, guess: str) -> None:
    with pytest.raises(PolicyError) as raised:
        validator_class(name)

    assert guess in str(raised.value)
    assert all(valid in str(raised.value) for valid in BUILT_IN)
    assert len(str(raised.value)) < 1000


@pytest.mark.usefixtures("sample")
def test_an_installed_package_adds_its_validator() -> None:
    cls = validator_class("CalmTone")

    assert (cls.__module__, cls.name) == ("stillme_sample_validator", "CalmTone")
    assert [row for row in available() if row.name not in BUILT_IN] == [
        registry.Available(
            name="CalmTone",
            stages=("draft",),
            gate="soft",
            reasons=(("shouting", "soft"),),
            parameters=tuple(parameters(cls).values()),
            origin="stillme-sample-validator 1.0.0",
            summary="The answer does not shout: it has few exclamation marks.",
        )
    ]


@pytest.mark.usefixtures("sample")
def test_the_sample_validator_flags_marks_beyond_those_allowed() -> None:
    from stillme.evidence import Evidence  # noqa: PLC0415  (only this test needs evidence)

    finding = validator_class("CalmTone")(allowed=1).run(Evidence.of("Hi", "Wait! Stop! Now！"))

    assert (finding.outcome, finding.reason, finding.spans) == ("flagged", "shouting", ((10, 11), (15, 16)))


@pytest.mark.usefixtures("sample")
def test_validators_of_other_packages_stand_before_the_ethics_check_of_their_stage() -> None:
    calm = validator_class("CalmTone")
    asking = type("Asking", (), {"name": "Asking", "stage": "query", "run": calm.run})

    slots = chain_with({"Zeal": calm, "CalmTone": calm, "Asking": asking})

    names = [slot.name for slot in slots]
    assert names == [
        *QUERY_STAGE[:-1],
        "Asking",
        "EthicsAdapter",
        *DRAFT_STAGE[:-1],
        "CalmTone",
        "Zeal",
        "EthicsAdapter",
    ]


CLASS = "class Odd:\n    name = 'Odd'\n    def run(self, evidence):\n        return None\n"


@pytest.mark.parametrize(
    ("source", "value", "problem"),
    [
        pytest.param(
            "import no_such_module_at_all", "odd_plugin:Odd", "ModuleNotFoundError", id="it needs a missing module"
        ),
        pytest.param(
            "raise RuntimeError('no key')", "odd_plugin:Odd", "RuntimeError: 'no key'", id="it raises when imported"
        ),
        pytest.param("class Od", "odd_plugin:Odd", "SyntaxError", id="it does not parse"),
        pytest.param("x = 1", "odd_plugin:Odd", "AttributeError", id="the class is not there"),
        pytest.param("x = 1", "odd plugin!", "cannot be imported", id="the entry point is malformed"),
        pytest.param("Odd = 3", "odd_plugin:Odd", "3 is not a class", id="it is not a class"),
        pytest.param(
            "class Odd:\n    name = 'Odd'", "odd_plugin:Odd", "class Odd has no run method", id="it cannot run"
        ),
        pytest.param(CLASS.replace("'Odd'", "'Even'"), "odd_plugin:Odd", "calls itself 'Even'", id="the names differ"),
        pytest.param(
            CLASS + "    stage = 'after'", "odd_plugin:Odd", "query or draft, got 'after'", id="the stage is unknown"
        ),
    ],
)
def test_a_package_that_cannot_be_used_is_named(install: Install, source: str, value: str, problem: str) -> None:
    install("odd-package", {"Odd": value}, odd_plugin=source)

    with pytest.raises(PolicyError) as raised:
        validator_class("Odd")

    rows = [row for row in available() if row.name == "Odd"]
    assert "odd-package 1.0.0" in str(raised.value)
    assert problem in str(raised.value)
    assert [row.problem for row in rows] == [str(raised.value)]


def test_a_plain_class_is_a_validator_without_parameters(install: Install) -> None:
    install("odd-package", {"Odd": "odd_plugin:Odd"}, odd_plugin=CLASS)

    (row,) = [row for row in available() if row.name == "Odd"]

    assert (row.stages, row.gate, row.reasons, row.parameters, row.summary, row.problem) == (
        ("draft",),
        "",
        (),
        (),
        "",
        None,
    )


def test_one_name_from_two_packages_is_an_error_that_names_both(install: Install) -> None:
    install("first-package", {"Odd": "odd_plugin:Odd"}, odd_plugin=CLASS)
    install("second-package", {"Odd": "odd_plugin:Odd"})

    with pytest.raises(PolicyError, match=r"first-package 1\.0\.0 and second-package 1\.0\.0: uninstall one"):
        validator_class("Odd")


def test_a_package_cannot_take_a_built_in_name(install: Install) -> None:
    install("odd-package", {"EvidenceOverlap": "odd_plugin:Odd"}, odd_plugin=CLASS)

    rows = [row for row in available() if row.origin == "odd-package 1.0.0"]

    assert validator_class("EvidenceOverlap").__module__ == "stillme.validators.evidence_overlap"
    assert [row.problem for row in rows] == [
        "odd-package 1.0.0 registers EvidenceOverlap, but that name is built in: it is not used"
    ]


def test_every_built_in_validator_is_listed_and_can_be_used() -> None:
    rows = {row.name: row for row in available() if row.origin == "built in"}

    assert tuple(rows) == BUILT_IN
    assert {name: row.problem for name, row in rows.items() if row.problem} == {}
    assert rows["EthicsAdapter"].stages == ("query", "draft")
    assert rows["CitationRelevance"].gate == "hard/soft"
    assert all(row.summary.endswith((".", "?")) and row.reasons for row in rows.values())


MANY = '''
from __future__ import annotations
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal, Optional

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from nowhere import Unknown

@dataclass(frozen=True)
class Odd:
    """Looks at the draft. A second sentence.

    A second paragraph.
    """

    name: ClassVar[str] = "Odd"
    share: float = 0.5
    count: int = 3
    strict: bool = False
    word: str = "x"
    style: Literal["short", "long"] = "short"
    words: tuple[str, ...] = ()
    items: list[str] = field(default_factory=list)
    several: Sequence[str] = ()
    maybe: Optional[float] = None
    pairs: frozenset[str] = frozenset()
    check: Callable[[str], bool] | None = None
    other: Unknown = None

    def run(self, evidence):
        return None
'''

NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        pytest.param(
            "share", [(1, 1.0), (0.25, 0.25)], [True, "0.5", None, NOT_A_NUMBER, float("inf"), [0.5]], id="float"
        ),
        pytest.param("count", [(7, 7)], [True, 1.5, "7", None], id="int"),
        pytest.param("strict", [(True, True)], [1, "true", None], id="bool"),
        pytest.param("word", [("y", "y"), ("", "")], [1, None, ["y"], "\ud800"], id="str"),
        pytest.param("style", [("long", "long")], ["medium", None, 1], id="a choice"),
        pytest.param("words", [(["a", "b"], ("a", "b")), ((), ())], ["a", [1], {"a": 1}, None], id="a tuple of texts"),
        pytest.param("items", [(["a"], ["a"])], ["a", [None]], id="a list of texts"),
        pytest.param("several", [(["a"], ["a"])], ["a", 3], id="a type imported for type checking only"),
        pytest.param("maybe", [(None, None), (2, 2.0)], ["x", False], id="an optional number"),
        pytest.param("pairs", [(["a", "a"], frozenset({"a"}))], ["a"], id="a set"),
    ],
)
def test_values_are_checked_against_the_annotation(
    install: Install, name: str, good: list[tuple[object, object]], bad: list[object]
) -> None:
    install("odd-package", {"Odd": "odd_plugin:Odd"}, odd_plugin=MANY)
    parameter = parameters(validator_class("Odd"))[name]

    assert [(parameter.read(given), type(parameter.read(given))) for given, _ in good] == [
        (w, type(w)) for _, w in good
    ]
    for value in [*bad, object(), lambda: None]:
        with pytest.raises(ValueError, match=r"."):
            parameter.read(value)


@pytest.mark.parametrize("name", ["check", "other"])
def test_a_field_that_yaml_cannot_carry_cannot_be_set(install: Install, name: str) -> None:
    install("odd-package", {"Odd": "odd_plugin:Odd"}, odd_plugin=MANY)
    parameter = parameters(validator_class("Odd"))[name]

    assert (parameter.schema, parameter.file_schema()) == (None, None)
    with pytest.raises(ValueError, match="cannot be set in a policy"):
        parameter.read(None)


def test_a_parameter_says_its_type_its_default_and_its_bounds(sample: None) -> None:  # noqa: ARG001
    allowed, marks = parameters(validator_class("CalmTone")).values()

    assert (allowed.name, allowed.default, allowed.required) == ("allowed", 1, False)
    assert allowed.file_schema() == {"type": "integer", "minimum": 0, "maximum": 100, "default": 1}
    assert marks.type == "tuple[str, ...]"
    assert marks.file_schema() == {"type": "array", "items": {"type": "string"}, "default": ["!", "！"]}


def test_the_place_of_the_ethics_check_is_not_a_parameter() -> None:
    assert "target" not in parameters(validator_class("EthicsAdapter"))


@pytest.mark.parametrize(
    ("doc", "sentence"),
    [
        pytest.param(None, "", id="no docstring"),
        pytest.param("One sentence.", "One sentence.", id="one sentence"),
        pytest.param("First one. Second one.", "First one.", id="two sentences"),
        pytest.param("A first\n    one, wrapped.\n\n    More.", "A first one, wrapped.", id="a wrapped one"),
        pytest.param("No full stop", "No full stop", id="no full stop"),
        pytest.param("Odd(share: float = 0.5)", "", id="the signature that a dataclass writes"),
    ],
)
def test_the_summary_is_the_first_sentence_of_the_docstring(doc: str | None, sentence: str) -> None:
    assert summary(type("Odd", (), {"__doc__": doc})) == sentence
