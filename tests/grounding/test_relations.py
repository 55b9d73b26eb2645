"""The same words in other relations: swapped roles, mixed clauses, turned directions."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence

FLOOD = "The flood caused the fire in the old harbour."
MILL = "The miller sold the mill to the baker in 1931."
CLINIC = "The outpatient clinic is led by Doctor Sadler, and the maternity ward is led by Doctor Kestrel."
NOTICE = "A landlord must give three months notice, and a tenant must give one month notice."
CAPITAL = "The council moved the capital from Brask to Pellas in 1441."
LONGER = "The Abbey Bridge is longer than the Weaver Bridge."
SUCCEEDED = "Aldric was succeeded by his nephew Osmund."
BAO_HANH = "Cửa hàng bảo hành ghế mây 24 tháng và bảo hành đèn tre 6 tháng."


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        pytest.param("The flood caused the fire.", FLOOD, id="the same order"),
        pytest.param("The fire was caused by the flood.", FLOOD, id="the passive turns it round"),
        pytest.param("The mill was sold to the baker by the miller.", MILL, id="the passive with a recipient"),
        pytest.param("Doctor Kestrel leads the maternity ward.", CLINIC, id="the active of the second clause"),
        pytest.param("A tenant must give one month notice.", NOTICE, id="the second of two subjects"),
        pytest.param("In 1441 the capital was moved from Brask to Pellas.", CAPITAL, id="a fronted date"),
        pytest.param("Osmund succeeded Aldric.", SUCCEEDED, id="the active of a passive"),
        pytest.param("Đèn tre được bảo hành 6 tháng.", BAO_HANH, id="the second Vietnamese figure"),
    ],
)
def test_other_order_same_relations(claim: str, source: str) -> None:
    """Another order that says the same is supported."""
    assert [j.status for j in Evidence.of("q", f"{claim[:-1]} [1].", [source]).judgements] == ["supported"]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        pytest.param("The fire caused the flood.", FLOOD, id="cause and effect exchanged"),
        pytest.param("The flood was caused by the fire.", FLOOD, id="exchanged in the passive"),
        pytest.param("Doctor Sadler leads the maternity ward.", CLINIC, id="the agent of another clause"),
        pytest.param("A tenant must give three months notice.", NOTICE, id="the object of another subject"),
        pytest.param("The council moved the capital from Pellas to Brask in 1441.", CAPITAL, id="a turned direction"),
        pytest.param("The Weaver Bridge is longer than the Abbey Bridge.", LONGER, id="a turned comparison"),
        pytest.param("Osmund was succeeded by his nephew Aldric.", SUCCEEDED, id="exchanged names in the same voice"),
        pytest.param("Cửa hàng bảo hành ghế mây 6 tháng.", BAO_HANH, id="the figure of another thing in Vietnamese"),
    ],
)
def test_other_relations(claim: str, source: str) -> None:
    """The same words put together otherwise are not supported."""
    assert [j.supported for j in Evidence.of("q", f"{claim[:-1]} [1].", [source]).judgements] == [False]
