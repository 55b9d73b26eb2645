"""The provider that is asked for answers, or the next in line; what is not there says why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, TypeVar

import pytest

from stillme.chat.extractive import Extractive
from stillme.chat.router import Router, RouterSettings, router_from_environment
from stillme.errors import InputError, UpstreamError
from stillme.llm.breaker import Breaker
from stillme.llm.client import CallLimits
from stillme.llm.messages import Delta, Prompt, PromptMessage
from stillme.llm.providers import OpenAICompatible
from stillme.settings import rows
from tests.chat.upstream import HANG, Upstream, chunks, completion, error, stream, streamed

Result = TypeVar("Result")
PROMPT = Prompt("Where?", (PromptMessage("user", "Where?"),))
KEY = "sk-never-shown-4f1b"
LIMITS = CallLimits(first_byte_s=0.3, total_s=0.6, retries=0)


def server(name: str, upstream: Upstream, **more: Any) -> OpenAICompatible:
    """A provider at a scripted server."""
    return OpenAICompatible(name, upstream.url, None, f"{name}-model", **{"limits": LIMITS, **more})


def run(router: Router, ask: Callable[[Router], Awaitable[Result]]) -> Result:
    """What comes of asking a router, which is closed afterwards."""

    async def asked() -> Result:
        try:
            return await ask(router)
        finally:
            await router.aclose()

    return asyncio.run(asked())


async def pieces(router: Router, provider: str | None = None) -> list[Delta]:
    """A streamed answer."""
    return [delta async for delta in router.stream(PROMPT, provider)]


def test_the_default_answers_unless_another_is_asked_for() -> None:
    """With the model of the request, and the answer says who gave it."""
    with Upstream(completion("a")) as one, Upstream(completion("b")) as two:
        router = Router([server("one", one), server("two", two)], "one")

        async def ask(router: Router) -> list[tuple[str, str, str]]:
            answers = [await router.generate(PROMPT), await router.generate(PROMPT, "two", "large")]
            return [(answer.text, answer.provider, answer.model) for answer in answers]

        assert run(router, ask) == [("a", "one", "one-model"), ("b", "two", "large")]
    assert (router.names, router.default) == (("one", "two"), "one")


def test_the_next_in_line_answers_where_one_fails() -> None:
    """In order, each with a model of its own, whole and streamed."""
    with Upstream(error(500)) as one, Upstream(HANG) as two, Upstream(completion("c"), stream("c")) as three:
        router = Router(
            [server(n, u) for n, u in (("one", one), ("two", two), ("three", three))], "one", ("two", "three")
        )

        async def ask(router: Router) -> list[Any]:
            whole = await router.generate(PROMPT, model="large")
            return [(whole.text, whole.provider, whole.model), *await pieces(router)]

        found = run(router, ask)

    assert found == [
        ("c", "three", "three-model"),
        Delta("c", None, "three", "three-model"),
        Delta("", "stop", "three", "three-model"),
    ]
    assert [u.bodies[0]["model"] for u in (one, two, three)] == ["large", "two-model", "three-model"]


def test_a_provider_is_asked_once() -> None:
    """The one that was chosen is not asked again as its own stand-in, nor one that is listed twice."""
    with Upstream(error(500)) as one, Upstream(error(500)) as two:
        router = Router([server("one", one), server("two", two)], "one", ("two", "one", "two"))
        with pytest.raises(UpstreamError) as caught:
            run(router, lambda r: r.generate(PROMPT, "two"))

    assert (len(one.requests), len(two.requests)) == (1, 1)
    assert str(caught.value) == "two answered 500; one answered 500"


def test_an_error_of_all_says_what_each_did() -> None:
    """The shortest wait counts; it timed out only if all did."""
    with (
        Upstream(error(429, Retry_After="60")) as one,
        Upstream(error(503, Retry_After="30")) as two,
        Upstream(HANG) as three,
    ):
        router = Router(
            [server(n, u) for n, u in (("one", one), ("two", two), ("three", three))], "one", ("two", "three")
        )
        with pytest.raises(UpstreamError) as caught:
            run(router, pieces)

    assert str(caught.value) == "one answered 429; two answered 503; three sent nothing within 0.3 s"
    assert (caught.value.retry_after_s, caught.value.timed_out) == (30.0, False)


def test_no_other_goes_on_where_one_broke_off() -> None:
    """Two halves of two answers are no answer."""
    with Upstream(streamed(*chunks("half")[:2], "reset")) as one, Upstream(stream("other")) as two:
        router = Router([server("one", one), server("two", two)], "one", ("two",))
        seen: list[str] = []

        async def ask(router: Router) -> None:
            async for delta in router.stream(PROMPT):
                seen.append(delta.text)

        with pytest.raises(UpstreamError, match=r"^one broke off its answer$"):
            run(router, ask)

    assert (seen, two.requests) == (["half"], [])


def test_another_goes_on_where_one_breaks_off_before_its_first_piece() -> None:
    """Nobody has read anything yet."""
    with Upstream(streamed(*chunks("half")[:1], "reset")) as one, Upstream(stream("other")) as two:
        router = Router([server("one", one), server("two", two)], "one", ("two",))

        assert [d.text for d in run(router, pieces)] == ["other", ""]


def test_a_mistake_of_the_caller_is_not_passed_on() -> None:
    """The next in line is not asked what the first one could not be asked."""
    with Upstream(completion("a")) as one, Upstream(completion("b")) as two:
        router = Router([server("one", one), server("two", two)], "one", ("two",))
        with pytest.raises(InputError, match="model must be the name of a model of one"):
            run(router, lambda r: r.generate(PROMPT, model="\n"))

    assert one.requests == two.requests == []


def test_a_stream_that_is_closed_ends_the_call_upstream() -> None:
    """Through the router as well."""
    with Upstream(streamed(*chunks("a")[:2], "hang")) as upstream:
        router = Router([server("one", upstream, limits=CallLimits())], "one")

        async def first(router: Router) -> str:
            async with aclosing(router.stream(PROMPT)) as deltas:
                async for delta in deltas:
                    return delta.text
            return ""

        assert run(router, first) == "a"
        assert upstream.hung_up.wait(5)


def test_the_states_of_the_servers() -> None:
    """What a readiness check can show; the extractive provider has none."""
    with Upstream(error(500)) as upstream:
        router = Router([Extractive(), server("one", upstream, breaker=Breaker(1))], "one")
        before = router.states
        with pytest.raises(UpstreamError):
            run(router, lambda r: r.generate(PROMPT))

    assert (before, router.states) == ({"one": "closed"}, {"one": "open"})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("extractiv", "provider 'extractiv' is unknown: did you mean extractive? there are extractive", id="misspelt"),
        pytest.param("claude", "provider 'claude' is unknown: there are extractive", id="unknown"),
        pytest.param("\x1b[31m", r"provider '\x1b[31m' is unknown: there are extractive", id="not even a name"),
        pytest.param("openai", "provider openai is not available: set OPENAI_API_KEY; there are extractive", id="without its key"),
        pytest.param("local", "provider local is not available: set STILLME_LOCAL_MODEL; there are extractive", id="without its model"),
    ],
)  # fmt: skip
def test_a_provider_that_is_not_there_says_why(name: str, message: str) -> None:
    """With the choices there are."""
    router = router_from_environment({})

    with pytest.raises(InputError) as caught:
        run(router, lambda r: r.generate(PROMPT, name))

    assert str(caught.value) == message


def test_two_providers_of_one_name_are_refused() -> None:
    """A name stands for one."""
    with pytest.raises(InputError, match="two providers are named 'extractive'"):
        Router([Extractive(), Extractive()])


# the environment


def test_without_any_setting_the_extractive_provider_answers() -> None:
    """No key, no server, no network."""
    router = router_from_environment({"OPENAI_API_KEY": "  "})

    assert (router.names, router.default, router.states) == (("extractive",), "extractive", {})
    assert run(router, lambda r: r.generate(PROMPT)).provider == "extractive"


def test_what_the_environment_describes() -> None:
    """Keys make providers available, everything else has its variable."""
    with Upstream(error(500)) as one, Upstream(completion("mine")) as two:
        environment = {
            "STILLME_PROVIDER": "deepseek",
            "STILLME_FALLBACK": "local, extractive",
            "DEEPSEEK_API_KEY": KEY,
            "STILLME_DEEPSEEK_URL": one.url,
            "STILLME_DEEPSEEK_MODEL": "deepseek-other",
            "STILLME_LOCAL_URL": two.url,
            "STILLME_LOCAL_MODEL": "qwen",
            "STILLME_LOCAL_API_KEY": "local-key",
            "STILLME_PROVIDER_RETRIES": "0",
            "STILLME_PROVIDER_TIMEOUT_S": "3",
            "STILLME_LOGPROBS": "false",
            "STILLME_BREAKER_FAILURES": "1",
        }
        router = router_from_environment(environment)
        answer = run(router, lambda r: r.generate(PROMPT))

    assert router.names == ("extractive", "deepseek", "local")
    assert (answer.text, answer.provider, answer.model) == ("mine", "local", "qwen")
    assert one.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert two.requests[0].headers["authorization"] == "Bearer local-key"
    assert one.bodies[0].keys() == {"model", "messages", "stream", "temperature", "max_tokens"}
    assert router.states == {"deepseek": "open", "local": "closed"}


@pytest.mark.parametrize(
    ("environment", "what"),
    [
        pytest.param({"STILLME_PROVIDER": "openai"}, "STILLME_PROVIDER, STILLME_FALLBACK: provider openai is not available: set OPENAI_API_KEY", id="a default without its key"),
        pytest.param({"STILLME_FALLBACK": "gpt"}, "STILLME_PROVIDER, STILLME_FALLBACK: provider 'gpt' is unknown", id="a stand-in that is unknown"),
        pytest.param({"STILLME_PROVIDER_TIMEOUT_S": "0"}, "STILLME_PROVIDER_TIMEOUT_S must be a number from", id="no time at all"),
        pytest.param({"OPENAI_API_KEY": f"{KEY} {KEY}"}, "openai: api_key must be printable ASCII", id="a key that is none"),
        pytest.param({"OPENAI_API_KEY": KEY, "STILLME_OPENAI_URL": "http://10.0.0.1/v1"}, "openai: http://10.0.0.1 would send the api key unencrypted", id="a key over plain http"),
        pytest.param({"STILLME_ALLOW_CALLER_URLS": "maybe"}, "STILLME_ALLOW_CALLER_URLS must be true or false", id="a switch that is none"),
    ],
)  # fmt: skip
def test_an_environment_that_cannot_be_used_is_refused_at_once(environment: dict[str, str], what: str) -> None:
    """At the start, not at the first question, and without the key."""
    with pytest.raises(InputError) as caught:
        router_from_environment(environment)

    assert str(caught.value).startswith(what)
    assert KEY not in str(caught.value)


def test_the_settings_never_show_a_key() -> None:
    """They may end up in a log all the same."""
    assert KEY not in repr(RouterSettings.from_environment({"OPENAI_API_KEY": KEY}))


def test_every_setting_says_what_it_means() -> None:
    """The table of the docs is made from here; no default of it is a key."""
    table = rows(RouterSettings)

    assert [row.variable for row in table if not row.meaning] == []
    assert [row.default for row in table if row.variable.endswith("_KEY")] == [""] * 4


# servers that callers name


def test_a_server_that_a_caller_names_is_off_unless_allowed() -> None:
    """And then it is not this machine."""
    with pytest.raises(InputError, match="STILLME_ALLOW_CALLER_URLS=true allows it"):
        router_from_environment({}).at("https://model.example/v1", "m")

    allowed = router_from_environment({"STILLME_ALLOW_CALLER_URLS": "true"})

    async def ask(url: str) -> None:
        provider = allowed.at(url, "m")
        try:
            await provider.generate(PROMPT)
        finally:
            await provider.aclose()

    with Upstream(completion("inside")) as upstream, pytest.raises(InputError, match="public Internet"):
        asyncio.run(ask(upstream.url))
    assert upstream.requests == []
