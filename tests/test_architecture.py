"""The folder listing is the architecture: imports point one way, names agree, public names are complete."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

import stillme
from stillme.languages import word_rules
from stillme.reasons import Reason
from stillme.validators.registry import BUILT_IN

SOURCE = Path(stillme.__file__).parent
ROOT = Path(__file__).parents[1]
# Each room may import from the rooms before it. `__init__` only names what others may use.
FILES = sorted(SOURCE.rglob("*.py"))
ORDER = [
    "version",
    "lazy",
    "errors",
    "settings",
    "stopping",
    "reasons",
    "languages",
    "contract",
    "models",
    "text",
    "figures",
    "grounding",
    "conduct",
    "questions",
    "evidence",
    "llm",
    "judge",
    "validators",
    "redaction",
    "policy",
    "decision",
    "response",
    "catalogue",
    "verdict_cache",
    "limits",
    "verification",
    "guard",
    "storage",
    "audit",
    "batch",
    "evaluation",
    "pages",
    "chat",
    "console",
    "service",
    "adapters",
    "cli",
]


def room(module: str) -> str:
    """stillme.text.tokens → text."""
    return module.split(".")[1] if "." in module else "__init__"


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All that a file says, read once for every test."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.fixture(scope="module", autouse=True)
def _forget_what_was_read() -> Iterator[None]:
    """The trees of all files are let go with the last test here: they would slow down every collection of garbage."""
    yield
    nodes_of.cache_clear()


@cache
def modules(path: Path) -> frozenset[str]:
    """The modules of this package that a file imports when it runs; imports for type checkers only do not count."""
    guarded = {
        id(n)
        for block in nodes_of(path)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for n in ast.walk(block)
    }
    nodes = [n for n in nodes_of(path) if id(n) not in guarded]
    found = {n.module for n in nodes if isinstance(n, ast.ImportFrom) and n.module}
    found |= {a.name for n in nodes if isinstance(n, ast.Import) for a in n.names}
    return frozenset(module for module in found if module.split(".")[0] == "stillme")


def imports(path: Path) -> set[str]:
    """The rooms that those modules stand in."""
    return set(map(room, modules(path)))


def test_imports_point_one_way() -> None:
    """A room imports only from itself and from rooms before it."""

    def is_backward(path: Path) -> bool:
        own = path.relative_to(SOURCE).with_suffix("").parts[0]
        allowed = ORDER[: ORDER.index(own) + 1] if own in ORDER else []
        return own not in ("__init__", "__main__") and not imports(path) <= set(allowed)

    assert [str(path.relative_to(SOURCE)) for path in FILES if is_backward(path)] == []


def test_no_two_files_of_a_package_import_each_other() -> None:
    """The files of a package can be read in an order in which each needs only what came before."""
    for folder in sorted({path.parent.name for path in FILES if path.parent.parent == SOURCE}):
        package = f"stillme.{folder}."
        files = [path for path in (SOURCE / folder).glob("*.py") if path.stem != "__init__"]
        needs = {
            path.stem: {
                module.removeprefix(package).split(".")[0] for module in modules(path) if module.startswith(package)
            }
            & {each.stem for each in files}
            for path in files
        }

        assert sorted(TopologicalSorter(needs).static_order()) == sorted(needs)


def test_every_room_is_in_the_order() -> None:
    """A new module has to say where it stands."""
    rooms = {p.relative_to(SOURCE).with_suffix("").parts[0] for p in FILES}

    assert rooms - {"__init__", "__main__"} == set(ORDER)


def test_importing_the_package_loads_nothing_heavy() -> None:
    """The package itself imports no third-party code until a name is used."""
    assert imports(SOURCE / "__init__.py") == {"version"}


def test_public_names_are_sorted_complete_and_importable() -> None:
    """`__all__` is what `from stillme import *` gives."""
    assert stillme.__all__ == sorted(stillme.__all__)
    assert all(getattr(stillme, name) is not None for name in stillme.__all__)


def test_every_module_says_what_it_exports() -> None:
    """`__all__` of every module is sorted as ruff sorts it (constants, classes, the rest) and names what exists."""

    def is_wrong(path: Path) -> bool:
        parts = [part for part in path.relative_to(SOURCE).with_suffix("").parts if part != "__init__"]
        try:
            module = importlib.import_module(".".join(("stillme", *parts)))
        except (
            ModuleNotFoundError
        ) as missing:  # an adapter whose framework is not here; `make test-clients` has them all
            return str(missing.name).startswith("stillme")
        exported = list(getattr(module, "__all__", []))
        is_sorted = exported == sorted(exported, key=lambda n: (not n.isupper(), not n[0].isupper(), n))
        return not is_sorted or not all(hasattr(module, item) for item in exported)

    assert [str(path.relative_to(SOURCE)) for path in FILES if path.stem != "__main__" and is_wrong(path)] == []


def places_of(validator: str) -> list[Path]:
    """The files that carry the name of a validator."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", validator).lower()
    return [
        SOURCE / "validators" / f"{snake}.py",
        ROOT / "tests" / "validators" / f"test_{snake}.py",
        ROOT / "docs" / "validators" / f"{validator}.md",
    ]


