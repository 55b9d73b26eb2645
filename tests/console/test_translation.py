"""What the service and the record say in English, as a Vietnamese reader gets it; and what is not known, as it is."""

from __future__ import annotations

import ast
import re
import time
from pathlib import Path

import pytest

import stillme
from stillme.console.translation import Pattern, translated
from stillme.console.try_it import examples
from stillme.evaluation.rollout.versions import file_problems
from stillme.guard import Guard
from stillme.languages import languages
from tests.console.conftest import NewVisitor
from tests.service.conftest import Service

PACKAGE = Path(stillme.__file__).parent
SLOT = re.compile(r"[{<][a-z_]+[}>]")
NOT_OURS = (
    "did not find",
    "found ",
    "could not find",
    "are not allowed",
    "String should have",
    "sexual content with minors",
)
"""Words of libyaml, of pydantic and of rule files."""

WRONG_POLICIES = [
    pytest.param("mode: monitr\n", "mode phải là một trong các giá trị monitor, warn, enforce, đang là 'monitr'", id="a value that there is not"),
    pytest.param("thresholds:\n  min_similarity_for_factual: 7\n", "thresholds.min_similarity_for_factual phải là số trong khoảng [0, 1], đang là 7", id="out of bounds"),
    pytest.param("limits:\n  passages: none\n", "limits.passages phải là số nguyên từ 1 trở lên, đang là 'none'", id="no number"),
    pytest.param("threshold: {}\n", "không có thiết lập threshold: có phải ý bạn là thresholds? Các thiết lập hợp lệ: mode,", id="a key with a slip"),
    pytest.param("foo: 1\n", "không có thiết lập foo. Các thiết lập hợp lệ: mode,", id="an unknown key"),
    pytest.param("validators:\n  Foo: {}\n", "validators.Foo: không có bước kiểm tra 'Foo'. Các tên hợp lệ: AmbiguousQuery,", id="an unknown validator"),
    pytest.param("validators:\n  SourceRequired:\n    bar: 1\n", "không có tham số validators.SourceRequired.bar. Các tham số hợp lệ: enabled,", id="an unknown parameter"),
    pytest.param("validators:\n  SourceRequired:\n    repair: maybe\n", "validators.SourceRequired.repair phải là true hoặc false, đang là 'maybe'", id="no truth value"),
    pytest.param("validators: []\n", "validators phải là nhóm thiết lập, đang là []", id="no mapping"),
    pytest.param("calibration: 3\n", "calibration phải là nhóm thiết lập, đang là 3", id="a section that is a number"),
    pytest.param("messages:\n  refusal: ''\n", "messages.refusal không được để trống, đang là ''", id="a blank message"),
    pytest.param("messages:\n  refusal: {en: 1}\n", "messages.refusal.en phải là văn bản từ 1 đến 4000 ký tự, đang là 1", id="a message that is no text"),
    pytest.param("confidence:\n  high: 0.1\n", "confidence: medium không được lớn hơn high, đang là medium 0.6 và high 0.1", id="bands in disorder"),
    pytest.param("audit:\n  redact:\n    emial: true\n", "audit.redact: emial không phải loại có sẵn: có phải ý bạn là email?", id="an unknown kind to blank"),
    pytest.param("mode: warn\nmode: warn\n", "thiết lập mode bị lặp, lần đầu ở dòng 1", id="a key twice"),
    pytest.param("a: b: c\n", "YAML không hợp lệ: ở đây không được có dấu hai chấm “:”", id="a colon in a value"),
    pytest.param("mode: [\n", "YAML không hợp lệ: thiếu nội dung ở đây", id="a bracket left open"),
    pytest.param("a: 'x\n", "YAML không hợp lệ: tệp kết thúc giữa chừng", id="a quote left open"),
    pytest.param("\tmode: warn\n", "YAML không hợp lệ: ký tự này không được đứng ở đây; hãy thụt dòng bằng dấu cách", id="a tab"),
    pytest.param(" mode: warn\nfoo: 1\n", "YAML không hợp lệ: chỗ này phải bắt đầu một tài liệu", id="indented by mistake"),
    pytest.param("- a\n", "chính sách phải gồm các dòng dạng “thiết lập: giá trị”, đang là ['a']", id="a list"),
    pytest.param("mode: warn\n---\na: 1\n", "chính sách chỉ gồm một tài liệu, mà ở đây bắt đầu tài liệu thứ hai", id="two documents"),
    pytest.param("x: !!int 1\n", "không hỗ trợ các thẻ như 'tag:yaml.org,2002:int': hãy viết giá trị trực tiếp", id="a tag"),
    pytest.param("a: *b\n", "bí danh *b không có điểm neo nào ở trước", id="an alias of nothing"),
    pytest.param("a: &b {x: 1}\n<<: *b\n", "không hỗ trợ khóa gộp (<<): hãy viết lại các thiết lập", id="a merge key"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG_POLICIES)
def test_a_problem_of_a_policy_is_told_in_vietnamese(text: str, said: str) -> None:
    """Keys, values and names of files stay as they are written."""
    problem = file_problems(text, "policy.yaml")[0].text

    assert translated("vi", problem).startswith(said)
    assert translated("en", problem) == problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param("mode must be one of a, b, got 1 (policy.yaml line 3)", "mode phải là một trong các giá trị a, b, đang là 1 (policy.yaml, dòng 3)", id="with its line"),
        pytest.param("query is missing: it is required; draft is missing: it is required", "thiếu query: mục này bắt buộc; thiếu draft: mục này bắt buộc", id="two in one line"),
        pytest.param("its texts are gone\nits texts are gone", "văn bản không còn\nvăn bản không còn", id="two lines"),
        pytest.param("1 of 2 claims unsupported: model: no passage supports it (0.07)", "1 trên 2 ý không có căn cứ: mô hình đã đọc, không đoạn nào xác nhận (0.07)", id="a sentence in a sentence"),
        pytest.param("fees says '5 euros', leaflet says '4 euros'", "fees nói '5 euros', leaflet nói '4 euros'", id="names and values as they are"),
        pytest.param("x must be a number or true or false, got '<b>, got 1'", "x phải là số hoặc true hoặc false, đang là '<b>, got 1'", id="a value that looks like the sentence"),
        pytest.param("said by another version", "said by another version", id="not known"),
        pytest.param("", "", id="nothing"),
    ],
)  # fmt: skip
def test_a_sentence_is_known_by_its_fixed_parts(text: str, said: str) -> None:
    """Whatever stands between them."""
    assert translated("vi", text) == said


