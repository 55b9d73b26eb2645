"""What a model said lately: bounded, counted, shared."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from stillme.models.recent import Counts, Recent, recent_counts


def test_the_one_not_asked_for_longest_makes_room() -> None:
    """Asking for an answer keeps it; what was not asked for since goes first."""
    recent = Recent[str, int]("room", 2)
    recent.keep("một", 1)
    recent.keep("two", 2)
    recent.get("một")
    recent.keep("three", 3)

    assert [recent.get(key) for key in ("một", "two", "three")] == [1, None, 3]


def test_hits_misses_and_entries_are_counted_by_name() -> None:
    """Also after everything was dropped: counters only grow."""
    recent = Recent[str, int]("counted", 8)
    recent.get("a")
    recent.keep("a", 1)
    recent.get("a")
    before = recent_counts()["counted"]
    recent.clear()
    recent.get("a")

    assert (before, recent_counts()["counted"]) == (Counts(1, 1, 1), Counts(1, 2, 0))


def test_threads_never_keep_more_than_the_bound() -> None:
    """However many keep answers at the same time."""
    recent = Recent[int, int]("threads", 16)
    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(lambda n: recent.keep(n % 50, n), range(2000)))

    assert kept == list(range(2000))
    assert recent.counts.entries == 16
