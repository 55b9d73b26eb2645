"""The policy itself: settings merged over a preset, checked, and turned into the validators it asks for.

`Policy.load` raises one PolicyError with all that is wrong; `Policy.build` gives the validators.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, Field, ValidationError

from stillme.contract import Mode
from stillme.errors import PolicyError
from stillme.languages import DEFAULT, is_served
from stillme.policy.instances import built, fingerprint_of, plain
from stillme.policy.problems import PROBLEMS_SHOWN, PolicyProblem, misfits, validator_problems, worded
from stillme.policy.reader import PRESET_FILES, PRESETS, PolicySource, Preset, file_bytes, parsed
from stillme.policy.sections import (
    STRICT,
    Audit,
    Behavior,
    Calibration,
    Confidence,
    Grounding,
    Limits,
    Message,
    Messages,
    Output,
    Rollout,
    Thresholds,
    ValidatorOptions,
)
from stillme.reasons import Gate
from stillme.validators.base import declared
from stillme.validators.chain import ConfiguredValidator
from stillme.validators.registry import BUILT_IN, Slot, chain_with, parameters, validator_class

__all__ = ["Policy", "policy_from"]

# Line breaks that YAML knows besides the usual ones: written as they are, they would be read back as something else.
ODD_BREAKS = frozenset("\x85\u2028\u2029")
MessageKind = Literal["refusal", "clarify", "disclaimer"]
IDENTITY_VALIDATORS = frozenset({"EgoNeutralityValidator", "IdentityCheckValidator"})


class _Written(yaml.SafeDumper):
    """Writes a text with an odd line break in double quotes, where it is escaped."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if ODD_BREAKS.isdisjoint(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Written.add_representer(str, _text)


class Policy(BaseModel):
    """Everything an operator can decide, with the values of the preset `lite` where nothing else is said."""

    model_config = STRICT
    # Outside the fields, so that a copy or a pickle does not carry what was computed for the original.
    __slots__ = ("_digest", "_places")

    mode: Mode = Field("monitor", description="monitor delivers, warn adds a disclaimer, enforce acts on the decision")
    extends: Preset = Field("lite", description="the preset whose values hold where this file says nothing")
    thresholds: Thresholds = Field(default_factory=Thresholds)
    behavior: Behavior = Field(default_factory=Behavior)
    grounding: Grounding = Field(default_factory=Grounding)
    output: Output = Field(default_factory=Output)
    validators: dict[str, ValidatorOptions] = Field(
        {}, description="options and parameters of single validators, by name"
    )
    messages: Messages = Field(default_factory=Messages)
    limits: Limits = Field(default_factory=Limits)
    on_error: Literal["refuse", "deliver"] = Field(
        "refuse", description="what a crashed or timed-out hard gate leads to"
    )
    confidence: Confidence = Field(default_factory=Confidence)
    audit: Audit = Field(default_factory=Audit)
    rollout: Rollout = Field(default_factory=Rollout)
    calibration: Calibration | None = Field(None, description="where thresholds come from; null: nowhere")

    def __init__(self, /, **settings: Any) -> None:
        """The preset with these settings changed, checked as `load` checks a file."""
        _fill(self, PolicySource(settings))

    @classmethod
    def load(cls, source: Policy | Mapping[str, Any] | str | os.PathLike[str] | None = None) -> Policy:
        """The policy of a YAML file, a preset name, a mapping, or `lite` for None; else a PolicyError."""
        if isinstance(source, Policy):
            return source
        if isinstance(source, Mapping):
            return policy_from(PolicySource(source))
        if source is None or (isinstance(source, str) and source in PRESETS):
            return _preset(source or "lite")
        if isinstance(source, str | os.PathLike):
            path = Path(source)
            return policy_from(parsed(file_bytes(path), path.name))
        raise PolicyError(f"a policy is a file, one of {', '.join(PRESETS)}, or a mapping, got {type(source).__name__}")

    def with_changes(self, changes: Mapping[str, Any]) -> Policy:
        """This policy with some settings replaced, for a command-line flag or a comparison; checked like a file."""
        if "extends" in changes:
            raise PolicyError("extends cannot be changed on a loaded policy: load it from the other preset")
        return policy_from(
            PolicySource(_merged(self.model_dump(mode="json", exclude_unset=True), _without_empty_sections(changes)))
        )

    def message(self, kind: MessageKind, language: str) -> str | None:
        """The operator's own wording in that language, in the default one where it is not served; None: use the built-in one."""
        message: Message | None = getattr(self.messages, kind)
        if message is None:
            return None
        own: str | None = getattr(message, language if is_served(language) else DEFAULT, None)
        return own

    @property
    def hash(self) -> str:
        """SHA-256 of what is in force: the same for any order of keys and for defaults written out or left out."""
        known: str | None = getattr(self, "_digest", None)
        if known is None:
            known = hashlib.sha256(self._canonical().encode("ascii")).hexdigest()
            object.__setattr__(self, "_digest", known)
        return known

    def build(self, added: Iterable[Any] = ()) -> list[ConfiguredValidator]:
        """The enabled validators in chain order, always the same instances; `added` ones come before EthicsAdapter."""
        extra = list(added)
        chain: list[ConfiguredValidator] = []
        for slot, configured in self._all_places():
            if slot.target is not None:
                chain += [self._configured(validator) for validator in extra if declared(validator).stage == slot.stage]
            if configured is not None:
                chain.append(configured)
        return chain

    def to_yaml(self) -> str:
        """The policy in force, every value written out, as a file that loads to the same policy."""
        settings = self.model_dump(mode="json", exclude={"extends", "validators"})
        settings["validators"] = {slot.name: self._written(slot, configured) for slot, configured in self._all_places()}
        body = yaml.dump(settings, Dumper=_Written, sort_keys=False, allow_unicode=True, width=120)
        return f"# from preset {self.extends}, sha256 {self.hash}\n{body}"

    def _all_places(self) -> tuple[_Place, ...]:
        known: tuple[_Place, ...] | None = getattr(self, "_places", None)
        if known is None:
            with _BUILDING:  # two threads must not get different instances
                known = getattr(self, "_places", None) or tuple(self._filled_places())
                object.__setattr__(self, "_places", known)
        return known

    def _filled_places(self) -> Iterator[_Place]:
        plugins = {name: validator_class(name) for name in self.validators if name not in BUILT_IN}
        for slot in chain_with(plugins):
            if not self._is_enabled(slot.name):
                yield slot, None
                continue
            cls = plugins.get(slot.name) or validator_class(slot.name)
            yield slot, self._configured(built(cls, slot, self._given(slot.name), self._derived(slot.name)))

    def _is_enabled(self, name: str) -> bool:
        options = self.validators.get(name)
        if options is not None and options.enabled is not None:
            return options.enabled
        return self.behavior.enforce_anti_anthropomorphism or name not in IDENTITY_VALIDATORS

    def _given(self, name: str) -> dict[str, Any]:
        """What the policy says under the name of that validator, options and parameters."""
        options = self.validators.get(name)
        if options is None:
            return {}
        common = {key: getattr(options, key) for key in options.model_fields_set & set(ValidatorOptions.model_fields)}
        return common | (options.model_extra or {})

    def _derived(self, name: str) -> dict[str, Any]:
        """The parameters that other sections set on that validator."""
        if name == "NumericUnitsBasic" and not self._is_enabled("CitationRequired"):
            return {"warn_uncited": "used"}
        if name != "SourceRequired":
            return {}
        return {key: getattr(self.thresholds, key) for key in Thresholds.model_fields}

    def _configured(self, validator: Any) -> ConfiguredValidator:
        name = declared(validator).name
        is_softened = name == "SourceRequired" and not self.behavior.enforce_no_source_refusal
        options = self.validators.get(name)
        if options is None:
            return ConfiguredValidator(validator, Gate.SOFT if is_softened else None)
        gate = Gate(options.gate) if options.gate else Gate.SOFT if is_softened else None
        return ConfiguredValidator(validator, gate, options.timeout_s, options.repair)

    def _canonical(self) -> str:
        # What steers a rollout judges no request: two policies that differ in nothing else are the same policy.
        settings = self.model_dump(mode="json", exclude={"extends", "validators", "rollout"})
        if self.calibration is None:
            del settings["calibration"]
        settings["validators"] = [fingerprint_of(configured) for configured in self.build()]
        return json.dumps(settings, sort_keys=True, separators=(",", ":"), default=plain)

    def _written(self, slot: Slot, configured: ConfiguredValidator | None) -> dict[str, Any]:
        """The options of one validator; what `thresholds` fills in stays out, or a change there would do nothing."""
        if configured is None:
            return {"enabled": False}
        written: dict[str, Any] = {}
        if slot.name in IDENTITY_VALIDATORS and not self.behavior.enforce_anti_anthropomorphism:
            written["enabled"] = True
        fingerprint = fingerprint_of(configured)
        gates = set(fingerprint["gates"].values())
        if len(gates) == 1:
            written["gate"] = str(gates.pop())
        written |= {"timeout_s": configured.timeout_s, "repair": configured.repair}
        derived = self._derived(slot.name).items()
        for name, parameter in parameters(type(configured.validator)).items():
            value = fingerprint["parameters"][name]
            if parameter.adapter is not None and (name, value) not in derived:
                written[name] = parameter.adapter.dump_python(value, mode="json")
        return written