def test_one_name_in_five_places() -> None:
    """Class, file, policy key, docs page and test file of a validator carry one name."""
    assert [str(path) for name in BUILT_IN for path in places_of(name) if not path.is_file()] == []


@pytest.mark.parametrize("language", ["en", "vi"])
def test_every_reason_has_words_in_both_languages(language: str) -> None:
    """A code that a user may see can be said in words."""
    words = yaml.safe_load((SOURCE / "languages" / language / "wording.yaml").read_text(encoding="utf-8"))

    assert set(words["reasons"]) - {"unknown"} == {reason.value for reason in Reason}


def test_both_languages_have_the_same_wording_keys() -> None:
    """What is worded in one language is worded in the other."""
    files = [
        yaml.safe_load((SOURCE / "languages" / lang / "wording.yaml").read_text(encoding="utf-8"))
        for lang in ("en", "vi")
    ]
    shapes = [{(a, b) for a, section in f.items() if isinstance(section, dict) for b in section} for f in files]

    assert shapes[0] == shapes[1]


LETTERS = "ăâđêôơưàáảãạằắẳẵặầấẩẫậèéẻẽẹềếểễệìíỉĩịòóỏõọồốổỗộờớởỡợùúủũụừứửữựỳýỷỹỵ"
VIETNAMESE = re.compile(
    f"[^\\W\\d_][{LETTERS}]|[{LETTERS}][^\\W\\d_]",
    re.IGNORECASE,
)
SPEAKS_A_LANGUAGE = {
    "contract.py": "the codes that a caller may send are part of the contract",
    "policy/sections.py": "the keys of `messages` in a policy file are part of its schema",
    "service/verify.py": "the choices of a query parameter are part of the API",
    "service/chat_stream.py": "the choices of a field are part of the API",
    "service/openai/endpoint.py": "the choices of a field are part of the API",
    "chat/pipeline.py": "the choices of a field are part of the API",
    "validators/factual_hallucination_validator.py": "the keys of a parameter are part of the policy schema",
    "text/tokens.py": "ranges of Latin letters",
    "policy/reader.py": "the words of YAML for true and false",
    "evaluation/runs/comparison.py": "the names of the sides of a comparison",
    "evaluation/worlds/figures.py": "the languages of the shipped cases",
    "cli/evaluation/worlds.py": "the languages of the shipped cases",
    "service/metrics.py": "the names of the labels of a metric",
    "pages/case_study.py": "the page is written in English",
    "pages/packet.py": "the page is written in the languages of its packet.yaml",
}
"""Files outside `languages/` that hold a word or a code of a language, each with its reason."""


def literals(path: Path) -> Iterator[ast.Constant]:
    """The strings of a module that are no docstrings."""
    said = {id(node.value) for node in nodes_of(path) if isinstance(node, ast.Expr)}
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node


