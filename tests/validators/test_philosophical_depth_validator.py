"""PhilosophicalDepthValidator: a philosophical question gets reasons and positions, not a bare verdict."""

from __future__ import annotations

import pytest

from stillme.evidence import Evidence
from stillme.text.tokens import Text
from stillme.validators.philosophical_depth_validator import PhilosophicalDepthValidator, is_philosophical
from tests.validators.support import PASSED, SKIPPED, flagged, observe

SHALLOW = flagged("shallow_philosophical_answer")
FREE_WILL = "Is free will compatible with determinism?"
Y_CHI = "Ý chí tự do có tồn tại không?"

PHILOSOPHICAL = [
    "Is free will compatible with determinism, and what would that mean for moral responsibility?",
    "What is the meaning of life?",
    "Does God exist?",
    "Do we have free will?",
    "What is consciousness?",
    "Can machines be conscious?",
    "Is it ever right to lie?",
    "Is it morally wrong to eat meat?",
    "What is justice?",
    "What is truth, really?",
    "Is morality objective?",
    "Do animals have rights?",
    "Can we ever know anything for certain?",
    "Is reality an illusion?",
    "Why is there something rather than nothing?",
    "What makes an action right?",
    "Who am I?",
    "Do the ends justify the means?",
    "Is there life after death?",
    "Are we living in a simulation?",
    "What do you think about free will?",
    "Is euthanasia ethical?",
    "What does it mean to be human?",
    "Is the mind separate from the brain?",
    "When is lying morally permissible?",
    "Should we be held morally responsible for what we did not choose?",
    "what is knowledge",
    "Does life have any purpose?",
    "Ý chí tự do có tồn tại không?",
    "Ý nghĩa của cuộc sống là gì?",
    "Chúa có tồn tại không?",
    "Hạnh phúc là gì?",
    "Công lý là gì?",
    "Máy móc có thể có ý thức không?",
    "Nói dối có trái đạo đức không?",
    "Đạo đức có mang tính khách quan không?",
    "Con người có thực sự tự do không?",
    "Tại sao chúng ta tồn tại?",
    "Thế giới này có phải là ảo ảnh không?",
    "Bản chất của thực tại là gì?",
    "Chân lý là gì?",
    "Linh hồn có thật không?",
    "Về mặt đạo đức, có nên nói dối để cứu người không?",
    "Thế nào là công bằng?",
    "Y nghia cua cuoc song la gi?",
    "Mục đích có biện minh cho phương tiện không?",
    "Ăn thịt có phi đạo đức không?",
    "Sống để làm gì?",
]
OTHER = [
    "When was Kant born?",
    "Who wrote the Critique of Pure Reason?",
    "In which year was Being and Nothingness published?",
    "What did Hume say about free will?",
    "According to the passage, what is free will?",
    "Did Kant believe in free will?",
    "What is the company's code of ethics?",
    "Who is the Minister of Justice?",
    "What time does the museum open?",
    "What is the fee for an identity card?",
    "How many moons does Mars have?",
    "What are the symptoms of loss of consciousness?",
    "What is justice reform?",
    "How do I reset my password?",
    "What is the capital of France?",
    "Is it right to turn left at the church?",
    "Is it possible to return gear?",
    "Which philosopher defended determinism?",
    "What is the right dose?",
    "What are the core teachings of Buddhism?",
    "Where can I find the ethics committee?",
    "What is time off in lieu?",
    "What is a knowledge base?",
    "What does standard delivery cost?",
    "Who discovered Titan?",
    "Is the shop open on Sunday?",
    "What is Kant's view of free will?",
    "Kant sinh năm nào?",
    "Ai viết Phê phán lý tính thuần túy?",
    "Kant cho rằng ý chí tự do là gì?",
    "Theo tài liệu, ý chí tự do là gì?",
    "Bộ trưởng Bộ Tư pháp là ai?",
    "Thời gian làm việc là gì?",
    "Đạo đức nghề nghiệp của bác sĩ gồm những gì?",
    "Nấu phở bò cần những gì?",
    "Đạo Cao Đài ra đời ở đâu và khi nào?",
    "Sao Mộc có những vệ tinh lớn nào?",
    "Cuốn sách nào của Sartre nói về tự do ý chí?",
    "Mất ý thức thì phải sơ cứu thế nào?",
    "Giá vé là bao nhiêu?",
    "Quan điểm của Platon về công lý là gì?",
    "Trường có dạy môn đạo đức không?",
    "Đường dây nóng có hoạt động cuối tuần không?",
    "Ha Noi co bao nhieu quan?",
]


@pytest.mark.parametrize("query", PHILOSOPHICAL)
def test_a_philosophical_question_is_one(query: str) -> None:
    """Free will, mind, meaning, morality, God, knowledge, the self: in both languages."""
    assert is_philosophical(Text(query))


