"""Keys that seal a chain: HMAC-SHA256 (one secret) or Ed25519 (a private key writes, its public key checks).

A key file is one line of text: `hmac HEX`, `ed25519 HEX` (the private key) or `ed25519-public HEX`.
A seal is `KIND:KEY_ID:HEX` over the hash of a record and stands on the last record of every commit. Whoever changes
an earlier record has to change every hash after it, and cannot make the seals that go with them.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, Protocol

from stillme.errors import BackendError, InputError, shown

__all__ = ["Ed25519Key", "HmacKey", "Key", "Keyring", "SealState", "key_from_file", "new_key_file", "public_key"]

SealState = Literal["good", "bad", "unknown key"]
ID_LENGTH: Final = 16
SECRET_BYTES: Final = 32


class Key(Protocol):
    """What seals a hash, or only checks seals."""

    @property
    def id(self) -> str:
        """A short name for the key, which does not give it away."""

    @property
    def kind(self) -> str:
        """What the seals of this key begin with."""

    def seal(self, hash_: str) -> str:
        """The seal of a record's hash; an InputError where the key only checks seals."""

    def confirms(self, hash_: str, mark: str) -> bool:
        """Whether the hexadecimal mark is this key's over that hash."""


@dataclass(frozen=True, slots=True, repr=False)
class HmacKey:
    """One secret that writes and checks."""

    secret: bytes
    id: str = field(init=False)
    """A hash of the secret under a label of its own."""
    kind: ClassVar[str] = "hmac"

    def __post_init__(self) -> None:
        if len(self.secret) < SECRET_BYTES:
            raise InputError(f"an HMAC key has at least {SECRET_BYTES} bytes, got {len(self.secret)}")
        name = hmac.digest(self.secret, b"stillme audit key id", "sha256").hex()[:ID_LENGTH]
        object.__setattr__(self, "id", name)

    def seal(self, hash_: str) -> str:
        """The seal of a record's hash."""
        return f"{self.kind}:{self.id}:{self._mark(hash_)}"

    def confirms(self, hash_: str, mark: str) -> bool:
        """Whether the mark is the one this key makes."""
        return hmac.compare_digest(self._mark(hash_), mark)

    def _mark(self, hash_: str) -> str:
        return hmac.digest(self.secret, hash_.encode(), "sha256").hex()


class Ed25519Key:
    """A signing key, or with `private` None only the public half; needs the package `cryptography`."""

    kind = "ed25519"

    def __init__(self, private: bytes | None, public: bytes | None = None) -> None:
        module = _ed25519()
        try:
            self._private = module.Ed25519PrivateKey.from_private_bytes(private) if private is not None else None
            self._public = (
                self._private.public_key()
                if self._private is not None
                else module.Ed25519PublicKey.from_public_bytes(public or b"")
            )
        except ValueError as error:
            raise InputError(f"not an Ed25519 key: {error}; make one with `stillme audit key FILE`") from None
        self.public_bytes: bytes = self._public.public_bytes_raw()
        self.id = hashlib.sha256(self.public_bytes).hexdigest()[:ID_LENGTH]

    def seal(self, hash_: str) -> str:
        """The signature of a record's hash."""
        if self._private is None:
            raise InputError("a public key checks seals, it cannot make them: give the private key to write")
        return f"{self.kind}:{self.id}:{self._private.sign(hash_.encode()).hex()}"

    def confirms(self, hash_: str, mark: str) -> bool:
        """Whether the mark is a signature of this key."""
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415  (an extra)

        try:
            signature = bytes.fromhex(mark)
            self._public.verify(signature, hash_.encode())
        except (InvalidSignature, ValueError):
            return False
        return signature.hex() == mark  # not in capitals, not with spaces: a seal is one text


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys that seals are checked with."""

    keys: tuple[Key, ...] = ()

    @classmethod
    def of(cls, keys: Iterable[Key | None]) -> Keyring:
        """The keys that are there."""
        return cls(tuple(key for key in keys if key is not None))

    def check(self, hash_: str, seal: str) -> SealState:
        """What the seal is worth."""
        if not (isinstance(seal, str) and seal.isascii() and hash_.isascii()):  # neither is of our making
            return "bad"
        kind, _, rest = seal.partition(":")
        key_id, _, mark = rest.partition(":")
        known = [key for key in self.keys if (key.kind, key.id) == (kind, key_id)]
        if not known:
            return "unknown key"
        return "good" if known[0].confirms(hash_, mark) else "bad"


def key_from_file(path: str | os.PathLike[str]) -> Key:
    """The key in a file, or an error that says what is wrong with it (never what it holds)."""
    name = shown(str(path))
    try:
        kind, _, digits = Path(path).read_text("ascii").strip().partition(" ")
        secret = bytes.fromhex(digits)
    except FileNotFoundError:
        raise InputError(f"there is no key file {name}: make one with `stillme audit key FILE`") from None
    except OSError as error:
        raise BackendError(f"the key file {name} cannot be read: {error.strerror or error}") from None
    except ValueError:
        raise InputError(f"{name} is not a key file: it holds one line, a kind and hexadecimal digits") from None
    if kind == "hmac" and len(secret) >= SECRET_BYTES:
        return HmacKey(secret)
    if kind == "ed25519":
        return Ed25519Key(secret)
    if kind == "ed25519-public":
        return Ed25519Key(None, secret)
    raise InputError(
        f"{name} is not a key file: it begins with hmac (at least {SECRET_BYTES} bytes), ed25519 or ed25519-public"
    )


def new_key_file(path: str | os.PathLike[str], kind: str = "hmac") -> Key:
    """A new key in a new file that only its owner can read; a file that is there already is never overwritten."""
    if kind not in ("hmac", "ed25519"):
        raise InputError(f"a key is hmac or ed25519, got {shown(kind)}")
    if kind == "ed25519":
        _ed25519()
    line = f"{kind} {secrets.token_hex(SECRET_BYTES)}\n"
    target, part = Path(path), Path(f"{os.fspath(path)}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, target)  # whole or not at all, and never over another
    except FileExistsError:
        raise InputError(f"{shown(str(target))} exists: a key is never overwritten, choose another name") from None
    except OSError as error:
        problem = error.strerror or error
        raise BackendError(f"the key file {shown(str(target))} cannot be written: {problem}") from None
    finally:
        part.unlink(missing_ok=True)
    return key_from_file(target)


def public_key(key: Key) -> str:
    """The line of a public key file, for those who only check."""
    if not isinstance(key, Ed25519Key):
        raise InputError("an HMAC key has no public half: whoever checks needs the same secret")
    return f"ed25519-public {key.public_bytes.hex()}"


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415  (an extra)
    except ImportError:
        raise BackendError("Ed25519 needs the package cryptography: pip install 'stillme[sign]'") from None
    return ed25519