def word_lists(path: Path) -> Iterator[list[str]]:
    """The collections of strings that a module writes out, and the rows that it splits."""
    for node in nodes_of(path):
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            yield [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
        elif isinstance(node, ast.Attribute) and node.attr == "split" and isinstance(node.value, ast.Constant):
            yield str(node.value.value).split()


def test_words_of_a_language_stand_in_its_folder() -> None:
    """Outside `languages/` no module holds a Vietnamese word, asks for a language by its code, or lists little words of English."""
    stop = word_rules().stop
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        if name.startswith("languages/"):
            continue
        texts = {str(node.value) for node in literals(path)}
        spoken: set[str] = {text for text in texts if VIETNAMESE.search(text) or text in ("en", "vi")}
        lists = [words for words in word_lists(path) if len(words) > 2]
        spoken |= {" ".join(words) for words in lists if 2 * sum(word in stop for word in words) > len(words)}
        if spoken:
            found[name] = spoken

    assert {name: words for name, words in found.items() if name not in SPEAKS_A_LANGUAGE} == {}
    assert set(SPEAKS_A_LANGUAGE) <= set(found), "an exception that is not needed any more"


TESTED_BY: dict[str, str] = {
    # rows of the catalogue, tested beside the tables that show them
    "catalogue.py": "cli/test_listing.py",
    # what the service does over HTTP is tested over HTTP
    "chat/pipeline.py": "service/test_chat.py",
    "service/app.py": "service/test_verify.py",
    "service/bodies.py": "service/test_bounds.py",
    "service/connections.py": "service/test_bounds.py",
    "service/metrics.py": "service/test_operation.py",
    "service/middleware.py": "service/test_bounds.py",
    "service/openai/endpoint.py": "service/openai/test_chat_completions.py",
    "service/openai/exchange.py": "service/openai/test_chat_completions.py",
    "service/openai/guarded.py": "service/openai/test_chat_completions.py",
    "service/openai/outgoing.py": "service/openai/test_chat_completions.py",
    "service/openapi.py": "service/test_fuzzing.py",
    "service/problems.py": "service/test_verify.py",
    "service/readiness.py": "service/test_operation.py",
    "service/settings.py": "test_settings.py",
    "service/telemetry.py": "service/test_operation.py",
    # parts of the reading of one text, tested by what the whole makes of it
    "evidence.py": "test_guard.py",
    "grounding/objections/base.py": "grounding/objections/test_figures.py",
    "grounding/repetition.py": "validators/test_verbosity_validator.py",
    "verification/verdict.py": "verification/test_pipeline.py",
    # what both engines do is one table of tests, and each runs on both
    "storage/audit/database.py": "audit/test_store.py",
    "storage/knowledge/postgres.py": "storage/knowledge/test_engines.py",
    "storage/knowledge/sqlite.py": "storage/knowledge/test_engines.py",
    "storage/knowledge/base.py": "storage/knowledge/test_engines.py",
    "storage/knowledge/store.py": "storage/knowledge/test_engines.py",
    "storage/postgres.py": "storage/audit/test_postgres.py",
    # against the real packages, by make test-clients
    "adapters/deepeval.py": "clients/test_deepeval.py",
    "adapters/haystack.py": "clients/test_haystack.py",
    "adapters/langchain.py": "clients/test_langchain.py",
    "adapters/langfuse.py": "clients/test_observability.py",
    "adapters/litellm.py": "clients/test_litellm.py",
    "adapters/llama_index.py": "clients/test_llama_index.py",
    "adapters/mcp.py": "clients/test_mcp.py",
    "adapters/openai_agents.py": "clients/test_openai_agents.py",
    "adapters/phoenix.py": "clients/test_observability.py",
    "adapters/ragas.py": "clients/test_ragas.py",
    "batch/on_ray.py": "clients/test_ray.py",
    "cli/mcp.py": "clients/test_mcp.py",
    # parts of one thing, tested as that thing
    "adapters/fastapi.py": "adapters/test_asgi.py",
    "audit/signatures.py": "audit/test_search.py",
    "audit/traffic.py": "console/test_overview.py",
    "batch/columns.py": "batch/test_rows.py",
    "batch/forms.py": "batch/test_rows.py",
    "batch/heading.py": "batch/test_run.py",
    "batch/judging.py": "batch/test_run.py",
    "batch/report.py": "batch/test_run.py",
    "console/account.py": "console/test_shell.py",
    "console/rendering.py": "console/test_shell.py",
    "console/rollout.py": "console/test_overview.py",
    "console/routes.py": "console/test_shell.py",
    "console/verdict_view.py": "console/test_try_it.py",
    "console/words.py": "console/test_shell.py",
    "service/chat_stream.py": "console/test_chat.py",
    "service/records.py": "console/test_traces.py",
    "service/documents.py": "console/test_chat.py",
    "service/inside.py": "console/test_shell.py",
    "service/policies.py": "console/test_policy.py",
    "storage/side_tables.py": "console/test_shell.py",
    "service/openai/answer_sources.py": "service/openai/test_refining.py",
    "service/openai/answering.py": "service/openai/test_chat_completions.py",
    "service/openai/embeddings.py": "service/openai/test_models.py",
    "service/openai/events.py": "service/openai/test_stream_response.py",
    "service/openai/evidence/block.py": "service/openai/evidence/test_formats.py",
    "service/openai/evidence/headed.py": "service/openai/evidence/test_formats.py",
    "service/openai/evidence/json_lists.py": "service/openai/evidence/test_formats.py",
    "service/openai/evidence/numbered.py": "service/openai/evidence/test_formats.py",
    "service/openai/evidence/words.py": "service/openai/evidence/test_formats.py",
    "service/openai/response_requests.py": "service/openai/test_responses.py",
    "service/openai/routes.py": "service/test_error_shapes.py",
    "service/overview.py": "console/test_overview.py",
    "service/reviews.py": "console/test_review.py",
    "service/sessions.py": "console/test_shell.py",
    "service/traces.py": "console/test_traces.py",
    "service/trial.py": "console/test_try_it.py",
}
"""Modules without a test file of their name, each with the one that tests it; the list only becomes shorter."""


def has_behaviour(path: Path) -> bool:
    """Whether a module has a function that does something; what a protocol declares does nothing."""
    functions = (node for node in nodes_of(path) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    return any(
        not (isinstance(step, ast.Expr) and isinstance(step.value, ast.Constant))
        for function in functions
        for step in function.body
    )


def test_every_module_with_behaviour_has_a_test_file_of_its_name() -> None:
    """`room/part.py` is tested in `room/test_part.py`, or is named above with the file that tests it."""
    tests = ROOT / "tests"
    modules_tested = [path.relative_to(SOURCE) for path in FILES if path.stem not in ("__init__", "__main__")]
    without = {
        path.as_posix()
        for path in modules_tested
        if has_behaviour(SOURCE / path) and not (tests / path.parent / f"test_{path.stem}.py").is_file()
    }

    assert sorted(without - TESTED_BY.keys()) == []
    assert sorted(TESTED_BY.keys() - without) == [], "an exception that is not needed any more"
    assert [name for name in TESTED_BY.values() if not (tests / name).is_file()] == []


def test_the_trace_id_has_one_name() -> None:
    """`validator_trace_id`, as the verdict has it, in every answer, header and span; what is Langfuse's or LiteLLM's own has theirs."""
    other = re.compile(r"(?<![a-z_])trace_id\b|x-stillme-trace-id")
    named = [str(path.relative_to(SOURCE)) for path in FILES if other.search(path.read_text(encoding="utf-8"))]

    assert named == ["adapters/langfuse.py"]


def test_one_broad_except_in_the_package() -> None:
    """Only the chain turns any exception into a finding."""
    broad = [
        str(path.relative_to(SOURCE))
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id in ("Exception", "BaseException")))
        and not any(isinstance(n, ast.Raise) for n in ast.walk(node))
    ]

    assert broad == ["validators/chain.py"]


def test_no_pattern_can_backtrack() -> None:
    """Every repetition in a pattern is possessive or bounded, or its loop cannot match what follows it."""
    risky = re.compile(r"\((?:[^()\\]|\\.)*[+*](?![+])[^()]*\)[+*](?![+])")
    found = [
        f"{path.relative_to(SOURCE)}: {node.value}"
        for path in FILES
        for node in nodes_of(path)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and risky.search(node.value)
        and "\n" not in node.value
    ]

    assert found == []


def test_the_tests_share_one_postgresql_server() -> None:
    """Whoever needs a server asks for the fixture of all tests; none starts another."""
    tests = ROOT / "tests"
    starting = [
        p for p in tests.rglob("*.py") if "get_server(" in p.read_text(encoding="utf-8").replace('"get_server("', "")
    ]

    assert [str(p.relative_to(tests)) for p in starting] == ["conftest.py"]
