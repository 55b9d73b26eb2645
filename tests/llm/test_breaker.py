"""A server that failed too often is left alone, then tried with one call."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.errors import InputError
from stillme.llm.breaker import Breaker, Call
from tests.soak import examples


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def admitted(breaker: Breaker) -> Call:
    """A call that was let through."""
    call = breaker.admit()
    assert call is not None
    return call


def opened(clock: Clock, failures: int = 3) -> Breaker:
    """A breaker that has just opened."""
    breaker = Breaker(failures, 10.0, clock)
    for _ in range(failures):
        admitted(breaker).failed()
    return breaker


def test_it_opens_after_so_many_failures_in_a_row() -> None:
    """A success in between starts the count anew."""
    breaker = Breaker(3, 10.0, Clock())
    states = []
    for outcome in ("failed", "failed", "succeeded", "failed", "failed", "failed"):
        getattr(admitted(breaker), outcome)()
        states.append(breaker.state)

    assert states == ["closed"] * 5 + ["open"]
    assert (breaker.admit(), breaker.wait_s) == (None, 10.0)


def test_after_the_pause_one_call_may_try_and_the_others_wait_for_it() -> None:
    """Half-open lets one through at a time."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 9.9
    assert (breaker.state, breaker.admit()) == ("open", None)
    clock.now += 0.1

    trial = admitted(breaker)

    assert (breaker.state, breaker.wait_s, breaker.admit()) == ("half-open", 0.0, None)
    trial.succeeded()
    assert breaker.state == "closed"
    admitted(breaker).failed()
    assert breaker.state == "closed"


def test_a_trial_that_fails_starts_the_pause_again() -> None:
    """One failure is enough on trial."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 15

    admitted(breaker).failed()

    assert (breaker.state, breaker.wait_s) == ("open", 10.0)


def test_a_trial_that_is_given_up_leaves_its_place_to_another() -> None:
    """A user who hangs up does not shut a server out for ever."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 10
    admitted(breaker).given_up()

    admitted(breaker).succeeded()

    assert breaker.state == "closed"


def test_an_answer_that_has_begun_lets_others_in_and_its_failure_shuts_again() -> None:
    """A long stream on trial does not keep everyone else out."""
    clock = Clock()
    breaker = opened(clock)
    clock.now += 10
    trial = admitted(breaker)

    trial.arrived()
    assert breaker.state == "closed"
    other = admitted(breaker)
    trial.failed()

    assert breaker.state == "open"
    other.succeeded()
    assert breaker.state == "open"


def test_a_call_tells_once() -> None:
    """What is said after the outcome changes nothing."""
    breaker = Breaker(2, 10.0, Clock())
    call = admitted(breaker)
    call.failed()
    call.failed()
    call.succeeded()
    call.arrived()
    call.given_up()
    admitted(breaker).failed()

    assert breaker.state == "open"


def test_what_a_call_tells_of_an_earlier_time_does_not_count() -> None:
    """A slow success of before the failures does not close what they opened, nor does a slow failure open what was closed."""
    clock = Clock()
    breaker = Breaker(2, 10.0, clock)
    slow_success, slow_failure = admitted(breaker), admitted(breaker)
    for _ in range(2):
        admitted(breaker).failed()
    slow_success.succeeded()
    assert breaker.state == "open"
    clock.now += 10
    admitted(breaker).succeeded()
    slow_failure.failed()
    admitted(breaker).failed()

    assert breaker.state == "closed"


@pytest.mark.parametrize(("failures", "pause_s"), [(0, 1.0), (1, -1.0), (1, float("nan"))])
def test_bad_bounds_are_refused(failures: int, pause_s: float) -> None:
    """A breaker that never closes or never opens is a mistake."""
    with pytest.raises(InputError, match="a breaker opens after 1 failure"):
        Breaker(failures, pause_s)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["admit", "arrived", "succeeded", "failed", "given_up", "wait"]), st.integers(0, 7))
    )
)
def test_whatever_happens_a_server_is_tried_again(steps: list[tuple[str, int]]) -> None:
    """Once every call has come back and the pause is over, a call is let through."""
    clock = Clock()
    breaker = Breaker(2, 10.0, clock)
    calls: list[Call] = []
    for step, number in steps:
        if step == "admit":
            call = breaker.admit()
            calls += [call] if call is not None else []
        elif step == "wait":
            clock.now += number
        elif calls:
            getattr(calls[number % len(calls)], step)()
    for call in calls:
        call.given_up()
    clock.now += 10

    admitted(breaker).succeeded()

    assert breaker.state == "closed"
