"""From an alignment to a probability: more of the claim in the source is never less support."""

from __future__ import annotations

from stillme.grounding.alignment import align
from stillme.grounding.scoring import FEATURES, VERBATIM, features, probability
from tests.grounding.objections.support import laid

SOURCE = "The mill by the river was rebuilt by the council after the flood."


def test_a_copy_has_every_word_and_nothing_against_it() -> None:
    """What is verbatim is covered whole."""
    found = laid(SOURCE, SOURCE)

    assert (found.verbatim, features(found)) == (True, VERBATIM)
    assert len(VERBATIM) == len(FEATURES)


def test_what_the_source_lacks_and_what_it_denies_count_less() -> None:
    """A missing word lowers the probability, an objection lowers it more."""
    claims = [
        "The council rebuilt the mill by the river.",
        "The council rebuilt the mill by the wooden river.",
        "The council rebuilt the mill by the river in 1802.",
    ]
    founds = [laid(claim, SOURCE) for claim in claims]
    judged = [align(f.claim, f.source, f.statements, f.heading, ()) for f in founds]
    scores = [probability(found) for found in judged]

    assert scores[0] > scores[1] > scores[2]
