"""An export proves and restores a store without its database; every byte of it counts."""
# ruff: noqa: S608  (the names in the statements are ours)

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.integrity import Fault, Verification, verify_store
from stillme.audit.chain.record import Body, Entry, Record, compact, sha256
from stillme.audit.chain.seals import Ed25519Key, Keyring
from stillme.audit.export import (
    Exported,
    export_csv,
    export_jsonl,
    export_parquet,
    line_of,
    manifest_of,
    policies_of,
    read_export,
    record_of,
    restore,
    verify_export,
    verify_manifest,
)
from stillme.audit.replay import Replayer
from stillme.audit.retention import erase, prune
from stillme.errors import BackendError, InputError
from stillme.policy.sections import Retention
from stillme.storage.audit.database import BODY, POLICY, RECORD
from tests.audit.conftest import KEY, NewStore
from tests.audit.support import (
    OTHER_KEY,
    VIETNAMESE,
    Ground,
    Tables,
    again,
    cut_ground,
    fill,
    ground,
    places,
    trace,
    verdicts,
)
from tests.soak import examples

__all__ = ["cut_ground", "ground", "places"]  # fixtures

RING = Keyring((KEY,))


def exported(store: AuditStore, path: Path, wanted: Filter | None = None) -> str:
    with path.open("wb") as out:
        export_jsonl(store, out, wanted)
    return str(path)


# a whole store


def test_an_export_is_verified_without_the_database(ground: Ground, tmp_path: Path) -> None:
    """It finds what a check of the store itself finds, checkpoints included."""
    path = exported(ground.store, tmp_path / "all.jsonl")

    assert verify_export(path, RING) == verify_store(ground.store)
    assert verify_export(path, RING).ok


def test_an_export_of_a_cut_chain_is_verified(cut_ground: Ground, tmp_path: Path) -> None:
    """A beginning that was cut off is accounted for in the file too."""
    path = exported(cut_ground.store, tmp_path / "cut.jsonl")

    assert verify_export(path, RING) == verify_store(cut_ground.store)


def test_without_a_key_the_file_is_not_called_good(ground: Ground, tmp_path: Path) -> None:
    """Its chain holds, but whoever can write the file could have made another one."""
    found = verify_export(exported(ground.store, tmp_path / "all.jsonl"), Keyring())

    assert (found.fault, found.ok) == (None, False)


def test_the_wrong_key_is_told(ground: Ground, tmp_path: Path) -> None:
    """As for a store."""
    fault = verify_export(exported(ground.store, tmp_path / "all.jsonl"), Keyring((OTHER_KEY,))).fault

    assert fault is not None
    assert (fault.seq, "which was not given" in fault.problem) == (1, True)


def test_what_is_read_is_what_was_stored(ground: Ground, tmp_path: Path) -> None:
    """Every record, with the very characters of its meta and body, and the policies that records name."""
    found = read_export(exported(ground.store, tmp_path / "all.jsonl"))

    assert found.is_whole
    assert list(found.records) == list(ground.store.records())
    used = {record.entry.policy for record in ground.store.records() if record.entry and record.entry.policy}
    assert found.policies == {digest: text for digest, text in policies_of(ground.store).items() if digest in used}


@given(st.text(), st.text(min_size=1), st.recursive(st.none() | st.text() | st.integers() | st.booleans(), lambda x: st.lists(x) | st.dictionaries(st.text(), x), max_leaves=6), st.booleans())  # fmt: skip
def test_any_record_is_one_line(name: str, salt: str, value: Any, has_body: bool) -> None:
    """Whatever its texts hold, the keys of the format itself too, it comes back to the letter."""
    body = Body(compact({"a": value, '","meta":': '","body":'}), salt) if has_body else None
    entry = Entry(
        "verdict", name, ',"meta":{}', compact({',"body":': value, "m": name}), session=',"meta":null', body=body
    )
    for record in (Record(1, entry, entry.digest, "h", None), Record(2, None, "d", "h", "s")):
        line = line_of(record)

        assert record_of(line) == record
        assert len(line.encode().splitlines()) == 1


