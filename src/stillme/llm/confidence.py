"""How sure a model was of its words: what Gate 3 judges, from the log-probabilities of the tokens it wrote.

The figure is exp(mean log-probability), the geometric mean of the tokens' probabilities: 1 where the model saw no alternative to any
word, 0.6 where on average it gave each word six chances in ten. It does not depend on length, and it says nothing about truth:
a model can be sure and wrong. Where a server does not tell, or tells only of a part, there is no figure and Gate 3 is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, isfinite
from typing import Any, Final

__all__ = ["generation_confidence", "token_logprobs"]

# Servers write -9999 for a token that was beyond their list. Anything below one in half a billion is as unlikely as that.
LEAST: Final = -20.0


def generation_confidence(logprobs: Iterable[float] | None) -> float | None:
    """The geometric mean of the tokens' probabilities, 0..1, to four decimals; None where there are no tokens."""
    known = None if logprobs is None else [min(0.0, max(LEAST, value)) for value in logprobs]
    return round(exp(sum(known) / len(known)), 4) if known else None


def token_logprobs(choice: Mapping[str, Any]) -> list[float] | None:
    """The log-probabilities that a choice (of a completion or of a chunk) tells; None where it tells none, or not in numbers."""
    given = choice.get("logprobs")
    content = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(content, list):
        return None
    logprobs: list[float] = []
    for token in content:
        value = token.get("logprob") if isinstance(token, Mapping) else None
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            return None
        logprobs.append(float(value))
    return logprobs
