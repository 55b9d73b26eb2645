"""API keys: made once, shown once, kept as hashes, compared in constant time; each opens what its scopes name.

A key reads `sm_<id>_<secret>`. The secret has 256 random bits, so its plain SHA-256 cannot be guessed back.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, get_args

from stillme.errors import BackendError, InputError, nearest, shown

__all__ = ["CONSOLE", "SCOPES", "ApiKey", "Keys", "Scope", "is_console", "scope_of"]

Scope = Literal["verify", "chat", "viewer", "reviewer", "operator", "admin"]
SCOPES: Final[tuple[str, ...]] = get_args(Scope)
# What a scope opens beside what is named like it; `admin` opens everything.
IMPLIES: Final[Mapping[str, tuple[Scope, ...]]] = {
    "reviewer": ("viewer",),
    "operator": ("reviewer", "viewer", "verify", "chat"),
    "admin": SCOPES,  # type: ignore[dict-item]  # which are the scopes
}
# The pages of the console: they let everyone in and show what the API lets whoever has signed in see.
CONSOLE: Final = (
    "/",
    "/try",
    "/overview",
    "/traces",
    "/review",
    "/chat",
    "/policy",
    "/rollout",
    "/sign-in",
    "/sign-out",
    "/preferences",
    "/assets",
)
# What is open to everyone, and what a path needs otherwise; a path that is not named here needs `admin`.
OPEN: Final = ("/healthz", "/readyz", "/docs", "/openapi.json", *CONSOLE)
NEEDS: Final[tuple[tuple[str, Scope], ...]] = (
    ("/v1/verify", "verify"),
    ("/v1/precheck", "verify"),
    ("/v1/policy/file", "viewer"),
    ("/v1/policy/check", "viewer"),
    ("/v1/policy/history", "viewer"),
    ("/v1/policy/what-if", "operator"),
    ("/v1/policy/save", "operator"),
    ("/v1/policy/roll-back", "operator"),
    ("/v1/policy", "verify"),
    ("/v1/reasons", "verify"),
    ("/v1/validators", "verify"),
    ("/beta/litellm_basic_guardrail_api", "verify"),
    ("/v1/chat", "chat"),
    ("/v1/completions", "chat"),
    ("/v1/responses", "chat"),
    ("/v1/embeddings", "chat"),
    ("/v1/models", "chat"),
    ("/v1/search", "chat"),
    ("/api/chat", "chat"),
    ("/v1/documents/upload", "operator"),
    ("/v1/documents/remove", "operator"),
    ("/v1/documents", "chat"),
    ("/v1/appeals", "verify"),
    ("/v1/try", "viewer"),
    ("/v1/traces", "viewer"),
    ("/v1/reviews", "reviewer"),
    ("/v1/overview", "viewer"),
    ("/v1/rollout/step", "operator"),
    ("/v1/rollout", "viewer"),
)
NOBODY: Final = hashlib.sha256(b"").hexdigest()


def scope_of(path: str) -> Scope | None:
    """The scope that a path needs, or None where it is open."""
    if any(_below(path, start) for start in OPEN):
        return None
    return next((scope for start, scope in NEEDS if _below(path, start)), "admin")


def is_console(path: str) -> bool:
    """Whether a path is a page of the console."""
    return any(_below(path, start) for start in CONSOLE)


def _below(path: str, start: str) -> bool:
    return path == start or (start != "/" and path.startswith(f"{start}/"))


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A key as it is kept."""

    id: str
    name: str
    scopes: tuple[str, ...]
    hash: str
    created: str
    expires: str | None = None
    """From when on it opens nothing, in ISO 8601; None for a key without an end."""

    @property
    def is_expired(self) -> bool:
        """Whether its time is over."""
        return self.expires is not None and datetime.now(UTC) >= datetime.fromisoformat(self.expires)

    def allows(self, scope: str) -> bool:
        """Whether it opens what needs that scope, by itself or by another that implies it."""
        return any(scope == each or scope in IMPLIES.get(each, ()) for each in self.scopes)