def test_every_line_is_json(ground: Ground, tmp_path: Path) -> None:
    """Any program reads the file: a header, records, policies and an end, in this order."""
    lines = [
        json.loads(line)
        for line in Path(exported(ground.store, tmp_path / "all.jsonl")).read_text("utf-8").splitlines()
    ]

    assert [next(iter(line)) for line in lines] == ["export", *["seq"] * 17, *["policy"] * 4, "end"]
    assert (lines[0]["seq"], lines[-1]["records"]) == (17, 17)
    assert lines[5]["body"]["request"]["query"] == VIETNAMESE["query"]


# every byte


def add_verdict(store: AuditStore, number: int) -> None:
    """A verdict that takes little room, in a commit of its own."""
    body, policy = Body.of(compact({"request": {"query": f"Hàng {number}?"}})), "mode: warn\n"
    entry = Entry("verdict", f"trace-{number}", "2026-02-01T00:00:00.000000Z", "{}", policy=sha256(policy))
    store.add([replace(entry, policy_text=policy, body=body, body_digest=body.digest)])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small export with texts, an erasure and a policy."""
    folder = tmp_path_factory.mktemp("small")
    with AuditStore(folder / "audit.db", key=KEY, journal=folder / "journal") as store:
        store.prepare()
        add_verdict(store, 1)
        add_verdict(store, 2)
        erase(store, Filter(id="trace-1"), who="lan", why="asked")
        return Path(exported(store, folder / "small.jsonl"))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The smallest export that has everything: a header, two records, a policy, an end."""
    folder = tmp_path_factory.mktemp("tiny")
    with AuditStore(folder / "audit.db", key=KEY, journal=folder / "journal") as store:
        store.prepare()
        add_verdict(store, 1)
        return Path(exported(store, folder / "tiny.jsonl")).read_bytes()


def fault_in(content: bytes, path: Path, keys: Keyring = RING) -> Fault | None:
    """What is wrong with the content of a file; a file that is no export any more has a fault without a place."""
    path.write_bytes(content)
    try:
        found = verify_export(str(path), keys)
    except InputError as error:
        return Fault(-1, None, str(error))
    assert found.ok == (found.fault is None)
    return found.fault


def lines_of(content: bytes) -> Iterator[int]:
    """For each byte, which line it stands in."""
    for number, line in enumerate(content.splitlines(keepends=True)):
        yield from [number] * len(line)


# The lines of the smallest export; a fault in the header may make it no export at all.
NAMED = {0: {-1, 0}, 1: {1}, 2: {2}, 3: {0, 2}, 4: {0}}


def test_every_flipped_byte_is_found_and_its_record_named(tiny: bytes, tmp_path: Path) -> None:
    """One bit of each byte of the file, in turn."""
    assert fault_in(tiny, tmp_path / "x") is None
    wrong = []
    for place, line in enumerate(lines_of(tiny)):
        content = bytearray(tiny)
        content[place] ^= 1 << place % 8
        fault = fault_in(bytes(content), tmp_path / "x")
        if fault is None or fault.seq not in NAMED[line]:
            wrong.append((place, line, fault))

    assert wrong == []


def test_every_inserted_byte_is_found(tiny: bytes, tmp_path: Path) -> None:
    """Spaces between the parts of JSON and empty lines too."""
    signs = [b" ", b"\n", b"0", b'"', b"\xff", b"\0"]
    contents = (tiny[:place] + signs[place % 6] + tiny[place:] for place in range(len(tiny) + 1))

    assert [place for place, content in enumerate(contents) if fault_in(content, tmp_path / "x") is None] == []


def test_every_deleted_byte_is_found(tiny: bytes, tmp_path: Path) -> None:
    """Wherever it stood."""
    contents = (tiny[:place] + tiny[place + 1 :] for place in range(len(tiny)))

    assert [place for place, content in enumerate(contents) if fault_in(content, tmp_path / "x") is None] == []


def test_every_truncation_is_found(tiny: bytes, tmp_path: Path) -> None:
    """At the end of a line too, and with nothing left."""
    assert [place for place in range(len(tiny)) if fault_in(tiny[:place], tmp_path / "x") is None] == []


