"""FutureDatesValidator: no date after `as_of` that no source states."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from stillme.evidence import Evidence
from stillme.validators.future_dates_validator import FutureDatesValidator
from tests.validators.support import PASSED, SKIPPED, flagged, observe

NOW = datetime(2026, 2, 1, 9, tzinfo=UTC)
LINE = "Line 3 will open on 15 May 2031. Construction began in 2024."
TUYEN = "Tuyến số 2 sẽ khai trương vào ngày 30 tháng 4 năm 2031."
INVENTED = flagged("unsupported_future_date")


@pytest.mark.parametrize(
    ("draft", "source", "expected"),
    [
        pytest.param("Line 3 will open on 15 May 2031 [1].", LINE, PASSED, id="a future date that the source states"),
        pytest.param("Line 3 will open in 2031 [1].", LINE, PASSED, id="its year alone"),
        pytest.param("Line 3 will open on 1 March 2034 [1].", LINE, INVENTED, id="a future date that it does not"),
        pytest.param("Line 3 will open on 16 May 2031 [1].", LINE, INVENTED, id="another day of the same month"),
        pytest.param("Construction began in 2019 [1].", LINE, PASSED, id="a wrong date in the past is for Gate 4"),
        pytest.param("It opens on 2 February 2026 [1].", LINE, INVENTED, id="tomorrow"),
        pytest.param("It opens on 1 February 2026 [1].", LINE, PASSED, id="today is not the future"),
        pytest.param("Tuyến số 2 khai trương ngày 30/4/2031 [1].", TUYEN, PASSED, id="a Vietnamese date in figures"),
        pytest.param("Tuyến số 2 khai trương ngày 1/5/2033 [1].", TUYEN, INVENTED, id="an invented Vietnamese date"),
        pytest.param("It opens next year, in May [1].", LINE, SKIPPED, id="a relative date is not judged"),
        pytest.param("I cannot say when it opens.", LINE, SKIPPED, id="no claim, no date"),
        pytest.param("", LINE, SKIPPED, id="no draft"),
    ],
)
def test_dates(draft: str, source: str, expected: list[tuple[str, str | None]]) -> None:
    """Seen from the first of February 2026."""
    assert observe(FutureDatesValidator(), Evidence.of("q", draft, [source], as_of=NOW)) == expected


def test_as_of_is_the_now() -> None:
    """Seen from 2040 the same date is in the past."""
    evidence = Evidence.of("q", "It opened on 1 March 2034 [1].", [LINE], as_of=datetime(2040, 1, 1, tzinfo=UTC))

    assert observe(FutureDatesValidator(), evidence) == PASSED
