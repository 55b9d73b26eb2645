"""The assertion of promptfoo, called as promptfoo calls it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stillme.adapters.promptfoo import get_assert
from stillme.errors import InputError

RIGHT = "Thẻ thư viện có hạn hai năm."


@pytest.fixture(autouse=True)
def policy(tmp_path: Path) -> str:
    """Rules alone."""
    file = tmp_path / "rules.yaml"
    file.write_text("grounding: {model: none}\n", encoding="utf-8")
    return str(file)


def asked(policy: str, output: str, **changes: Any) -> dict[str, Any]:
    """What the assertion says of an output."""
    variables = {"query": "Thẻ thư viện có hạn bao lâu?", "context": RIGHT, **changes}
    return get_assert(output, {"vars": variables, "config": {"policy": policy}})


def test_a_supported_answer_passes_and_a_wrong_one_says_why(policy: str) -> None:
    """The score is the share of supported claims."""
    right, wrong = asked(policy, f"{RIGHT} [1]"), asked(policy, "Thẻ thư viện có hạn năm năm [1].")

    assert (right["pass"], right["score"]) == (True, 1.0)
    assert (wrong["pass"], wrong["score"]) == (False, 0.0)
    assert "contradicted_claim" in wrong["reason"]


def test_passages_may_be_a_list_of_texts_or_objects(policy: str) -> None:
    """Their ids are those of the sources."""
    passages = ["Giờ mở cửa: 8 giờ.", {"source_id": "thẻ", "text": RIGHT, "similarity": 0.9}]

    assert asked(policy, f"{RIGHT} [2]", context=passages)["pass"]


def test_what_was_not_judged_does_not_pass(policy: str) -> None:
    """An answer over the limits is neither a pass nor silent."""
    found = asked(policy, "x" * 70_000)

    assert (found["pass"], found["score"]) == (False, 0.0)
    assert "draft_chars" in found["reason"]


def test_a_variable_that_is_missing_is_named(policy: str) -> None:
    """With those that there are, and the way out."""
    with pytest.raises(InputError, match="no variable 'query', there are: question; name it in `config`"):
        get_assert("x", {"vars": {"question": "?"}, "config": {"policy": policy}})
