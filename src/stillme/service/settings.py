"""What an operator can decide about the service, by environment variable; what it decides for a chat stands in `chat.settings`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stillme.llm.addresses import is_loopback
from stillme.service.logs import FORMATS
from stillme.service.openai.request_sources import BELIEVED, SOURCE_ROLES
from stillme.settings import EnvironmentSettings, choice, named, number, setting, whole

__all__ = ["ServiceSettings"]


@dataclass(frozen=True, slots=True)
class ServiceSettings(EnvironmentSettings):
    """The service as an operator wants it."""

    host: str = setting("127.0.0.1", "STILLME_HOST", "the address to listen on; any but loopback needs API keys")
    port: int = setting(8000, "STILLME_PORT", "the port; 0 takes a free one", whole(0, 65535))
    workers: int = setting(1, "STILLME_WORKERS", "how many processes serve", whole(1, 64))
    data: str = setting("stillme-data", "STILLME_DATA", "the folder for whatever is kept in files")
    audit: str | None = setting(
        None,
        "STILLME_AUDIT_STORE",
        "the audit store: a file or postgresql://…, or none; without it audit.db in that folder",
    )
    checkpoint_s: float = setting(
        3600.0,
        "STILLME_CHECKPOINT_S",
        "every how many seconds the end of the audit trail is written down, where it has grown; 0 never does",
        number(0, 604_800),
    )
    checkpoints: str | None = setting(
        None,
        "STILLME_AUDIT_CHECKPOINTS",
        "the file that this is added to, best where whoever can write the store cannot; without it STORE.checkpoints beside a "
        "file, audit.checkpoints in that folder",
    )
    keys: str | None = setting(None, "STILLME_KEYS_FILE", "the file of API keys; without it keys.json in that folder")
    most_bytes: int = setting(
        8_000_000, "STILLME_MAX_BODY_BYTES", "a larger request is 413", whole(1_000, 1_000_000_000)
    )
    body_timeout_s: float = setting(
        10.0, "STILLME_BODY_TIMEOUT_S", "a request that takes longer to arrive is 408", number(0.1, 600)
    )
    timeout_s: float = setting(
        30.0, "STILLME_REQUEST_TIMEOUT_S", "a verification that takes longer is 408", number(0.1, 3600)
    )
    chat_timeout_s: float = setting(
        120.0, "STILLME_CHAT_TIMEOUT_S", "a chat answer that takes longer is 408", number(0.1, 3600)
    )
    threads: int = setting(4, "STILLME_THREADS", "how many verifications run at once in a process", whole(1, 256))
    waiting: int = setting(
        64, "STILLME_MAX_WAITING", "how many more may wait for their turn; beyond, 429", whole(0, 100_000)
    )
    most_requests: int = setting(
        512, "STILLME_MAX_REQUESTS", "how many requests may be open at once; beyond, 429", whole(1, 100_000)
    )
    rate_per_key: int = setting(
        6000,
        "STILLME_RATE_PER_KEY",
        "requests a minute with one API key, in a process; beyond, 429; 0 sets no bound",
        whole(0, 10_000_000),
    )
    rate_per_address: int = setting(
        6000,
        "STILLME_RATE_PER_ADDRESS",
        "requests a minute from one address (of IPv6: a /64), with or without a key; beyond, 429; 0 sets no bound",
        whole(0, 10_000_000),
    )
    ready_fresh_s: float = setting(
        5.0, "STILLME_READY_FRESH_S", "for how long `/readyz` tells what it found without a new look", number(0, 3600)
    )
    proxies: tuple[str, ...] = setting(
        (),
        "STILLME_TRUSTED_PROXIES",
        "addresses of proxies whose X-Forwarded-For names the caller, with commas between; none by default",
    )
    most_header_bytes: int = setting(
        32_768, "STILLME_MAX_HEADER_BYTES", "request line and headers; beyond, 431", whole(1_024, 1_000_000)
    )
    header_timeout_s: float = setting(
        10.0, "STILLME_HEADER_TIMEOUT_S", "a connection whose headers take longer is closed", number(0.1, 600)
    )
    most_connections: int = setting(
        800,
        "STILLME_MAX_CONNECTIONS",
        "how many connections may be open at once in a process; further ones are closed",
        whole(1, 1_000_000),
    )
    most_values: int = setting(
        250_000,
        "STILLME_MAX_JSON_VALUES",
        "how many values the JSON of a request may hold; beyond, 413",
        whole(100, 100_000_000),
    )
    most_batch_work: int = setting(
        2_000_000,
        "STILLME_MAX_BATCH_WORK",
        "how much work the requests of a batch may ask for together, counted as `limits.work` of a policy",
        whole(1, 1_000_000_000),
    )
    most_batch: int = setting(256, "STILLME_MAX_BATCH", "how many requests a batch may hold", whole(1, 100_000))
    origins: tuple[str, ...] = setting(
        (), "STILLME_CORS_ORIGINS", "web origins that may call, with commas between; none by default"
    )
    session_idle_s: float = setting(
        1800.0,
        "STILLME_SESSION_IDLE_S",
        "a session of the console ends after so many seconds without a request",
        number(10, 86_400),
    )
    session_longest_s: float = setting(
        43_200.0,
        "STILLME_SESSION_MAX_S",
        "a session of the console ends after so many seconds in any case",
        number(60, 2_592_000),
    )
    log_format: str = setting(
        "text", "STILLME_LOG_FORMAT", "how the log is written: text, or json (one object a line)", choice(*FORMATS)
    )
    grace_s: float = setting(
        30.0, "STILLME_SHUTDOWN_S", "how long a stopping service finishes what it accepted", number(0, 3600)
    )

    upstream_url: str | None = setting(None, "STILLME_UPSTREAM_URL", "the OpenAI-compatible server behind the guard")
    upstream_key: str | None = setting(None, "STILLME_UPSTREAM_API_KEY", "the key that it wants")
    upstream_model: str = setting(
        "default",
        "STILLME_UPSTREAM_MODEL",
        "the model that is asked where a request names none or `default`; as `default`, the first that the server lists",
    )

    source_roles: tuple[str, ...] = setting(
        BELIEVED,
        "STILLME_SOURCE_ROLES",
        "which messages may carry sources, with commas between: system, developer, tool (results of tools are evidence), "
        "user (the tags of whoever asks are evidence)",
        named(lambda: SOURCE_ROLES),
    )
    user_templates: tuple[str, ...] = setting(
        (),
        "STILLME_USER_TEMPLATES",
        "which prompts of frameworks, or of your own, bring evidence in the user message that they make, with commas between: "
        "langchain-rag, langchain-qa, llamaindex, haystack, names of STILLME_EVIDENCE_FORMATS, or all; none by default",
    )
    evidence_formats: str | None = setting(
        None,
        "STILLME_EVIDENCE_FORMATS",
        "a YAML file of formats of your own in which evidence stands in messages: begin and end markers, or templates",
    )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the service."""
        return is_loopback(self.host)

    @property
    def keys_file(self) -> Path:
        """Where the API keys are."""
        return Path(self.keys) if self.keys else Path(self.data) / "keys.json"

    @property
    def checkpoints_file(self) -> Path:
        """Where checkpoints of the audit trail are written."""
        if self.checkpoints is not None:
            return Path(self.checkpoints)
        store = self.audit_store or ""
        return Path(self.data) / "audit.checkpoints" if "://" in store else Path(f"{store}.checkpoints")

    @property
    def audit_store(self) -> str | None:
        """Where verdicts are recorded, or None where the operator wants no record."""
        if self.audit is None:
            return str(Path(self.data) / "audit.db")
        return None if self.audit.lower() == "none" else self.audit
