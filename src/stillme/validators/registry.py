"""Which validators exist, in which order they run, and what may be set on each.

Built-in validators are imported one by one, when first asked for. Others come from installed packages, through the
entry-point group `stillme.validators`; entry points are read only for a name that is not built in, or to list them.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import json
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, distributions
from inspect import get_annotations
from types import SimpleNamespace
from typing import Any, cast, get_type_hints

from pydantic import ConfigDict, TypeAdapter
from pydantic.errors import PydanticUserError

from stillme.errors import PolicyError, StillMeError, nearest, shown
from stillme.validators.base import Stage

__all__ = [
    "BUILT_IN",
    "CHAIN",
    "GROUP",
    "Available",
    "Parameter",
    "Slot",
    "available",
    "chain_with",
    "foreign_code",
    "parameters",
    "summary",
    "validator_class",
]

GROUP = "stillme.validators"
STRICT = ConfigDict(strict=True, allow_inf_nan=False)


@dataclasses.dataclass(frozen=True, slots=True)
class Slot:
    """A place in the chain: which validator stands there, and the value of `target` if it stands in several."""

    name: str
    stage: Stage
    module: str | None = None
    target: str | None = None

    @property
    def fixed(self) -> dict[str, str]:
        """The parameters that the place itself sets."""
        return {} if self.target is None else {"target": self.target}


CHAIN: tuple[Slot, ...] = (
    Slot("AmbiguousQuery", "query", "ambiguous_query"),
    Slot("SourceRequired", "query", "source_required"),
    Slot("Answerability", "query", "answerability"),
    Slot("QueryTerms", "query", "query_terms"),
    Slot("ContextInstructions", "query", "context_instructions"),
    Slot("EthicsAdapter", "query", "ethics_adapter", target="query"),
    Slot("LanguageValidator", "draft", "language_validator"),
    Slot("CitationRequired", "draft", "citation_required"),
    Slot("CitationRelevance", "draft", "citation_relevance"),
    Slot("EvidenceOverlap", "draft", "evidence_overlap"),
    Slot("NumericUnitsBasic", "draft", "numeric_units_basic"),
    Slot("SchemaFormat", "draft", "schema_format"),
    Slot("RetrievalCoverage", "draft", "retrieval_coverage"),
    Slot("SourceConsensusValidator", "draft", "source_consensus_validator"),
    Slot("ConfidenceValidator", "draft", "confidence_validator"),
    Slot("FactualHallucinationValidator", "draft", "factual_hallucination_validator"),
    Slot("ReligiousChoiceValidator", "draft", "religious_choice_validator"),
    Slot("EgoNeutralityValidator", "draft", "ego_neutrality_validator"),
    Slot("IdentityCheckValidator", "draft", "identity_check_validator"),
    Slot("PhilosophicalDepthValidator", "draft", "philosophical_depth_validator"),
    Slot("VerbosityValidator", "draft", "verbosity_validator"),
    Slot("FutureDatesValidator", "draft", "future_dates_validator"),
    Slot("EthicsAdapter", "draft", "ethics_adapter", target="draft"),
)
"""The built-in chain in the order it runs; validators of other packages stand before the last of their stage."""

BUILT_IN: tuple[str, ...] = tuple(dict.fromkeys(slot.name for slot in CHAIN))
"""The names of the built-in validators, in chain order, each once."""

MODULES = {slot.name: f"stillme.validators.{slot.module}" for slot in CHAIN}


@dataclasses.dataclass(frozen=True, slots=True)
class Parameter:
    """One field of a validator. `schema` is None where a policy file cannot carry its values (a callable)."""

    name: str
    type: str
    default: Any
    required: bool
    schema: dict[str, Any] | None
    adapter: TypeAdapter[Any] | None = dataclasses.field(repr=False, compare=False)

    def read(self, value: object) -> Any:
        """The value as the validator takes it (a list as a tuple, say); ValueError if it does not fit."""
        if self.adapter is None:
            raise ValueError(f"{self.name} cannot be set in a policy")
        try:
            text = json.dumps(value)
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        return self.adapter.validate_json(text)

    def file_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of its value in a policy file, with the default; None where a file cannot carry it."""
        if self.schema is None or self.adapter is None or self.required:
            return self.schema
        return {**self.schema, "default": self.adapter.dump_python(self.default, mode="json")}


