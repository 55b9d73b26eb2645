"""StillMe as a guardrail of LiteLLM, in its proxy or beside its SDK: the guard in LiteLLM's own process, with the sources of the request.

    guardrails:
      - guardrail_name: stillme
        litellm_params:
          guardrail: stillme.adapters.litellm.StillMeGuardrail
          mode: [pre_call, post_call]
          default_on: true
          policy: policy.yaml

Sources are found as the guard in front of a model finds them (docs/proxy.md): in system and developer messages, or in the field `stillme`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar, Literal

from litellm.integrations.custom_guardrail import CustomGuardrail
from litellm.types.guardrails import GuardrailEventHooks

from stillme.adapters.guarding import GuardedStream, Judged, ajudged
from stillme.guard import Guard
from stillme.service.openai.request_sources import APPLICATION, EXTENSION, asked_in
from stillme.validators.chain import attempt

__all__ = ["StillMeGuardrail"]

Asked = tuple[str, list[dict[str, Any]]]
HOOKS = [GuardrailEventHooks.pre_call, GuardrailEventHooks.post_call]


class StillMeGuardrail(CustomGuardrail):
    """Prechecks questions, judges answers whole, and lets streams through claim by claim.

    `policy` names the policy where no guard is given. The verdict stands in a message's `provider_specific_fields["stillme"]`.
    """

    use_native_lifecycle_hooks: ClassVar[bool] = True

    def __init__(
        self,
        guard: Guard | None = None,
        *,
        policy: Any = None,
        source_roles: Sequence[str] = APPLICATION,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"supported_event_hooks": HOOKS, "guardrail_name": EXTENSION, **kwargs})
        self.guard = guard or Guard(policy)
        self._roles = source_roles

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> Any:
        """Ask whether the question may be answered from its sources; where enforce says no, the model is not asked."""
        if self.should_run_guardrail(data=data, event_type=GuardrailEventHooks.pre_call) and "messages" in data:
            found = await self._judged(data, None)
            if found.is_blocked:
                self.raise_passthrough_exception(found.text, data, found.record)
        data.pop(EXTENSION, None)  # a model's server does not know the field
        return data

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        """Put in the place of each answer what the guard lets go out."""
        if not self.should_run_guardrail(data=data, event_type=GuardrailEventHooks.post_call):
            return response
        for choice in getattr(response, "choices", ()):
            if choice.message.content:
                found = await self._judged(data, choice.message.content)
                choice.message.content = found.text
                _note(choice.message, found)
                choice.finish_reason = "content_filter" if found.is_blocked else choice.finish_reason
        return response

    async def async_post_call_streaming_iterator_hook(
        self,
        user_api_key_dict: Any,
        response: Any,
        request_data: dict[str, Any],
    ) -> Any:
        """Let a stream through claim by claim, each of its answers for itself."""
        if not self.should_run_guardrail(data=request_data, event_type=GuardrailEventHooks.post_call):
            async for chunk in response:
                yield chunk
            return
        async for chunk in self._released(response, *self._asked(request_data)):
            yield chunk

    async def apply_guardrail(
        self,
        inputs: Any,
        request_data: dict[str, Any],
        input_type: Literal["request", "response"],
        logging_obj: Any = None,
    ) -> Any:
        """Texts as the guard lets them go out; of a request, whether it may be asked at all."""
        known = getattr(logging_obj, "model_call_details", None) or {}
        data = request_data if "messages" in request_data else {**known, **request_data}
        if input_type == "request":
            found = await self._judged(
                {**data, "messages": inputs.get("structured_messages") or data.get("messages")}, None
            )
            if found.is_blocked:
                self.raise_passthrough_exception(found.text, data, found.record)
            return inputs
        return {**inputs, "texts": [(await self._judged(data, text)).text for text in inputs.get("texts", [])]}

    async def _judged(self, data: Mapping[str, Any], draft: str | None) -> Judged:
        query, passages = self._asked(data)
        return await ajudged(self.guard, query, draft, passages)

    def _asked(self, data: Mapping[str, Any]) -> Asked:
        """Question and sources of a request; a request that has none is judged as one without a question, which no guard lets pass."""
        found, problem = attempt(lambda: asked_in(data, self._roles))
        if problem is not None or found is None:
            return "", []
        return found.question, [p.model_dump(exclude_none=True) for p in found.passages]

    async def _released(self, response: Any, query: str, passages: list[dict[str, Any]]) -> AsyncIterator[Any]:
        streams: dict[int, GuardedStream] = {}
        held: Any = None
        async for chunk in response:
            for choice in chunk.choices:
                stream = streams.setdefault(choice.index, GuardedStream(self.guard, query, passages))
                choice.delta.content = await asyncio.to_thread(stream.feed, choice.delta.content or "")
                if choice.finish_reason:
                    choice.delta.content += await asyncio.to_thread(stream.close)
                    _note(choice.delta, stream.judged)
                    choice.finish_reason = "content_filter" if stream.judged.is_blocked else choice.finish_reason
                    streams.pop(choice.index)
            held = chunk
            yield chunk
        for index, stream in streams.items():  # one that broke off without saying so
            choice = held.choices[0].model_copy(update={"index": index})
            choice.delta.content = await asyncio.to_thread(stream.close)
            _note(choice.delta, stream.judged)
            yield held.model_copy(update={"choices": [choice]})


def _note(message: Any, found: Judged) -> None:
    message.provider_specific_fields = {
        **(getattr(message, "provider_specific_fields", None) or {}),
        EXTENSION: found.record,
    }
