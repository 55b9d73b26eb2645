"""A check tells what is wrong from what could not be checked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stillme.audit import AuditStore, Filter
from stillme.audit.chain.checking import (
    Checked,
    check_export,
    check_store,
    checkpoint_line,
    checkpoint_of,
    store_id,
)
from stillme.audit.chain.integrity import Checkpoint
from stillme.audit.chain.seals import HmacKey, Keyring
from stillme.audit.export import export_csv, export_jsonl, manifest_of
from stillme.audit.retention import prune
from stillme.errors import InputError
from stillme.policy.sections import Retention
from stillme.storage.audit.database import RECORD
from tests.audit.conftest import KEY, NewStore, occurrence
from tests.soak import examples

OTHER = HmacKey(b"another key that only tests use!")
RING, BOTH, NONE = Keyring((KEY,)), Keyring((KEY, OTHER)), Keyring()
NAME, OTHER_NAME = f"hmac:{KEY.id}", f"hmac:{OTHER.id}"


def exported(store: AuditStore, path: Path, wanted: Filter | None = None) -> str:
    with path.open("wb") as out:
        export_jsonl(store, out, wanted)
    return str(path)


def seals(checked: Checked) -> tuple[dict[str, int], dict[str, int], bool]:
    return dict(checked.checked), dict(checked.unchecked), checked.is_complete


def test_seals_are_counted_by_key(new_store: NewStore) -> None:
    """After a change of keys both are needed; what is sealed with a key that was not given is told, not condemned."""
    new_store().record([occurrence()])
    new_store(key=OTHER).record([occurrence(), occurrence()])
    store = new_store(key=OTHER)

    found = [check_store(store, ring) for ring in (BOTH, RING, NONE)]

    assert [each.fault for each in found] == [None, None, None]
    assert [seals(each) for each in found] == [
        ({NAME: 1, OTHER_NAME: 1}, {}, True),
        ({NAME: 1}, {OTHER_NAME: 1}, False),
        ({}, {NAME: 1, OTHER_NAME: 1}, False),
    ]


@pytest.mark.parametrize(
    "seal",
    [
        pytest.param("nonsense", id="no seal at all"),
        pytest.param(f"{NAME}:{'0' * 64}", id="of a known key, and false"),
        pytest.param(f"md5:{KEY.id}:{'0' * 32}", id="of a kind that does not exist"),
        pytest.param(f"{NAME}:{'0' * 63}", id="too short"),
        pytest.param(f"{NAME.upper()}:{'0' * 64}", id="in capitals"),
    ],
)
def test_a_seal_that_no_key_can_have_made_is_a_fault(store: AuditStore, seal: str) -> None:
    """Only what looks like a seal can be one of a key that was not given."""
    store.record([occurrence()])
    sql = f"UPDATE {RECORD} SET seal = ? WHERE seq = 2"  # noqa: S608  (a constant)
    store.database.write(lambda writing: writing.rows(sql, [seal]))

    fault = check_store(store, RING).fault

    assert fault is not None
    assert fault.seq in (1, 2)


def test_a_checkpoint_names_the_end_and_survives_being_written_down(store: AuditStore) -> None:
    """What is printed is what is compared later."""
    store.record([occurrence()])

    checkpoint = checkpoint_of(store)

    assert Checkpoint.parse(checkpoint_line(checkpoint)) == checkpoint
    assert (checkpoint.store, checkpoint.seq, checkpoint.hash) == (store_id(store), 2, store.head().hash)
    found = check_store(store, RING, [checkpoint])
    assert (found.is_complete, found.found.checkpoints, found.checked) == (True, 1, {NAME: 2})


def test_a_store_keeps_its_name_when_its_beginning_is_cut_off(store: AuditStore) -> None:
    """Checkpoints from before still fit."""
    store.record([occurrence()])
    named = store_id(store)

    prune(store, Retention.model_validate({"verdict": {"days": 1}}), occurrence().at.replace(year=2100))

    assert store.database.rows(f"SELECT min(seq) FROM {RECORD}")[0][0] == 3  # noqa: S608  (a constant)
    assert store_id(store) == named == checkpoint_of(store).store


@pytest.mark.parametrize(
    ("wanted", "subject", "count"),
    [
        pytest.param(None, "whole export", 3, id="the whole chain"),
        pytest.param(Filter(kind="verdict"), "filtered export", 2, id="chosen records"),
    ],
)
def test_an_export_is_checked_without_its_store(
    store: AuditStore, tmp_path: Path, wanted: Filter | None, subject: str, count: int
) -> None:
    """Its own seal counts with those of its records."""
    store.record([occurrence(), occurrence()])
    path = exported(store, tmp_path / "some.jsonl", wanted)

    found, keyless = check_export(path, RING), check_export(path, NONE)

    assert (found.subject, found.found.records, found.policies) == (subject, count, 1)
    assert seals(found) == ({NAME: 2}, {}, True)
    assert seals(keyless) == ({}, {NAME: 2}, False)


def test_a_table_is_checked_by_its_manifest(store: AuditStore, tmp_path: Path) -> None:
    """The file must be the one described, and the description sealed."""
    store.record([occurrence()])
    path = tmp_path / "some.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        count = export_csv(store, out)
    manifest_of(store, str(path), count)

    good, keyless = check_export(str(path), RING), check_export(str(path), NONE)
    path.write_bytes(path.read_bytes() + b"x")
    bad = check_export(str(path), RING)

    assert (good.subject, good.found.records, good.is_complete, keyless.is_complete) == ("table", 2, True, False)
    assert str(bad.fault) == "it is not the file that its manifest describes"


@pytest.fixture(scope="module")
def export_bytes(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A whole export of a small store."""
    folder = tmp_path_factory.mktemp("export")
    with AuditStore(folder / "audit.db", key=KEY) as store:
        store.record([occurrence()])
        return Path(exported(store, folder / "all.jsonl")).read_bytes()


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_byte_of_an_export_can_be_changed(export_bytes: bytes, tmp_path: Path, data: st.DataObject) -> None:
    """Whichever byte becomes whichever other, the check is not complete; within the file as it stands it is a fault."""
    at = data.draw(st.integers(0, len(export_bytes) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != export_bytes[at]))
    path = tmp_path / "all.jsonl"
    path.write_bytes(export_bytes[:at] + bytes([byte]) + export_bytes[at + 1 :])

    assert not check_export(str(path), RING).is_complete