@dataclasses.dataclass(frozen=True, slots=True)
class Available:
    """What `stillme validators` says of one validator; `problem` is set when it cannot be used."""

    name: str
    stages: tuple[Stage, ...]
    gate: str
    reasons: tuple[tuple[str, str], ...]
    parameters: tuple[Parameter, ...]
    origin: str
    summary: str
    problem: str | None = None


def validator_class(name: str) -> type[Any]:
    """The class of that name, built in or from an installed package; PolicyError says why there is none."""
    if name in MODULES:
        return _built_in_class(name)
    return _plugin_class(name, _entries())


def chain_with(plugins: Mapping[str, type[Any]]) -> list[Slot]:
    """The chain with these classes of other packages in place, by name: the order of a file changes nothing."""
    slots: list[Slot] = []
    for slot in CHAIN:
        if slot.target is not None:
            names = [name for name in sorted(plugins) if _stage(plugins[name]) == slot.stage]
            slots += [Slot(name, slot.stage) for name in names]
        slots.append(slot)
    return slots


def available() -> list[Available]:
    """Every validator that a policy may name, built-in ones first; one that cannot be used says why."""
    entries = sorted(_entries(), key=lambda entry: (entry.name, entry.origin))
    rows = [_listed(name, "built in", partial(_built_in_class, name)) for name in BUILT_IN]
    return rows + [_listed(entry.name, entry.origin, partial(_plugin_class, entry.name, entries)) for entry in entries]


def parameters(cls: type[Any]) -> dict[str, Parameter]:
    """What may be set on a validator of this class: the fields of the dataclass, but for the one its place sets."""
    set_by_place = {key for slot in CHAIN if slot.name == getattr(cls, "name", None) for key in slot.fixed}
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return {field.name: _parameter(cls, field) for field in fields if field.init and field.name not in set_by_place}


def summary(cls: type[Any]) -> str:
    """The first sentence of the docstring, or nothing where a dataclass only has its signature there."""
    doc = cls.__doc__ or ""
    if doc.startswith(f"{cls.__name__}("):
        return ""
    paragraph = " ".join(doc.strip().split("\n\n", 1)[0].split())
    head, stop, _ = paragraph.partition(". ")
    return head + stop.strip()


