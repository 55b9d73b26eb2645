"""Seals that only the holder of a key can make, and key files that do not give the key away."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stillme.audit import AuditStore
from stillme.audit.chain.integrity import verify_store
from stillme.audit.chain.record import ZERO, sha256
from stillme.audit.chain.seals import Ed25519Key, HmacKey, Key, Keyring, key_from_file, new_key_file, public_key
from stillme.errors import BackendError, InputError, StillMeError
from tests.audit.conftest import NewStore
from tests.audit.support import OTHER_KEY, verdicts
from tests.soak import examples

SECRET = bytes(range(32))
HMAC, SIGNING = HmacKey(SECRET), Ed25519Key(SECRET)
CHECKING = Ed25519Key(None, SIGNING.public_bytes)
HASH = sha256("a record")
WRITERS = [pytest.param(HMAC, id="HMAC"), pytest.param(SIGNING, id="Ed25519")]


@pytest.mark.parametrize("key", WRITERS)
def test_a_seal_is_good_for_its_hash_and_key_alone(key: Key) -> None:
    """Another hash, another key or another kind of key finds it wanting."""
    seal, ring = key.seal(HASH), Keyring((key,))

    assert ring.check(HASH, seal) == "good"
    assert ring.check(ZERO, seal) == "bad"
    assert Keyring((OTHER_KEY,)).check(HASH, seal) == "unknown key"
    assert Keyring().check(HASH, seal) == "unknown key"
    assert key.seal(HASH) == seal


@settings(max_examples=examples(60), deadline=None)
@given(place=st.integers(0, 500), sign=st.characters(exclude_categories=[]), width=st.integers(0, 1))
@pytest.mark.parametrize("key", WRITERS)
def test_a_seal_with_one_character_changed_is_not_good(key: Key, place: int, sign: str, width: int) -> None:
    """Capitals, spaces, letters beyond ASCII and lone surrogates included."""
    seal = key.seal(HASH)
    at = place % len(seal)
    changed = seal[:at] + sign + seal[at + width :]

    assert changed == seal or Keyring((key,)).check(HASH, changed) != "good"


@pytest.mark.parametrize("key", WRITERS)
@pytest.mark.parametrize(
    "change", [str.upper, lambda s: s + " ", lambda s: s + "\n", lambda s: " " + s, lambda s: s[:-2] + " " + s[-2:]]
)
def test_a_seal_is_written_in_one_way(key: Key, change: Callable[[str], str]) -> None:
    """The same digits in capitals or with spaces are not the same seal."""
    kind, name, mark = key.seal(HASH).split(":")

    assert Keyring((key,)).check(HASH, f"{kind}:{name}:{change(mark)}") == "bad"


@pytest.mark.parametrize(
    "seal", [None, b"hmac:x:y", 5, ["a"], "\ud800", "", ":", "::", "hmac", f"hmac:{HMAC.id}", f"hmac:{HMAC.id}:"]
)
def test_what_is_no_seal_is_not_good(seal: object) -> None:
    """A damaged store may hold anything where a seal should be."""
    assert Keyring((HMAC, SIGNING)).check(HASH, seal) != "good"  # type: ignore[arg-type]


def test_a_public_key_checks_and_does_not_seal() -> None:
    """An auditor who has it can prove the chain and cannot write it."""
    assert Keyring((CHECKING,)).check(HASH, SIGNING.seal(HASH)) == "good"
    assert CHECKING.id == SIGNING.id
    with pytest.raises(
        InputError, match="a public key checks seals, it cannot make them: give the private key to write"
    ):
        CHECKING.seal(HASH)


def test_a_public_key_verifies_a_store_and_cannot_write_to_it(new_store: NewStore) -> None:
    """Reading, checking and refusing to write, all through the store."""
    new_store(key=SIGNING).record(verdicts(count=2))
    store = new_store(key=CHECKING)

    found = verify_store(store)
    with pytest.raises(StillMeError, match="give the private key to write"):
        store.record(verdicts())

    assert (found.ok, found.records, found.keys) == (True, 3, (f"ed25519:{SIGNING.id}",))
    assert verify_store(store) == found


@pytest.mark.parametrize("keys", [(HMAC, SIGNING), (SIGNING, HMAC), (HMAC, OTHER_KEY)])
def test_a_store_that_changed_its_key_needs_both(new_store: NewStore, keys: tuple[Key, Key]) -> None:
    """With one of the two the first record under the other is named."""
    old, new = keys
    with new_store(key=old) as store:
        store.record(verdicts())
    store = new_store(key=new)
    store.record(verdicts(count=2))

    both, first, second = (verify_store(store, Keyring(ring)) for ring in ((old, new), (old,), (new,)))

    assert (both.ok, both.keys) == (True, (f"{old.kind}:{old.id}", f"{new.kind}:{new.id}"))
    assert first.fault is not None
    assert (first.fault.seq, f"'{new.kind}:{new.id}', which was not given" in first.fault.problem) == (3, True)
    assert second.fault is not None
    assert (second.fault.seq, f"'{old.kind}:{old.id}', which was not given" in second.fault.problem) == (1, True)


# what does not give the key away


@pytest.mark.parametrize("key", [*WRITERS, pytest.param(CHECKING, id="the public half")])
def test_no_text_of_a_key_shows_the_secret(key: Key) -> None:
    """Not its name, not its seals, not how it is shown in a message or a debugger."""
    said = " ".join([key.id, repr(key), str(key), repr(Keyring((key,))), "" if key is CHECKING else key.seal(HASH)])

    assert SECRET.hex() not in said
    assert repr(SECRET)[2:-1] not in said
    assert len(key.id) == 16


def test_keys_have_names_of_their_own() -> None:
    """A key is told from another by its id, which does not depend on what it seals."""
    assert len({HmacKey(bytes([n]) * 32).id for n in range(50)}) == 50


def test_a_short_secret_is_refused() -> None:
    """Whoever makes a key in code cannot make a weak one by mistake."""
    with pytest.raises(InputError, match="an HMAC key has at least 32 bytes, got 5"):
        HmacKey(b"short")


# key files


@pytest.mark.parametrize("kind", ["hmac", "ed25519"])
def test_a_new_key_file_is_for_its_owner_alone(tmp_path: Path, kind: str) -> None:
    """Nobody else can read it, whatever the umask, and it reads back as the same key."""
    old = os.umask(0)
    try:
        made = new_key_file(tmp_path / "audit.key", kind)
    finally:
        os.umask(old)

    read = key_from_file(tmp_path / "audit.key")
    assert (read.kind, read.id, read.seal(HASH)) == (kind, made.id, made.seal(HASH))
    assert stat.S_IMODE((tmp_path / "audit.key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["audit.key"]


def test_a_key_file_is_never_overwritten(tmp_path: Path) -> None:
    """A lost key is a store that nobody can prove any more."""
    path = tmp_path / "audit.key"
    new_key_file(path)
    content = path.read_bytes()

    with pytest.raises(InputError, match="exists: a key is never overwritten, choose another name"):
        new_key_file(path)

    assert path.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["audit.key"]


def test_a_key_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """The folder is named and nothing is left behind."""
    with pytest.raises(BackendError, match=r"the key file .* cannot be written: No such file or directory"):
        new_key_file(tmp_path / "nowhere" / "audit.key")


def test_there_are_two_kinds_of_keys(tmp_path: Path) -> None:
    """Another kind is refused before anything is written."""
    with pytest.raises(InputError, match="a key is hmac or ed25519, got 'rsa'"):
        new_key_file(tmp_path / "audit.key", "rsa")

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(f"hmac {SECRET.hex()}zz", id="letters that are no digits"),
        pytest.param(f"hmac {SECRET.hex()[:-2]}", id="an HMAC key that is too short"),
        pytest.param(f"ed25519 {SECRET.hex()}00", id="an Ed25519 key that is too long"),
        pytest.param(f"ed25519-public {SECRET.hex()}00", id="a public key that is too long"),
        pytest.param(f"ed25519-public {SECRET.hex()[:-2]}", id="a public key that is too short"),
        pytest.param(f"rsa {SECRET.hex()}", id="an unknown kind"),
        pytest.param(SECRET.hex(), id="no kind"),
        pytest.param("", id="an empty file"),
        pytest.param(f"hmac {SECRET.hex()}\nhmac {SECRET.hex()}x", id="two lines"),
        pytest.param(f"hmac é{SECRET.hex()}", id="letters beyond ASCII"),
    ],
)
def test_a_bad_key_file_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    """The message names the file, not what is in it."""
    path = tmp_path / "audit.key"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(InputError) as refusal:
        key_from_file(path)

    assert SECRET.hex()[:8] not in str(refusal.value)
    assert "key" in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "error", "problem"),
    [
        pytest.param("nothing.key", InputError, "there is no key file", id="no file"),
        pytest.param(".", BackendError, "cannot be read: Is a directory", id="a folder"),
        pytest.param("\0", InputError, "is not a key file", id="a name that no file has"),
    ],
)
def test_a_key_file_that_is_not_there(tmp_path: Path, name: str, error: type[StillMeError], problem: str) -> None:
    """What is wrong is said in words."""
    with pytest.raises(error, match=problem):
        key_from_file(tmp_path / name)


def test_the_public_half_of_a_key_is_a_key_file(tmp_path: Path) -> None:
    """It can be given away as it is printed; an HMAC key has none."""
    (tmp_path / "audit.pub").write_text(public_key(SIGNING) + "\n")

    read = key_from_file(tmp_path / "audit.pub")

    assert (read.id, public_key(read)) == (SIGNING.id, public_key(SIGNING))
    with pytest.raises(InputError, match="a public key checks seals"):
        read.seal(HASH)
    with pytest.raises(InputError, match="an HMAC key has no public half"):
        public_key(HMAC)


def test_a_store_with_the_wrong_key_is_not_good(new_store: NewStore) -> None:
    """It says which key the seals are of."""
    new_store(key=HMAC).record(verdicts())
    store: AuditStore = new_store(key=OTHER_KEY)

    fault = verify_store(store).fault

    assert fault is not None
    assert (fault.seq, f"hmac:{HMAC.id}" in fault.problem) == (1, True)
