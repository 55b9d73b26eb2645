"""What is deployed is confined, names settings that exist, and passes the linters of its kind.

A linter that is not installed is told and its test left out: `make test-deploy` installs them all.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.test_figures import EXPRESSIONS

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm" / "stillme"
ELSEWHERE = {"STILLME_CONFIG", "STILLME_AUDIT_KEY_FILE"}
UNPINNED = ["DL3006", "DL3008", "DL3013"]
"""Rules on pinned images and packages: constraints.txt pins ours, and the base image is to follow its security updates."""


def tool(name: str) -> str:
    """The command of that name, beside this Python or on the PATH."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: make test-deploy")
    return found


def run(*command: str) -> str:
    """What a command prints; a failure is shown."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=DEPLOY)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rendered(**values: str) -> list[dict[str, Any]]:
    """The objects of the chart."""
    settings = [part for name, value in values.items() for part in ("--set-json", f"{name}={value}")]
    text = run(tool("helm"), "template", "guard", str(CHART), *settings)
    return [each for each in yaml.safe_load_all(text) if each]


def test_every_variable_that_is_set_is_one_that_is_read() -> None:
    """In the image, the unit, compose and the chart; a typing error would go unnoticed."""
    settings = importlib.import_module("stillme.settings")
    service, chat = (importlib.import_module(f"stillme.{room}.settings") for room in ("service", "chat"))
    rows = settings.rows(service.ServiceSettings, chat.ChatSettings)
    known = {row.variable + end for row in rows for end in ("", "_FILE")} | ELSEWHERE

    files = [path for path in DEPLOY.rglob("*") if path.is_file() and path.suffix not in (".json", ".md")]
    named = {name for path in files for name in re.findall(r"\bSTILLME_\w++", path.read_text(encoding="utf-8"))}

    assert sorted(named - known) == []


def test_the_image_is_not_root_and_writes_to_one_folder() -> None:
    """Its last user is a number, which Kubernetes can tell from root."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")

    assert re.findall(r"^USER (\S+)", text, re.MULTILINE)[-1] == "10001:10001"
    assert re.findall(r"^VOLUME (.+)$", text, re.MULTILINE) == ['["/data"]']


def test_compose_confines_the_service_and_keeps_secrets_in_files() -> None:
    """No password stands in the environment of a container."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    service = compose["services"]["stillme"]

    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    for each in compose["services"].values():
        assert set(each["secrets"]) <= compose["secrets"].keys()
        assert not [name for name in each["environment"] if "PASSWORD" in name and not name.endswith("_FILE")]


def test_the_dockerfile_passes_hadolint() -> None:
    """Every rule but those on pinned versions."""
    run(tool("hadolint"), *(f"--ignore={rule}" for rule in UNPINNED), "Dockerfile")


def test_yaml_passes_yamllint() -> None:
    """Long lines and braces are allowed; templates are no YAML before they are rendered."""
    rules = (
        "{extends: default, rules: {line-length: disable, document-start: disable, braces: disable, comments: disable}}"
    )
    run(tool("yamllint"), "--strict", "-d", rules, "compose.yaml", "alerts.yaml", str(CHART / "values.yaml"))


def test_the_unit_passes_systemd_analyze(tmp_path: Path) -> None:
    """With the command that it starts put in the place of the one that is installed."""
    unit = tmp_path / "stillme.service"
    text = (DEPLOY / "stillme.service").read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/stillme/bin/stillme", "/bin/true"), encoding="utf-8")

    done = subprocess.run(
        [tool("systemd-analyze"), "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )

    assert (done.returncode, [line for line in done.stderr.splitlines() if "stillme.service" in line]) == (0, [])


def test_the_chart_passes_helm_lint() -> None:
    """Warnings count."""
    run(tool("helm"), "lint", "--strict", str(CHART))


def test_the_chart_renders_a_confined_deployment() -> None:
    """Not root, a read-only root, no token, no capability; settings and policy arrive as files that the service reads."""
    objects = {
        each["kind"]: each
        for each in rendered(config='{"STILLME_MODE": "warn"}', policy='"mode: warn\\n"', replicas="3")
    }

    pod = objects["Deployment"]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert objects["Deployment"]["spec"]["replicas"] == 3
    assert (pod["automountServiceAccountToken"], pod["securityContext"]["runAsNonRoot"]) == (False, True)
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    files = objects["ConfigMap"]["data"]
    assert (yaml.safe_load(files["stillme.yaml"]), yaml.safe_load(files["policy.yaml"])) == (
        {"STILLME_MODE": "warn"},
        {"mode": "warn"},
    )
    named = {each["name"]: each["value"] for each in container["env"]}
    assert named["STILLME_POLICY"] == "/etc/stillme/policy.yaml"


def test_the_chart_renders_what_kubernetes_takes() -> None:
    """Each object against the schema of its kind, unknown fields refused."""
    validate = pytest.importorskip("kubernetes_validate", reason="make test-deploy installs it")

    for each in rendered():
        validate.validate(each, validate.latest_version(), strict=True)


@pytest.mark.parametrize(("name", "expression"), EXPRESSIONS)
def test_every_expression_is_promql(name: str, expression: str) -> None:
    """The variables of Grafana stand for a duration and a job."""
    promql = pytest.importorskip("promql_parser", reason="make test-deploy installs it")

    assert promql.parse(expression.replace("$__rate_interval", "5m").replace("$job", "stillme")), name


def test_the_dashboard_has_panels_that_do_not_overlap() -> None:
    """Each has an id and a place of its own."""
    panels = json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))["panels"]
    squares = [
        (x, y)
        for panel in panels
        for place in [panel["gridPos"]]
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]

    assert len(squares) == len(set(squares))
    assert len({panel["id"] for panel in panels}) == len(panels)