@contextmanager
def foreign_code(what: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes a PolicyError that begins with `what`."""
    try:
        yield
    except StillMeError:
        raise
    except Exception as error:  # a package we did not write may raise anything at all; nothing is swallowed here
        raise PolicyError(f"{what}: {type(error).__name__}: {shown(str(error), 200)}") from error


def _built_in_class(name: str) -> type[Any]:
    with foreign_code(f"the built-in validator {name} cannot be imported"):
        found: type[Any] = getattr(import_module(MODULES[name]), name)
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class _Registered:
    """A validator that an installed package registers, as it wrote it; nothing is checked until it is loaded."""

    name: str
    value: str
    origin: str

    def load(self) -> Any:
        return EntryPoint(self.name, self.value, GROUP).load()


def _entries() -> list[_Registered]:
    """What installed packages register. Each file is read by itself: one with nonsense in it hides no other."""
    seen: set[str] = set()
    entries: list[_Registered] = []
    for distribution in distributions():
        text = distribution.read_text("entry_points.txt") or ""
        name = str(distribution.metadata["Name"])
        if f"[{GROUP}]" in text and name not in seen:  # of two installed versions the first one is imported
            seen.add(name)
            entries += _section(text, f"{name} {distribution.version}")
    return entries


def _section(text: str, origin: str) -> Iterator[_Registered]:
    """What stands below our heading, in a file of `name = value` lines under `[headings]`."""
    is_ours = False
    for line in text.splitlines():
        said = line.partition("#")[0].strip()
        if said.startswith("["):
            is_ours = said == f"[{GROUP}]"
        name, sign, value = said.partition("=")
        if is_ours and sign:
            yield _Registered(name.strip(), value.strip(), origin)


def _plugin_class(name: str, entries: list[_Registered]) -> type[Any]:
    matching = [entry for entry in entries if entry.name == name]
    if not matching:
        raise PolicyError(_unknown(name, [entry.name for entry in entries]))
    origins = " and ".join(sorted(entry.origin for entry in matching))
    if name in MODULES:
        raise PolicyError(f"{origins} registers {name}, but that name is built in: it is not used")
    if len(matching) > 1:
        raise PolicyError(f"{name} is registered by {origins}: uninstall one of them")
    with foreign_code(f"validator {name} of {origins} cannot be imported ({matching[0].value})"):
        found = matching[0].load()
    if problem := _unfit(found, name):
        raise PolicyError(f"validator {name} of {origins} cannot be used: {problem}")
    return cast("type[Any]", found)


def _unfit(found: object, name: str) -> str | None:
    """What keeps an object that a package registered from being a validator, if anything does."""
    if not isinstance(found, type):
        return f"{shown(found)} is not a class"
    if not callable(getattr(found, "run", None)):
        return f"class {found.__name__} has no run method"
    if getattr(found, "name", None) != name:
        return f"the class calls itself {shown(getattr(found, 'name', None))}"
    if _stage(found) not in ("query", "draft"):
        return f"its stage must be query or draft, got {shown(_stage(found))}"
    return None


def _unknown(name: str, plugins: list[str]) -> str:
    names = [*BUILT_IN, *sorted(set(plugins))]
    guess = nearest(name, names)
    hint = f"did you mean {guess}? " if guess else ""
    return f"unknown validator {shown(name)}: {hint}valid names: {', '.join(names)}"


def _stage(cls: type[Any]) -> Any:
    return getattr(cls, "stage", "draft")


def _listed(name: str, origin: str, find: Callable[[], type[Any]]) -> Available:
    try:
        cls = find()
    except PolicyError as error:
        return Available(name, (), "", (), (), origin, "", str(error))
    stages = tuple(slot.stage for slot in CHAIN if slot.name == name) or (_stage(cls),)
    gates = tuple((str(reason), str(gate)) for reason, gate in getattr(cls, "gates", {}).items())
    gate = "/".join(sorted({gate for _, gate in gates}))
    return Available(name, stages, gate, gates, tuple(parameters(cls).values()), origin, summary(cls))


def _parameter(cls: type[Any], field: dataclasses.Field[Any]) -> Parameter:
    made = field.default_factory
    required = field.default is dataclasses.MISSING and made is dataclasses.MISSING
    default = None if required else field.default if made is dataclasses.MISSING else made()
    written = field.type if isinstance(field.type, str) else getattr(field.type, "__name__", str(field.type))
    try:
        annotation = _annotation(cls, field)
        written = _without_bounds(annotation) or written
        adapter = TypeAdapter(annotation, config=STRICT)
        schema = adapter.json_schema()
    except (PydanticUserError, NameError):  # a callable, a class of its own: nothing that YAML could carry
        return Parameter(field.name, written, default, required, None, None)
    return Parameter(field.name, written, default, required, schema, adapter)


def _without_bounds(annotation: Any) -> str | None:
    """The name of the type inside `Annotated`, None where there are no bounds to leave out; the schema has them."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return None
    bare = typing.get_args(annotation)[0]
    return bare.__name__ if isinstance(bare, type) else str(bare)


def _annotation(cls: type[Any], field: dataclasses.Field[Any]) -> Any:
    """The type of one field; resolved alone, since another may name what is imported for type checking only."""
    owner = next(base for base in cls.__mro__ if field.name in get_annotations(base))
    names = {**vars(typing), **vars(collections.abc), **vars(sys.modules[owner.__module__])}
    alone = SimpleNamespace(__annotations__={field.name: field.type})
    return get_type_hints(alone, globalns=names, include_extras=True)[field.name]