def test_lines_deleted_doubled_or_swapped_are_found(small: Path, tmp_path: Path) -> None:
    """Any two lines, any line."""
    lines = small.read_bytes().splitlines(keepends=True)
    changed = [lines[:n] + lines[n + 1 :] for n in range(len(lines))]
    changed += [[*lines[: n + 1], *lines[n:]] for n in range(len(lines))]
    for n in range(len(lines)):
        for m in range(n):
            swapped = list(lines)
            swapped[n], swapped[m] = lines[m], lines[n]
            changed.append(swapped)

    assert [c for c in changed if fault_in(b"".join(c), tmp_path / "x") is None] == []


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 2**24), flip=st.integers(1, 255))
def test_any_flipped_byte_of_a_real_export(ground: Ground, tmp_path: Path, place: int, flip: int) -> None:
    """With verdicts, reviews, a tombstone and policies in it."""
    path = tmp_path / "all.jsonl"
    if not path.exists():
        exported(ground.store, path)
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= flip

    assert fault_in(bytes(content), tmp_path / "x") is not None


def resealed(content: bytes, seal: Callable[[str], str]) -> bytes:
    """A file with a last line that belongs to what is above it, as anybody can write one."""
    lines = content.splitlines(keepends=True)[:-1]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    count = sum(line.startswith(b'{"seq":') for line in lines)
    return b"".join([*lines, (compact({"end": digest, "records": count, "seal": seal(digest)}) + "\n").encode()])


OLD_SEAL = KEY.seal(sha256("another export"))
FORGERIES = [
    pytest.param(lambda c: c.replace(b"trace-2", b"trace-9"), 3, "its content is not what its digest says", id="a record edited"),
    pytest.param(lambda c: c.replace("Hàng 2".encode(), "Hàng 9".encode()), 3, "its texts are not what they were", id="a text edited"),
    pytest.param(lambda c: c.replace(b"mode: warn", b"mode: loud"), 2, "is not what its digest says", id="a policy edited"),
    pytest.param(lambda c: b"".join(line for line in c.splitlines(keepends=True) if b"trace-2" not in line), 3, "it is missing", id="a record deleted"),
    pytest.param(lambda c: b"".join(line for line in c.splitlines(keepends=True) if not line.startswith(b'{"policy"')), 2, "is missing", id="a policy deleted"),
    pytest.param(lambda c: b"".join(line for line in c.splitlines(keepends=True) if not line.startswith(b'{"seq":4')), 2, "its texts are missing", id="the last record deleted"),
    pytest.param(lambda c: c.replace(b'"at":"20', b'"at":"19', 1), 0, "the seal of the export is", id="the header edited"),
    pytest.param(lambda c: c.replace(b'"whole":true', b'"whole":false'), 0, "the seal of the export is", id="called a part"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "seq", "problem"), FORGERIES)
@pytest.mark.parametrize("seal", [lambda _: OLD_SEAL, OTHER_KEY.seal], ids=["an old seal", "a seal of another key"])
def test_a_file_that_fits_but_was_not_sealed_by_us_is_found(
    small: Path, tmp_path: Path, change: Callable[[bytes], bytes], seq: int, problem: str, seal: Callable[[str], str]
) -> None:
    """Whoever changes the file can make the last line fit, but not its seal; what is wrong with a record is named first."""
    fault = fault_in(resealed(change(small.read_bytes()), seal), tmp_path / "x")

    assert fault is not None
    assert fault.seq == seq
    assert problem in fault.problem


def test_an_end_cut_off_with_a_seal_of_ours_is_found_by_the_header(small: Path, tmp_path: Path) -> None:
    """The header says how far the chain went when the export was begun."""
    lines = small.read_bytes().splitlines(keepends=True)
    for record in (3, 4):  # the header, the first record and the policy stay
        lines[record] = b""
    content = b"".join(lines)
    content = content.replace(lines[2], b"").replace(lines[5], b"")

    fault = fault_in(resealed(content, KEY.seal), tmp_path / "x")

    assert fault == Fault(2, None, "the export says that it has records up to 4")


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="an empty file"),
        pytest.param(b"\n", id="an empty line"),
        pytest.param(b"seq,kind\n1,store\n", id="a table"),
        pytest.param(b"{}\n{}\n", id="other JSON lines"),
        pytest.param(b"[" * 100_000 + b"\n", id="JSON nested without end"),
        pytest.param(b"\xff\xfe\x00" * 50, id="no text"),
        pytest.param(
            b'{"export":"stillme-audit-export-9","whole":true,"seq":1}\n{}\n', id="an export of another format"
        ),
        pytest.param(b'{"export":"stillme-audit-export-1","whole":1,"seq":"1"}\n{}\n', id="a header of other types"),
    ],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes) -> None:
    """It says how to make one."""
    (tmp_path / "x").write_bytes(content)

    for read in (read_export, lambda path: verify_export(path, RING)):
        with pytest.raises(InputError, match="is no audit export: make one with `stillme audit export`"):
            read(str(tmp_path / "x"))