@pytest.mark.parametrize("query", OTHER)
def test_a_question_of_fact_is_none(query: str) -> None:
    """About a philosopher, a book, a document, or anything else."""
    assert not is_philosophical(Text(query))


@pytest.mark.parametrize(
    ("query", "draft", "expected"),
    [
        pytest.param(FREE_WILL, "Yes, it is compatible [1].", SHALLOW, id="a bare yes"),
        pytest.param(FREE_WILL, "No.", SHALLOW, id="a bare no"),
        pytest.param(
            FREE_WILL,
            "Yes, because our desires cause our actions, and that is what freedom is in the ordinary sense of the word that people use in daily life.",
            SHALLOW,
            id="one sentence, even with a reason",
        ),
        pytest.param(
            FREE_WILL,
            "Free will is compatible with determinism in every way. Great thinkers in many countries of the world have discussed this famous topic for centuries.",
            SHALLOW,
            id="neither a reason nor a second position",
        ),
        pytest.param(
            FREE_WILL,
            "Compatibilists say yes, because an action is free if it flows from the agent's own desires. Incompatibilists reply that nobody is free if every choice was fixed long before.",
            PASSED,
            id="two positions and a reason",
        ),
        pytest.param(
            FREE_WILL,
            "Some philosophers hold that freedom needs no break in causes. Others hold that it does, and that a choice which was settled before we were born is nobody's own.",
            PASSED,
            id="two positions without a reason",
        ),
        pytest.param(
            FREE_WILL,
            "Freedom seems to need alternatives, since praise and blame make no sense without them. A determined world offers only one future, and so leaves none.",
            PASSED,
            id="a reason without a second position",
        ),
        pytest.param(
            FREE_WILL,
            "Stoicism takes freedom to be consent to what happens anyway. Existentialism takes it to be a choice that nothing settles in advance, not even our own character.",
            PASSED,
            id="two schools by name",
        ),
        pytest.param(
            FREE_WILL,
            "I could not find anything about free will in the documents I was given.",
            SKIPPED,
            id="a refusal is no answer",
        ),
        pytest.param(
            FREE_WILL,
            "Could you tell me which kind of determinism you mean?",
            SKIPPED,
            id="a question back is no answer",
        ),
        pytest.param(FREE_WILL, " ", SKIPPED, id="no draft"),
        pytest.param("When was Kant born?", "Kant was born in 1724 [1].", SKIPPED, id="not a philosophical question"),
        pytest.param(Y_CHI, "Có.", SHALLOW, id="a bare yes in Vietnamese"),
        pytest.param(
            Y_CHI,
            "Ý chí tự do có tồn tại. Đây là một chủ đề được rất nhiều người quan tâm từ xưa đến nay ở khắp nơi trên thế giới, và ai cũng có thể suy nghĩ.",
            SHALLOW,
            id="neither a reason nor a second position in Vietnamese",
        ),
        pytest.param(
            Y_CHI,
            "Một số triết gia cho rằng ý chí tự do tồn tại, vì hành động xuất phát từ mong muốn của chính con người. Ngược lại, phái tất định cho rằng mọi lựa chọn đã được định sẵn.",
            PASSED,
            id="two positions in Vietnamese",
        ),
        pytest.param(
            "Chân lý là gì?",
            "Thuyết tương ứng coi chân lý là sự phù hợp giữa lời nói và sự vật. Tuy nhiên, thuyết mạch lạc lại tìm chân lý trong sự nhất quán của toàn bộ niềm tin.",
            PASSED,
            id="a contrast in Vietnamese",
        ),
        pytest.param(
            Y_CHI,
            "Rất tiếc, tôi không tìm thấy thông tin này trong tài liệu được cung cấp.",
            SKIPPED,
            id="a refusal in Vietnamese",
        ),
        pytest.param("Kant sinh năm nào?", "Kant sinh năm 1724 [1].", SKIPPED, id="a question of fact in Vietnamese"),
    ],
)
def test_depth(query: str, draft: str, expected: list[tuple[str, str | None]]) -> None:
    """Short or one-sided answers are flagged, softly; other questions are not judged."""
    assert observe(PhilosophicalDepthValidator(), Evidence.of(query, draft)) == expected


def test_the_measure_can_be_set() -> None:
    """How many words and sentences an answer needs is a matter of policy."""
    evidence = Evidence.of(FREE_WILL, "Yes, because our own desires cause our free actions.")

    assert observe(PhilosophicalDepthValidator(), evidence) == SHALLOW
    assert observe(PhilosophicalDepthValidator(min_words=5, min_sentences=1), evidence) == PASSED


def test_the_finding_says_what_is_lacking() -> None:
    """The whole answer is the span."""
    found = PhilosophicalDepthValidator().run(Evidence.of(FREE_WILL, "Yes, it is compatible."))

    assert (found.detail, found.spans) == ("answers a philosophical question with only 4 words", ((0, 22),))
