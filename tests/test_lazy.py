"""An attribute that is computed once, and handed on to a variant where it holds for both."""

from __future__ import annotations

from stillme.lazy import lazy, share, shared


class Reading:
    """Counts how often each of its attributes is computed."""

    def __init__(self) -> None:
        self.computed: list[str] = []

    @lazy
    def words(self) -> list[str]:
        """Of this one alone."""
        self.computed.append("words")
        return ["a", "b"]

    @shared
    def passages(self) -> list[str]:
        """The same for every draft."""
        self.computed.append("passages")
        return ["p"]


def test_it_is_computed_when_first_asked_for_and_then_kept() -> None:
    reading = Reading()
    before = list(reading.computed)

    assert (before, reading.words is reading.words) == ([], True)
    assert reading.computed == ["words"]


def test_each_instance_has_its_own() -> None:
    one, other = Reading(), Reading()

    assert one.words is not other.words


def test_the_class_has_the_attribute_itself_with_its_docstring() -> None:
    assert isinstance(Reading.words, lazy)
    assert Reading.words.__doc__ == "Of this one alone."


def test_a_variant_gets_what_is_shared_and_was_computed_and_nothing_else() -> None:
    source, variant, early = Reading(), Reading(), Reading()
    share(source, early)
    assert (source.words, source.passages) == (["a", "b"], ["p"])

    share(source, variant)

    assert variant.passages is source.passages
    assert variant.words is not source.words
    assert variant.computed == ["words"]
    assert (early.passages, early.computed) == (["p"], ["passages"])
