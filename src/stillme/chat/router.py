"""Which model answers: the one that is asked for, the default, or the next in line when one fails."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from stillme.chat.extractive import Extractive
from stillme.errors import InputError, UpstreamError, nearest, shown
from stillme.llm.breaker import Breaker
from stillme.llm.client import CallLimits
from stillme.llm.messages import Delta, Generation, Prompt, Provider
from stillme.llm.providers import PRESETS, OpenAICompatible, Preset, caller_given, preset
from stillme.settings import EnvironmentSettings, number, setting, whole

__all__ = ["Router", "RouterSettings", "router_from_environment"]


class Router:
    """Answers prompts by one of several providers. Safe to share between the tasks of an event loop.

    `fallback` names who is asked next, in order, when the one that was chosen fails; never after a piece of an answer was handed out.
    `missing` says of a provider that is known by name what it needs to be there.
    """

    def __init__(
        self,
        providers: Iterable[Provider],
        default: str = "extractive",
        fallback: Sequence[str] = (),
        missing: Mapping[str, str] | None = None,
        caller_urls: bool = False,
        limits: CallLimits | None = None,
    ) -> None:
        self._providers: dict[str, Provider] = {}
        for provider in providers:
            if provider.name in self._providers:
                raise InputError(f"two providers are named {shown(provider.name)}: a name stands for one")
            self._providers[provider.name] = provider
        self._missing = dict(missing or {})
        self._caller_urls = caller_urls
        self._limits = limits or CallLimits()
        self._fallback = tuple(self.provider(name).name for name in fallback)
        self.default = self.provider(default).name

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._providers)

    @property
    def takes_urls(self) -> bool:
        """Whether a caller may name a model server."""
        return self._caller_urls

    @property
    def states(self) -> dict[str, str]:
        """Of each model server, whether it is being asked (closed), left alone (open) or on trial (half-open)."""
        servers = [p for p in self._providers.values() if isinstance(p, OpenAICompatible)]
        return {server.name: server.breaker.state for server in servers}

    def provider(self, name: str | None = None) -> Provider:
        """The provider of a name, or the default; an InputError names the choices."""
        wanted = self.default if name is None else name
        found = self._providers.get(wanted)
        if found is not None:
            return found
        choices = f"there are {', '.join(self._providers)}"
        if wanted in self._missing:
            raise InputError(f"provider {wanted} is not available: {self._missing[wanted]}; {choices}")
        guess = nearest(wanted, [*self._providers, *self._missing])
        hint = f"did you mean {guess}? " if guess else ""
        raise InputError(f"provider {shown(wanted)} is unknown: {hint}{choices}")

    def at(self, url: str, model: str, api_key: str | None = None) -> OpenAICompatible:
        """A server that a caller names, for one request; off unless the operator allows it, public addresses only. Close it."""
        if not self._caller_urls:
            raise InputError(
                "model servers cannot be named in a request here: STILLME_ALLOW_CALLER_URLS=true allows it"
            )
        return caller_given(url, model, api_key, self._limits)

    async def generate(self, prompt: Prompt, provider: str | None = None, model: str | None = None) -> Generation:
        """The whole answer, and who gave it. `model` is for the chosen provider; one that stands in uses its own."""
        problems: list[UpstreamError] = []
        for candidate, its_model in self._line(provider, model):
            try:
                return await candidate.generate(prompt, its_model)
            except UpstreamError as error:
                problems.append(error)
        raise _together(problems)

    async def stream(
        self, prompt: Prompt, provider: str | None = None, model: str | None = None
    ) -> AsyncGenerator[Delta, None]:
        """The answer piece by piece, each saying who gives it; closing it ends the call upstream."""
        problems: list[UpstreamError] = []
        begun = False
        for candidate, its_model in self._line(provider, model):
            deltas = cast("AsyncGenerator[Delta, None]", candidate.stream(prompt, its_model))
            try:
                async with aclosing(deltas):
                    async for delta in deltas:
                        begun = True
                        yield delta
            except UpstreamError as error:
                if begun:
                    raise
                problems.append(error)
            else:
                return
        raise _together(problems)

    async def aclose(self) -> None:
        for provider in self._providers.values():
            await provider.aclose()

    def _line(self, name: str | None, model: str | None) -> list[tuple[Provider, str | None]]:
        """Who is asked, in order, and for which model."""
        first = self.provider(name)
        others = [self._providers[other] for other in dict.fromkeys(self._fallback) if other != first.name]
        return [(first, model), *((other, None) for other in others)]


def _together(problems: Sequence[UpstreamError]) -> UpstreamError:
    """One error for all that was tried."""
    if len(problems) == 1:
        return problems[0]
    waits = [p.retry_after_s for p in problems if p.retry_after_s is not None]
    return UpstreamError(
        "; ".join(str(problem) for problem in problems),
        retry_after_s=min(waits, default=None),
        timed_out=all(problem.timed_out for problem in problems),
    )


# the environment


@dataclass(frozen=True, slots=True, repr=False)
class RouterSettings(EnvironmentSettings):
    """Models as an operator wants them; it holds keys and is never shown."""

    default: str = setting(
        "extractive", "STILLME_PROVIDER", "who answers: extractive, deepseek, openai, gemini or local"
    )
    fallback: tuple[str, ...] = setting(
        (), "STILLME_FALLBACK", "who is asked next when that one fails, in order, with commas between"
    )
    deepseek_key: str | None = setting(None, "DEEPSEEK_API_KEY", "makes deepseek available")
    openai_key: str | None = setting(None, "OPENAI_API_KEY", "makes openai available")
    gemini_key: str | None = setting(None, "GEMINI_API_KEY", "makes gemini available")
    deepseek_model: str = setting(PRESETS["deepseek"].model, "STILLME_DEEPSEEK_MODEL", "which of its models")
    openai_model: str = setting(PRESETS["openai"].model, "STILLME_OPENAI_MODEL", "which of its models")
    gemini_model: str = setting(PRESETS["gemini"].model, "STILLME_GEMINI_MODEL", "which of its models")
    deepseek_url: str = setting(PRESETS["deepseek"].url, "STILLME_DEEPSEEK_URL", "where it is")
    openai_url: str = setting(
        PRESETS["openai"].url, "STILLME_OPENAI_URL", "where it is, or a gateway that speaks like it"
    )
    gemini_url: str = setting(PRESETS["gemini"].url, "STILLME_GEMINI_URL", "where it is")
    local_model: str | None = setting(
        None, "STILLME_LOCAL_MODEL", "makes local available: which model your own server is asked for"
    )
    local_url: str = setting(
        PRESETS["local"].url,
        "STILLME_LOCAL_URL",
        "where your own OpenAI-compatible server is (Ollama, llama.cpp, vLLM); it may be private",
    )
    local_key: str | None = setting(None, "STILLME_LOCAL_API_KEY", "the key of your own server, if it wants one")
    allow_insecure: bool = setting(
        False,
        "STILLME_ALLOW_INSECURE_MODEL_URLS",
        "whether a key may go over plain http to another machine, where the network is yours",
    )
    logprobs: bool = setting(True, "STILLME_LOGPROBS", "whether token log-probabilities are asked for (Gate 3)")
    max_tokens: int = setting(
        1024, "STILLME_MAX_TOKENS", "how long an answer may get, in tokens of the model", whole(1, 1_000_000)
    )
    total_s: float = setting(
        CallLimits().total_s,
        "STILLME_PROVIDER_TIMEOUT_S",
        "seconds that a model server has for an answer, with all retries",
        number(0.01, 3600),
    )
    connect_s: float = setting(
        CallLimits().connect_s,
        "STILLME_PROVIDER_CONNECT_TIMEOUT_S",
        "seconds that it has to accept a connection",
        number(0.01, 600),
    )
    first_byte_s: float = setting(
        CallLimits().first_byte_s,
        "STILLME_PROVIDER_FIRST_BYTE_TIMEOUT_S",
        "seconds until the first byte of a streamed answer",
        number(0.01, 3600),
    )
    retries: int = setting(
        CallLimits().retries,
        "STILLME_PROVIDER_RETRIES",
        "how often it is asked again when it cannot be reached or answers 429 or 5xx",
        whole(0, 10),
    )
    breaker_failures: int = setting(
        5, "STILLME_BREAKER_FAILURES", "after how many failures in a row a model server is left alone", whole(1, 1000)
    )
    breaker_pause_s: float = setting(
        30.0, "STILLME_BREAKER_PAUSE_S", "for how many seconds, until one call may try", number(0, 3600)
    )
    caller_urls: bool = setting(
        False, "STILLME_ALLOW_CALLER_URLS", "whether a request may name a model server of its own, on a public address"
    )

    @property
    def limits(self) -> CallLimits:
        """How long a server is waited for."""
        return CallLimits(self.connect_s, self.first_byte_s, self.total_s, self.retries)

    def server(self, name: str, known: Preset) -> OpenAICompatible | str:
        """A provider that is known by name, or what it needs to be there."""
        key: str | None = getattr(self, f"{name}_key")
        model: str | None = getattr(self, f"{name}_model")
        if known.key is not None and key is None:
            return f"set {known.key}"
        if model is None:
            return f"set STILLME_{name.upper()}_MODEL"
        more: dict[str, Any] = {"max_tokens": self.max_tokens} | ({} if self.logprobs else {"logprobs": False})
        return preset(
            name,
            key,
            model,
            getattr(self, f"{name}_url"),
            limits=self.limits,
            breaker=Breaker(self.breaker_failures, self.breaker_pause_s),
            allow_insecure=self.allow_insecure,
            **more,
        )


def router_from_environment(environment: Mapping[str, str] | None = None) -> Router:
    """The router that the environment describes: extractive always, a model server where its key or its model is given."""
    settings = RouterSettings.from_environment(os.environ if environment is None else environment)
    found = {name: settings.server(name, known) for name, known in PRESETS.items()}
    servers = [server for server in found.values() if not isinstance(server, str)]
    missing = {name: need for name, need in found.items() if isinstance(need, str)}
    try:
        return Router(
            [Extractive(), *servers],
            settings.default,
            settings.fallback,
            missing,
            settings.caller_urls,
            settings.limits,
        )
    except InputError as error:
        raise InputError(f"STILLME_PROVIDER, STILLME_FALLBACK: {error}") from None
