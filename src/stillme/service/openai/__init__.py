"""The OpenAI-compatible guard: completions, streams, and LiteLLM's guardrail."""