@pytest.mark.parametrize("share", [0.2, 0.5, 0.99])
def test_a_cut_export_is_a_fault(export_bytes: bytes, tmp_path: Path, share: float) -> None:
    """Wherever it ends."""
    path = tmp_path / "all.jsonl"
    path.write_bytes(export_bytes[: int(len(export_bytes) * share)])

    assert check_export(str(path), RING).fault is not None


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="no file"),
        pytest.param(b"", id="an empty file"),
        pytest.param(b'{"a": 1}\n{"b": 2}\n', id="other JSON lines"),
        pytest.param(b"\x00\xff" * 100, id="no text"),
    ],
)
def test_what_never_was_an_export_is_no_fault(tmp_path: Path, content: bytes | None) -> None:
    """The wrong file is the caller's mistake."""
    path = tmp_path / "some.jsonl"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(InputError, match=r"is no audit export|cannot be read"):
        check_export(str(path), RING)


def test_the_result_for_programs_is_plain_json(store: AuditStore) -> None:
    """Every value can be written down."""
    store.record([occurrence()])

    found = check_store(store, RING).to_dict()

    assert json.loads(json.dumps(found)) == found
    assert (found["ok"], found["records"], found["seals"]) == (True, 2, {"checked": {NAME: 1}, "unchecked": {}})