def test_what_the_checks_record_is_told_in_vietnamese() -> None:
    """Of every example, under every preset."""
    guards = [Guard({"extends": preset}) for preset in ("lite", "book", "strict")]
    requests = [
        {"query": row["query"], "draft_answer": row["draft"], "retrieved_context": row["passages"]}
        for row in examples().values()
    ]
    told = {finding.detail for guard in guards for each in requests for finding in guard.verify(each).findings}

    assert len(told) > 20
    assert {detail for detail in told if detail and translated("vi", detail) == detail} == set()


def fixed_parts() -> set[str]:
    """What the sentences of every language hold fast to, from one sign to the next."""
    rules = [language.rules("recorded") for language in languages()]
    known = [sentence for each in rules for kind in ("sentences", "phrases") for sentence in each.get(kind, {})]
    fixed = [part for sentence in known for part in Pattern.of(sentence, "").fixed]
    return {piece.strip() for part in fixed for piece in re.split(r"[:,;?()]", part)}


def test_every_sentence_that_is_known_is_said_somewhere() -> None:
    """One that the package does not say any more, or says otherwise, is noticed: its first three words stand in a message, or its last."""
    constants = [
        str(node.value)
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    said = "\n".join(constants)
    longest = [part.split() for part in fixed_parts() if len(part.split()) > 3]
    lost = [part for part in longest if " ".join(part[:3]) not in said and " ".join(part[-3:]) not in said]

    assert len(longest) > 150
    assert [part for part in map(" ".join, lost) if not any(each in part for each in NOT_OURS)] == []


def test_a_translation_has_no_slot_that_its_sentence_lacks() -> None:
    """Of two slots of one name only one could be filled."""
    for language in languages():
        for kind in ("sentences", "phrases"):
            for known, said in language.rules("recorded").get(kind, {}).items():
                slots = SLOT.findall(known)
                assert set(SLOT.findall(said)) <= set(slots), known
                assert len(slots) == len(set(slots)), known


def test_a_long_hostile_text_is_not_read_for_long() -> None:
    """However often it begins like a sentence."""
    started = time.process_time()
    for text in ("1 of 1 claims unsupported: " * 140, " or " * 900, "a; " * 1_300, "x must be " * 390, "(" * 3_900):
        translated("vi", text)

    assert time.process_time() - started < 1


def test_a_vietnamese_reader_is_told_of_mistakes_in_vietnamese(console: Service, visitor: NewVisitor) -> None:
    """In the editor of the policy, in Try it, on an address of nothing, and in what a script shows of the chat."""
    someone = visitor(console, "vi")
    policy = someone.send("/policy", {"text": "mode: monitr\n", "known": "", "do": "check"}).text
    tried = someone.send(
        "/try", {"query": "Phí là bao nhiêu?", "draft": "x" * 70_000, "source_id": "", "passage": ""}
    ).text
    nothing = someone.get("/traces/trace-nowhere").text
    chat = someone.send("/chat", {"message": ""}, x_fragment="1")

    assert "mode phải là một trong các giá trị monitor, warn, enforce" in policy
    assert "draft_answer có 70000 ký tự, limits.draft_chars là 64000" in tried
    assert "không có bản ghi" in nothing
    assert chat.status_code == 422
    assert chat.json()["detail"] == "message không được để trống"
    assert chat.headers["content-security-policy"]
