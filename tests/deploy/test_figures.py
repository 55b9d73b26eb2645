"""The dashboard and the alert rules ask for metrics and labels that the service exports, and for no others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from stillme import Guard
from stillme.guard import Occurrence
from stillme.reasons import Decision
from stillme.service.metrics import Metrics

DEPLOY = Path(__file__).parents[2] / "deploy"
OF_PROMETHEUS = {"job", "instance", "le"}
VALUES = {
    ("stillme_verdicts_total", "decision"): {each.value for each in Decision},
    ("stillme_findings_total", "outcome"): {"passed", "flagged", "skipped", "errored"},
    ("stillme_policy_reloads_total", "outcome"): {"reloaded", "failed", "recovered"},
}
SELECTOR = re.compile(r"\b(stillme_\w++)(?:\{([^}]*+)\})?")
MATCHER = re.compile(r"(\w++)\s*+(=~|!~|!=|=)\s*+\"([^\"]*+)\"")


@pytest.fixture(scope="module")
def exported() -> dict[str, set[str]]:
    """The labels of every series, from figures in which everything has happened once."""
    metrics = Metrics()
    read = {"source_id": "a", "text": "Gear is covered for a decade.", "similarity": 0.9}
    asked = {"query": "How long is gear covered?", "draft_answer": "Ten years at least.", "retrieved_context": [read]}
    occurrence = Guard().examine(asked)  # with the shipped model, whose caches are counted
    metrics.verdicts([occurrence if isinstance(occurrence, Occurrence) else occurrence[0]])
    metrics.request("POST", "/v1/verify", 503, 0.1)
    metrics.opened(1)
    metrics.reload("failed", "")
    metrics.mode_changed("verify", "monitor", "warn")
    metrics.model("upstream", "answered")
    families = text_string_to_metric_families(metrics.text().decode())
    found: dict[str, set[str]] = {}
    for sample in (sample for family in families for sample in family.samples):
        found.setdefault(sample.name, set()).update(sample.labels)
    return found


def alerts() -> Iterator[tuple[str, str]]:
    """Every rule with its expression."""
    for group in yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"]:
        yield from ((rule["alert"], rule["expr"]) for rule in group["rules"])


def panels() -> Iterator[tuple[str, str]]:
    """Every panel with its expressions."""
    dashboard = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])


EXPRESSIONS = [*alerts(), *panels()]


@pytest.mark.parametrize(("name", "expression"), EXPRESSIONS)
def test_what_is_asked_for_is_exported(exported: dict[str, set[str]], name: str, expression: str) -> None:
    """A metric by its name, its labels, and values that these labels can have."""
    asked = SELECTOR.findall(expression)

    assert asked or "up{" in expression, name
    for metric, matchers in asked:
        assert metric in exported, f"{name} asks for {metric}"
        for label, sign, value in MATCHER.findall(matchers):
            assert label in exported[metric] | OF_PROMETHEUS, f"{name}: {metric} has no label {label}"
            known = VALUES.get((metric, label))
            assert known is None or sign != "=" or value in known, f"{name}: {label} is never {value}"
    for labels in re.findall(r"by \(([^)]*+)\)", expression):
        wanted = {label.strip() for label in labels.split(",")} - OF_PROMETHEUS
        assert wanted <= set().union(*(exported[metric] for metric, _ in asked)), name


def test_every_metric_is_on_the_dashboard(exported: dict[str, set[str]]) -> None:
    """But for when it was created, and the parts of a histogram that its quantiles do not need."""
    shown = {metric for _, expression in panels() for metric, _ in SELECTOR.findall(expression)}

    families = {
        name.removesuffix(end) for name in exported for end in ("_bucket", "_sum", "_count") if name.endswith(end)
    }
    plain = {n for n in exported if not n.endswith(("_created", "_bucket", "_sum", "_count"))}
    assert sorted(plain - shown - {"stillme_errors_total"}) == []
    assert sorted(f for f in families if not any(s.startswith(f"{f}_") for s in shown)) == []


def test_every_alert_says_what_is_wrong_and_how_urgent_it_is() -> None:
    """Names are told once."""
    rules = yaml.safe_load((DEPLOY / "alerts.yaml").read_text(encoding="utf-8"))["groups"][0]["rules"]

    assert all(rule["annotations"]["summary"] and rule["labels"]["severity"] in ("page", "ticket") for rule in rules)
    assert len({rule["alert"] for rule in rules}) == len(rules)