@pytest.mark.parametrize("name", ["nothing", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, name: str) -> None:
    """Not there, a folder, no name."""
    with pytest.raises(InputError, match="cannot be read"):
        read_export(str(tmp_path / name))


def test_reading_a_changed_export_names_the_record(small: Path, tmp_path: Path) -> None:
    """No record of it is given out, and the first that was changed is in the message."""
    (tmp_path / "x").write_bytes(small.read_bytes().replace(b"trace-2", b"trace-3", 1))

    with pytest.raises(
        InputError, match=r"was changed or cut: .*; record 3 \(trace-3\): its content is not what its digest says"
    ):
        read_export(str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param({"seq": "4"}, "is no record", id="a place that is a text"),
        pytest.param({"seq": True}, "is no record", id="a place that is no number"),
        pytest.param({"seq": 4.0}, "is no record", id="a place that is no whole number"),
        pytest.param({"seq": -4}, "are missing", id="a place before the first"),
        pytest.param({"digest": 1}, "is no record", id="a digest that is a number"),
        pytest.param({"hash": None}, "is no record", id="no hash"),
        pytest.param({"seal": 7}, "is no record", id="a seal that is a number"),
        pytest.param({"salt": "s"}, "its texts are not what they were", id="a salt without texts"),
        pytest.param({"salt": 5}, "its texts are not what they were", id="a salt that is a number"),
        pytest.param({"columns": []}, "is no record", id="columns that are a list"),
        pytest.param({"columns": {}}, "is no record", id="columns that are missing"),
        pytest.param({"columns": None}, "is no record", id="a meta without columns"),
        pytest.param({"columns": None, "meta": None, "meta_chars": 4}, "record 4, which was emptied", id="a record emptied"),
        pytest.param({"columns": None, "meta": None, "meta_chars": 4, "body": {}}, "is no record", id="texts without a record"),
        pytest.param({"body": {}}, "is no record", id="texts without a salt"),
        pytest.param({"meta_chars": None}, "is no record", id="no length"),
        pytest.param({"meta_chars": "7"}, "is no record", id="a length that is a text"),
        pytest.param({"meta_chars": -1}, "is no record", id="a length below zero"),
        pytest.param({"meta_chars": 10**30}, "is no record", id="a length beyond everything"),
        pytest.param({"meta_chars": 7.0}, "is no record", id="a length that is no whole number"),
        pytest.param({"meta": [[[]]]}, "is no record", id="another meta"),
        pytest.param(b'{"seq":4}', "is no record", id="half a record"),
        pytest.param(b'{"seq":' + b"9" * 5000 + b',"meta":null,"body":null}', "is no record", id="a number too long to read"),
        pytest.param(b'{"seq":4,"columns":' + b"[" * 50_000 + b',"meta":null,"body":null}', "is no record", id="nested without end"),
        pytest.param(b'{"seq":4,"meta":"\xff"}', "is no record", id="no text"),
        pytest.param(b"", "was changed in line 5", id="an empty line"),
        pytest.param(b"null", "was changed in line 5", id="nothing"),
        pytest.param(b'{"policy":1,"text":2}', "was changed in line 5", id="a policy that is none"),
    ],
)  # fmt: skip
def test_a_line_that_is_no_record_is_named(small: Path, tmp_path: Path, change: Any, problem: str) -> None:
    """Whatever JSON somebody puts there, it is a fault and no traceback."""
    lines = small.read_bytes().splitlines(keepends=True)
    line = change if isinstance(change, bytes) else compact({**json.loads(lines[4]), **change}).encode()
    lines[4] = line + b"\n"

    for content in (b"".join(lines), resealed(b"".join(lines), KEY.seal)):
        fault = fault_in(content, tmp_path / "x")
        assert fault is not None
        assert (fault.seq, problem in fault.problem) in ((4, True), (2, True)), fault


# chosen records


def test_chosen_records_are_verified_each_by_itself(ground: Ground, tmp_path: Path) -> None:
    """What was left out cannot be told, what is there is proven by the seal of the file."""
    path = exported(ground.store, tmp_path / "vi.jsonl", Filter(kind="verdict"))
    found = verify_export(path, RING)

    assert (found.ok, found.records, found.erased, found.removed) == (True, 10, 2, 0)
    assert not read_export(path).is_whole