class Keys:
    """The keys in a file, read again when it changes, so that a key that is revoked is shut out at once.

    Once there were keys they are asked for as long as the process runs: a file that is gone opens nothing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = False
        self._stamp: tuple[int, int, int] | None = None
        self._known: dict[str, ApiKey] = {}
        self._lock = threading.Lock()

    def all(self) -> list[ApiKey]:
        """Every key there is, oldest first."""
        self._refresh()
        return list(self._known.values())

    @property
    def are_needed(self) -> bool:
        """Whether there are keys, or were."""
        self._refresh()
        return self._seen

    def find(self, presented: str) -> ApiKey | None:
        """The key that was presented, if it is one of ours and its time is not over."""
        self._refresh()
        prefix, _, rest = presented.partition("_")
        number, _, secret = rest.partition("_")
        kept = self._known.get(number)
        same = hmac.compare_digest(_hash(secret), kept.hash if kept else NOBODY)
        return kept if kept is not None and same and prefix == "sm" and not kept.is_expired else None

    def by_id(self, number: str) -> ApiKey | None:
        """The key with that id, as long as it is neither revoked nor expired."""
        self._refresh()
        kept = self._known.get(number)
        return None if kept is None or kept.is_expired else kept

    def create(self, name: str, scopes: Iterable[str], expires: datetime | None = None) -> str:
        """A new key, as its owner keeps it; it cannot be shown again, and opens nothing from `expires` on."""
        wanted = tuple(dict.fromkeys(scopes))
        _check(name, wanted)
        existing = self.all()
        if any(key.name == name for key in existing):
            raise InputError(f"there is a key named {shown(name)} already: revoke it, or choose another name")
        number, secret = secrets.token_hex(4), secrets.token_urlsafe(32).replace("_", "-")
        now = datetime.now(UTC)
        if expires is not None and expires <= now:
            raise InputError(f"a key has to expire later than now, got {expires.isoformat()}")
        end = expires.astimezone(UTC).isoformat(timespec="seconds") if expires else None
        made = ApiKey(number, name, wanted, _hash(secret), now.isoformat(timespec="seconds"), end)
        self._write([*existing, made])
        return f"sm_{number}_{secret}"

    def revoke(self, name: str) -> None:
        """Shut a key out, by its name or id."""
        existing = self.all()
        left = [key for key in existing if name not in (key.name, key.id)]
        if len(left) == len(existing):
            known = [key.name for key in existing]
            guess = nearest(name, known)
            hint = f"did you mean {guess!r}?" if guess else f"there are: {', '.join(known) or 'none'}"
            raise InputError(f"there is no key named {shown(name)}: {hint}")
        self._write(left)

    def _refresh(self) -> None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            self._stamp, self._known = None, {}
            return
        except OSError as error:
            raise BackendError(f"the key file {self.path} cannot be read ({error.strerror})") from None
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if stamp != self._stamp:
            with self._lock:
                self._known = {key.id: key for key in _read(self.path)}
                self._stamp = stamp
                self._seen = self._seen or bool(self._known)

    def _write(self, keys: Sequence[ApiKey]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}.new")
        text = json.dumps({"keys": [asdict(key) for key in keys]}, indent=2, ensure_ascii=False)
        only_ours = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(only_ours, "w", encoding="utf-8") as file:
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)


def _check(name: str, scopes: Sequence[str]) -> None:
    if not name.strip() or not name.isprintable() or len(name) > 100:
        raise InputError(f"a key's name must be 1 to 100 printable characters, got {shown(name)}")
    for scope in scopes:
        if scope not in SCOPES:
            raise InputError(f"a scope is one of {', '.join(SCOPES)}, got {shown(scope)}")
    if not scopes:
        raise InputError(f"a key needs at least one scope: {', '.join(SCOPES)}")


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _key(row: Mapping[str, Any]) -> ApiKey:
    """A key as its file has it; one whose end cannot be read is damaged, not endless."""
    kept = ApiKey(row["id"], row["name"], tuple(row["scopes"]), row["hash"], row["created"], row.get("expires"))
    if kept.expires is not None and datetime.fromisoformat(kept.expires).tzinfo is None:
        raise ValueError(kept.expires)
    return kept


def _read(path: Path) -> list[ApiKey]:
    try:
        rows: Any = json.loads(path.read_text(encoding="utf-8"))["keys"]
        found = [_key(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        # Whoever cannot be told apart is not let in.
        raise BackendError(f"the key file {path} cannot be read: restore it, or make keys anew") from None
    return found
