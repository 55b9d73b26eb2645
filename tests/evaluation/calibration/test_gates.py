"""Which settings of the gates are tried: by the cases that should be answered alone."""

from __future__ import annotations

import pytest

from stillme.evaluation.calibration.calibration import calibrate
from stillme.evaluation.calibration.thresholds import Settings
from tests.evaluation.scored_cases import LITE, WIDE, bad, good


def test_milder_gates_are_tried_where_they_let_good_cases_through() -> None:
    """They share the error with the policy's own, and win where they refuse fewer; a gate that refuses no good case stays."""
    helped = bad(-1.0, 40) + good(0.9, 5, similarity=0.3) + good(0.9, 5)
    idle = bad(-1.0, 40) + good(0.9, 10, similarity=0.45)

    with_help, without = (calibrate(cases, LITE, WIDE) for cases in (helped, idle))
    kept = calibrate(helped, LITE, WIDE, keep_gates=True)

    assert with_help.settings == Settings(0.225, 0.5, 0.6, 0.0)
    assert (with_help.tried, with_help.groups[0].level) == (3, pytest.approx(0.025))
    assert (without.tried, without.groups[0].level) == (1, pytest.approx(0.1))
    assert (kept.settings, kept.after and kept.after.refused) == (Settings(0.45, 0.5, 0.6, 0.0), 5)


def test_the_gates_that_are_tried_do_not_depend_on_how_bad_cases_came_out() -> None:
    """What is tested must not be chosen by what it is tested on, not even by a case that is good and bad; their number may."""
    cases = good(0.9, 5, similarity=0.3) + good(0.9, 5) + good(0.9, 3, similarity=0.01, is_bad=True, unsupported=1)

    tried = {calibrate(cases + extra, LITE, WIDE).tried for extra in (bad(0.9, 40, similarity=0.01), bad(-1.0, 40))}

    assert tried == {3}