def test_no_record_is_an_export_too(ground: Ground, tmp_path: Path) -> None:
    """A filter that takes nothing gives a file that says so."""
    path = exported(ground.store, tmp_path / "none.jsonl", Filter(session="nobody"))

    assert (verify_export(path, RING).ok, list(read_export(path).records)) == (True, [])


def test_chosen_records_bring_only_their_policies(ground: Ground, tmp_path: Path) -> None:
    """A filtered export tells nothing of the rest."""
    found = read_export(exported(ground.store, tmp_path / "vi.jsonl", Filter(language="vi")))

    assert isinstance(found, Exported)
    assert [record.seq for record in found.records] == [5]
    assert len(found.policies) == 1


def test_flipped_bytes_of_chosen_records_are_found(ground: Ground, tmp_path: Path) -> None:
    """Every byte is under the seal of the file."""
    whole = Path(exported(ground.store, tmp_path / "vi.jsonl", Filter(language="vi"))).read_bytes()
    wrong = []
    for place in range(0, len(whole), 40):
        content = bytearray(whole)
        content[place] ^= 1
        if fault_in(bytes(content), tmp_path / "x") is None:
            wrong.append(place)

    assert wrong == []


def without_line(content: bytes, number: int) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join(lines[:number] + lines[number + 1 :])