SECTIONS = frozenset(Policy.model_fields) - {"mode", "on_error"}
_Place = tuple[Slot, ConfiguredValidator | None]
_BUILDING = threading.RLock()


def policy_from(source: PolicySource) -> Policy:
    """The policy that the source describes, or a PolicyError with every problem it has."""
    policy = Policy.__new__(Policy)
    _fill(policy, source)
    return policy


@cache
def _preset(name: str) -> Policy:
    return policy_from(PolicySource({"extends": name}))


@cache
def _preset_settings(name: str) -> dict[str, Any]:
    """The settings of a preset file, merged over those of the preset it extends."""
    path = PRESET_FILES / f"{name}.yaml"
    settings = parsed(file_bytes(path), path.name).settings
    return _merged(_preset_settings(settings["extends"]) if "extends" in settings else {}, settings)


def _fill(policy: Policy, source: PolicySource) -> None:
    """Make `policy` what the source says, or raise with every problem it has."""
    settings = _without_empty_sections(source.settings)
    extends = settings.get("extends")
    base = _preset_settings(extends if isinstance(extends, str) and extends in PRESETS else "lite")
    merged = _merged(base, settings)
    problems: list[PolicyProblem] = []
    try:
        Policy.__pydantic_validator__.validate_python(merged, self_instance=policy)
    except ValidationError as error:
        problems += misfits(error, source, Policy.model_json_schema())
    problems += islice(validator_problems(merged.get("validators")), PROBLEMS_SHOWN + 1)
    if problems:
        raise PolicyError(worded(problems, source))


def _without_empty_sections(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings without headings that have nothing below them, as when every line of a section is commented out."""
    kept = {key: value for key, value in settings.items() if value is not None or key not in SECTIONS}
    validators = kept.get("validators")
    if isinstance(validators, Mapping):
        kept["validators"] = {name: {} if options is None else options for name, options in validators.items()}
    return kept


def _merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in changes.items():
        below = base.get(key)
        merged[key] = _merged(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged
