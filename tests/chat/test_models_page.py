"""The page on models says what the code does: its settings, its figures, its providers."""

from __future__ import annotations

from pathlib import Path

from stillme.chat.router import RouterSettings
from stillme.llm.client import CallLimits
from stillme.llm.providers import PRESETS
from stillme.settings import rows

PAGE = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def test_the_table_of_settings_is_that_of_the_code() -> None:
    """Every variable with its default and its meaning, in order."""
    shown = PAGE.partition("<!-- generated: settings -->\n")[2].partition("\n<!-- end: settings -->")[0].splitlines()
    table = [
        f"| `{r.variable}` | {f'`{r.default}`' if r.default else ''} | {r.meaning} |" for r in rows(RouterSettings)
    ]

    assert shown == ["| variable | default | meaning |", "|---|---|---|", *table]


def test_the_figures_in_the_text_are_those_of_the_code() -> None:
    """Times, retries, the breaker."""
    limits, settings = CallLimits(), RouterSettings()
    text = " ".join(PAGE.split())

    assert f"within {limits.connect_s:g} s, a stream must send its first byte within {limits.first_byte_s:g} s" in text
    assert f"included, has {limits.total_s:g} s" in text
    assert f"pauses of {limits.backoff_s:g} s and {2 * limits.backoff_s:g} s" in text
    assert f"kept up to {limits.most_pause_s:g} s" in text
    assert (
        f"After {settings.breaker_failures} failures in a row a server is left alone for {settings.breaker_pause_s:g} s"
        in text
    )


def test_every_provider_is_in_the_table() -> None:
    """With whether it is asked for log-probabilities."""
    for name, known in PRESETS.items():
        (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{name}` |")]
        assert row.endswith("| asked for |" if known.logprobs else "| not asked for |")