def swapped_lines(content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    return b"".join([lines[0], lines[2], lines[1], *lines[3:]])


@pytest.mark.parametrize(
    ("change", "seq", "problem"),
    [
        pytest.param(lambda c: without_line(c, 1), 0, "the seal of the export is false", id="a record taken out"),
        pytest.param(swapped_lines, 2, "it stands behind record 3", id="two records swapped"),
        pytest.param(lambda c: c.replace(b"session-1", b"session-2", 1), 2, "its content is not what its digest says", id="a record edited"),
        pytest.param(lambda c: c.replace(b"unused gear", b"broken gear"), 2, "its texts are not what they were", id="a text edited"),
        pytest.param(lambda c: c.replace(b'"whole":false', b'"whole":true'), 8, "records 8 to 11 are missing", id="called the whole"),
    ],
)  # fmt: skip
def test_chosen_records_that_were_changed_are_found(
    ground: Ground, tmp_path: Path, change: Callable[[bytes], bytes], seq: int, problem: str
) -> None:
    """With a last line made to fit, under an old seal."""
    path = exported(ground.store, tmp_path / "x.jsonl", Filter(kind="verdict"))
    fault = fault_in(resealed(change(Path(path).read_bytes()), lambda _: OLD_SEAL), tmp_path / "y")

    assert fault is not None
    assert (fault.seq, problem in fault.problem) == (seq, True), fault


# while others write


class Interfering(io.BytesIO):
    """A file in whose middle something happens."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then: Callable[[], object] | None = then

    def write(self, content: Any) -> int:
        if self._then and content.startswith(b'{"seq":3'):
            then, self._then = self._then, None
            then()
        return super().write(content)


def test_an_export_while_others_write_is_whole(new_store: NewStore, tmp_path: Path) -> None:
    """It ends where the chain ended when it was begun; a policy that came later is not in it."""
    store, other = new_store(), new_store()
    store.record(verdicts(count=3))
    out = Interfering(lambda: other.record(verdicts({"mode": "warn"}, count=2)))

    export_jsonl(store, out)
    (tmp_path / "x").write_bytes(out.getvalue())

    assert (verify_export(str(tmp_path / "x"), RING).ok, len(read_export(str(tmp_path / "x")).policies)) == (True, 1)
    assert verify_export(str(tmp_path / "x"), RING).records == 4


@pytest.mark.parametrize("what", ["erased", "pruned"])
def test_an_export_that_would_contradict_itself_is_not_finished(new_store: NewStore, what: str) -> None:
    """What is erased or removed meanwhile is in the first part and not in the last: then it says to export again."""
    store, other = new_store(), new_store()
    made = verdicts(count=3, days_ago=40)
    store.record(made)

    def interfere() -> None:
        if what == "erased":
            erase(other, Filter(id=trace(made[0])), who="lan", why="asked")
        else:
            prune(other, Retention.model_validate({"verdict": {"text_days": 30}}))

    out = Interfering(interfere)
    with pytest.raises(BackendError, match=r"took records or texts out of .* meanwhile: export again"):
        export_jsonl(store, out)

    assert b'{"end":' not in out.getvalue()


# into another database


@pytest.fixture
def elsewhere(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """An empty place in the other engine."""
    if engine == "postgres":
        return str(tmp_path / "elsewhere.db")
    import psycopg  # noqa: PLC0415  (an extra)

    url = str(request.getfixturevalue("postgres_url"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS elsewhere CASCADE")
        connection.execute("CREATE SCHEMA elsewhere")
    return f"{url}&options=-csearch_path%3Delsewhere"


def test_a_store_restored_elsewhere_is_the_same_and_goes_on(
    store: AuditStore, location: str, elsewhere: str, tmp_path: Path
) -> None:
    """From either engine to the other: the same rows, the same hashes and seals, and the chain continues."""
    fill(store)
    path = exported(store, tmp_path / "all.jsonl")
    with AuditStore(elsewhere, key=KEY, journal=tmp_path / "other") as made:
        number = restore(made, path)
        before, after = Tables(location), Tables(elsewhere)
        rows, restored = before.rows(), after.rows()
        found = verify_store(made)
        made.record(verdicts(count=2))
        erase(made, Filter(session="session-1"), who="lan", why="asked")
        prune(made, Retention.model_validate({"review": {"text_days": 1}, "verdict": {"days": 1}}))
        later = verify_store(made)
        before.close()
        after.close()

    used = {row[-4] for row in rows[RECORD]}
    assert number == 17
    assert (restored[RECORD], restored[BODY]) == (rows[RECORD], rows[BODY])
    assert restored[POLICY] == [row for row in rows[POLICY] if row[0] in used]
    assert (found.ok, found.head, found.store) == (True, store.head(), verify_store(store).store)
    assert (later.ok, later.head.seq) == (True, 21)


def test_a_restored_store_is_replayed_and_exported_again(store: AuditStore, elsewhere: str, tmp_path: Path) -> None:
    """Nothing that is needed to prove or to replay is left behind."""
    fill(store)
    path = exported(store, tmp_path / "one.jsonl")
    with AuditStore(elsewhere, key=KEY, journal=tmp_path / "other") as made:
        restore(made, path)
        entry = next(record.entry for record in made.records(Filter(language="vi")) if record.entry)
        outcome = Replayer(made).replay(entry).outcome
        second = exported(made, tmp_path / "two.jsonl")

    assert outcome == "same"
    assert Path(second).read_bytes().splitlines()[1:-1] == Path(path).read_bytes().splitlines()[1:-1]


def test_a_cut_chain_can_be_restored(cut_ground: Ground, tmp_path: Path) -> None:
    """A beginning that retention removed is not needed."""
    path = exported(cut_ground.store, tmp_path / "cut.jsonl")
    with AuditStore(tmp_path / "made.db", key=KEY, journal=tmp_path / "other") as made:
        restore(made, path)

        assert verify_store(made).head == cut_ground.store.head()
        assert verify_store(made).fault is None


def test_what_must_not_be_restored(ground: Ground, small: Path, tmp_path: Path) -> None:
    """Not into a store with records, not a part, not a changed file, not without its key; and nothing is left behind."""
    part = exported(ground.store, tmp_path / "part.jsonl", Filter(language="vi"))
    (tmp_path / "bad.jsonl").write_bytes(small.read_bytes().replace(b"trace-2", b"trace-9", 1))
    with AuditStore(tmp_path / "made.db", key=KEY, journal=tmp_path / "other") as made:
        for path, keys, problem in (
            (part, RING, "holds chosen records: only the export of a whole store can be restored"),
            (str(tmp_path / "bad.jsonl"), RING, "is not restored: record 3"),
            (str(small), Keyring((OTHER_KEY,)), "is not restored: record 1"),
            (str(tmp_path / "none"), RING, "cannot be read"),
        ):
            with pytest.raises(InputError, match=problem):
                restore(made, path, keys)
        restore(made, str(small))
        with pytest.raises(InputError, match="is not empty: restore into a new store"):
            restore(made, str(small))

        assert (verify_store(made).ok, verify_store(made).records) == (True, 4)


def test_a_signed_store_is_restored_by_whoever_has_the_public_key(tmp_path: Path) -> None:
    """Restoring writes no seal; going on does."""
    signing = Ed25519Key(bytes(range(32)))
    checking = Ed25519Key(None, signing.public_bytes)
    with AuditStore(tmp_path / "one.db", key=signing, journal=tmp_path / "journal") as store:
        store.record(verdicts())
        path = exported(store, tmp_path / "one.jsonl")
    with AuditStore(tmp_path / "two.db", key=checking, journal=tmp_path / "other") as made:
        restore(made, path)

        assert verify_store(made).ok
        with pytest.raises(InputError, match="give the private key to write"):
            export_jsonl(made, io.BytesIO())


def test_a_store_that_was_tampered_with_is_not_exported_as_if_it_were_not(tmp_path: Path) -> None:
    """What cannot be written is an error, and what can be written is found in the file."""
    with AuditStore(tmp_path / "audit.db", key=KEY, journal=tmp_path / "journal") as store:
        store.record(verdicts(count=2))
        tables = Tables(str(tmp_path / "audit.db"))
        tables.run(f"UPDATE {RECORD} SET caller = 'x' WHERE seq = 2")
        found = verify_export(exported(store, tmp_path / "x.jsonl"), RING)
        tables.run(f"UPDATE {RECORD} SET meta = 'no JSON', caller = X'00' WHERE seq = 2")
        tables.close()

        for export in (
            lambda: exported(store, tmp_path / "x.jsonl"),
            lambda: export_csv(store, io.StringIO()),
            lambda: export_parquet(store, str(tmp_path / "x.parquet")),
        ):
            with pytest.raises(BackendError, match="record 2 cannot be read: run `stillme audit verify`"):
                export()

    assert isinstance(found, Verification)
    assert found.fault is not None
    assert (found.fault.seq, found.fault.problem) == (2, "its content is not what its digest says")


# tables

TEXTS = [
    "=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "'quoted", "''", "a,b;c", 'say "hi"',
    "two\nlines", "two\r\nlines", "bare\rreturn", "Đổi trả trong 30 ngày", "e\u0301", "\u2028", "a\x00b", " ", "NULL", "\ufeffx",
]  # fmt: skip


def uncelled(cell: str) -> str | None:
    """A cell as whoever reads the file takes it."""
    return (cell[1:] if cell.startswith("'") else cell) or None


@pytest.fixture
def texts(store: AuditStore) -> list[str]:
    """A store with verdicts on odd questions."""
    one = verdicts()[0]
    store.record([again(one, request=one.request.model_copy(update={"query": text})) for text in TEXTS])
    return TEXTS


def expected_rows(store: AuditStore) -> list[dict[str, Any]]:
    rows = []
    for record in store.records(Filter(kind="verdict")):
        if record.entry is None or record.entry.body is None:
            continue
        request = json.loads(record.entry.body.text)["request"]
        query = request["query"].replace("\0", "\\x00")
        rows.append({"seq": record.seq, "id": record.entry.id, "query": query, "draft_answer": request["draft_answer"], "hash": record.hash})  # fmt: skip
    return rows


def test_csv_comes_back_as_it_was(store: AuditStore, texts: list[str], tmp_path: Path) -> None:
    """Whatever the texts hold: line breaks, quotation marks, Vietnamese, the beginnings of formulas."""
    with (tmp_path / "x.csv").open("w", encoding="utf-8", newline="") as out:
        count = export_csv(store, out, Filter(kind="verdict"))
    with (tmp_path / "x.csv").open(encoding="utf-8", newline="") as file:
        rows = [{name: uncelled(cell) for name, cell in row.items()} for row in csv.DictReader(file)]

    assert count == len(texts)
    wanted = expected_rows(store)
    assert [{name: row[name] for name in wanted[0]} for row in rows] == [
        {**row, "seq": str(row["seq"])} for row in wanted
    ]
    assert {(row["decision"], row["verified"], row["kind"]) for row in rows} == {("answer", "1", "verdict")}


def test_no_cell_of_csv_is_a_formula(store: AuditStore, texts: list[str]) -> None:
    """A spreadsheet that opens the file computes nothing."""
    store.record(verdicts(metadata={"session_id": "=1+1", "domain": "@x"}))
    out = io.StringIO(newline="")
    export_csv(store, out)

    cells = [cell for row in csv.reader(io.StringIO(out.getvalue(), newline="")) for cell in row]
    assert texts
    assert "'=1+1" in cells
    assert not [cell for cell in cells if cell[:1] in tuple("=+-@\t\r\n＝＋－＠")]


def test_parquet_comes_back_as_it_was(store: AuditStore, texts: list[str], tmp_path: Path) -> None:
    """With numbers as numbers, and nothing where there is nothing."""
    parquet = pytest.importorskip("pyarrow.parquet")
    store.record(verdicts({"audit": {"content": "none"}}))

    count = export_parquet(store, str(tmp_path / "x.parquet"))
    rows = parquet.read_table(tmp_path / "x.parquet").to_pylist()

    assert count == len(rows) == len(texts) + 2
    kept = [row for row in rows if row["query"] is not None]
    wanted = expected_rows(store)
    assert [{name: row[name] for name in wanted[0]} for row in kept] == wanted
    assert (rows[0]["kind"], rows[0]["max_similarity"], rows[-1]["query"]) == ("store", None, None)
    assert isinstance(rows[-1]["elapsed_ms"], float)


def test_what_is_gone_is_empty_in_tables(ground: Ground) -> None:
    """Removed records, erased texts and reviews each have a row."""
    out = io.StringIO(newline="")

    assert export_csv(ground.store, out) == 17
    rows = list(csv.DictReader(io.StringIO(out.getvalue(), newline="")))
    assert [row["seq"] for row in rows if not row["kind"]] == ["10", "11"]
    assert [row["query"] for row in rows if row["seq"] in ("3", "7", "12")] == ["", "", ""]
    assert rows[4]["query"] == VIETNAMESE["query"]
    assert rows[5]["query"].startswith("sha256:")


@pytest.fixture(params=["csv", "parquet"])
def table(request: pytest.FixtureRequest, small: Path, tmp_path: Path) -> Path:
    """A table with its manifest."""
    path = tmp_path / f"table.{request.param}"
    with AuditStore(tmp_path / "audit.db", key=KEY, journal=tmp_path / "journal") as store:
        restore(store, str(small))
        if request.param == "csv":
            with path.open("w", encoding="utf-8", newline="") as out:
                count = export_csv(store, out, Filter(kind="erasure"))
        else:
            pytest.importorskip("pyarrow")
            count = export_parquet(store, str(path), Filter(kind="erasure"))
        manifest_of(store, str(path), count)
    return path


def test_a_table_is_verified_by_its_manifest(table: Path) -> None:
    """With the key that sealed it, and no other."""
    assert verify_manifest(str(table), RING) is None
    assert (
        verify_manifest(str(table), Keyring((OTHER_KEY,)))
        == "the seal of its manifest is false, or of a key that was not given"
    )


def test_every_flipped_byte_of_a_table_or_manifest_is_found(table: Path) -> None:
    """So is every byte less."""
    manifest = Path(f"{table}.manifest.json")
    unnoticed = []
    for path, step in ((table, 1 + table.stat().st_size // 300), (manifest, 1)):
        whole = path.read_bytes()
        for place in range(0, len(whole), step):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << place % 8
            for content in (bytes(flipped), whole[:place], whole[:place] + whole[place + 1 :]):
                path.write_bytes(content)
                if verify_manifest(str(table), RING) is None:
                    unnoticed.append((path.name, place))
        path.write_bytes(whole)

    assert unnoticed == []
    assert verify_manifest(str(table), RING) is None


def test_a_manifest_is_of_one_file(table: Path, tmp_path: Path) -> None:
    """Another file, no file, no manifest, or a manifest that is none are told."""
    manifest = Path(f"{table}.manifest.json")
    other = table.with_name("other.csv")
    other.write_bytes(table.read_bytes())
    Path(f"{other}.manifest.json").write_bytes(manifest.read_bytes())

    assert verify_manifest(str(other), RING) == f"its manifest is of the file '{table.name}'"
    other.unlink()
    with pytest.raises(InputError, match="there is no manifest"):
        verify_manifest(str(tmp_path / "nothing.csv"), RING)
    for content in (b"[" * 100_000, b"[]", b"null", b"\xff", b""):
        manifest.write_bytes(content)
        assert verify_manifest(str(table), RING) == "its manifest cannot be read"
    table.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        manifest_of_missing(table)


def manifest_of_missing(table: Path) -> None:
    with AuditStore(table.with_name("audit.db"), key=KEY, journal=table.with_name("journal")) as store:
        manifest_of(store, str(table), 0)
