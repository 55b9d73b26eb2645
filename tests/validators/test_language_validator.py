"""LanguageValidator: the draft is in the user's language."""

from __future__ import annotations

import pytest

from stillme import Guard
from stillme.evidence import Evidence
from stillme.validators.language_validator import LanguageValidator
from tests.validators.support import PASSED, SKIPPED, flagged, observe


@pytest.mark.parametrize(
    ("query", "draft", "expected"),
    [
        pytest.param("How long is the bridge?", "The bridge is 200 metres long.", PASSED, id="English and English"),
        pytest.param("Cầu dài bao nhiêu?", "Cây cầu dài 200 mét.", PASSED, id="Vietnamese and Vietnamese"),
        pytest.param("cau nay dai bao nhieu met", "Cây cầu dài 200 mét.", PASSED, id="unaccented Vietnamese and Vietnamese"),
        pytest.param("Cầu dài bao nhiêu?", "The bridge is 200 metres long.", flagged("language_mismatch"), id="Vietnamese answered in English"),
        pytest.param("How long is the bridge?", "Cây cầu này dài 200 mét.", flagged("language_mismatch"), id="English answered in Vietnamese"),
        pytest.param("How long is the bridge?", "Le pont est long de deux cents mètres et il est très vieux.", flagged("language_mismatch"), id="English answered in French"),
        pytest.param("How long is the bridge? Please answer in Vietnamese.", "Cây cầu này dài 200 mét.", PASSED, id="a request for the other language is honoured"),
        pytest.param("How long is the bridge?", "200 m [1].", SKIPPED, id="a figure has no language"),
        pytest.param("Quelle est la longueur du pont de pierre ?", "The bridge is long.", SKIPPED, id="a question in a third language is not judged"),
    ],
)  # fmt: skip
def test_language(query: str, draft: str, expected: list[tuple[str, str | None]]) -> None:
    """What the user wrote in, or asked for, against what the draft is in."""
    assert observe(LanguageValidator(), Evidence.of(query, draft)) == expected


THIRD = flagged("language_mismatch")


@pytest.mark.parametrize(
    "query",
    ["When does the museum open?", "Bảo tàng mở cửa lúc mấy giờ?"],
    ids=["asked in English", "asked in Vietnamese"],
)
@pytest.mark.parametrize(
    "draft",
    [
        pytest.param("Notre boutique accepte les retours sous trente jours", id="eight words of French"),
        pytest.param("Votre colis arrivera probablement demain dans la soirée.", id="French without a common little word at its start"),
        pytest.param("Nuestro almacén entrega los pedidos antes del viernes", id="eight words of Spanish"),
        pytest.param("Die Lieferung erfolgt innerhalb von vier Werktagen", id="seven words of German"),
        pytest.param("Barang akan dikirim dalam waktu empat hari kerja", id="eight words of Indonesian"),
        pytest.param("La consegna avviene entro quattro giorni lavorativi", id="seven words of Italian"),
        pytest.param("A entrega demora quatro dias depois do pagamento", id="eight words of Portuguese"),
        pytest.param("De levering gebeurt binnen vier werkdagen na betaling", id="eight words of Dutch"),
        pytest.param("Dostawa trwa cztery dni robocze od zaplaty", id="Polish without its accents"),
        pytest.param("Leveransen sker inom fyra arbetsdagar efter betalning", id="seven words of Swedish"),
        pytest.param("Teslimat dört iş günü içinde adresinize yapılır", id="seven words of Turkish"),
        pytest.param("Aabenitaan ang tindahan tuwing umaga maliban sa Linggo", id="Tagalog"),
        pytest.param("Usafirishaji huchukua siku nne baada ya malipo", id="Swahili"),
        pytest.param("Toimitus kestää neljä arkipäivää maksun jälkeen aina", id="Finnish"),
        pytest.param("Livrarea dureaza patru zile lucratoare dupa plata", id="Romanian without its accents"),
        pytest.param("LA LIVRAISON PREND QUATRE JOURS OUVRABLES ENVIRON", id="French that shouts"),
        pytest.param("Доставка занимает четыре рабочих дня", id="Russian"),
        pytest.param("送货需要四个工作日左右", id="Chinese"),
        pytest.param("配達には四営業日かかります", id="Japanese"),
        pytest.param("배송에는 영업일 기준 나흘이 걸립니다", id="Korean"),
        pytest.param("يستغرق التوصيل أربعة أيام عمل تقريبا", id="Arabic"),
        pytest.param("การจัดส่งใช้เวลาสี่วันทำการ", id="Thai"),
        pytest.param("“Notre boutique accepte les retours sous trente jours à compter de la livraison, sauf pour les articles soldés, et rembourse toujours le client.”", id="French that hides in quotation marks"),
    ],
)  # fmt: skip
def test_a_draft_in_a_third_language_is_a_mismatch(query: str, draft: str) -> None:
    """Whatever the language and the script, and however little of it there is."""
    assert observe(LanguageValidator(), Evidence.of(query, draft)) == THIRD


@pytest.mark.parametrize("query", ["When was it?", "Là ai vậy bạn?"], ids=["asked in English", "asked in Vietnamese"])
@pytest.mark.parametrize(
    "draft",
    [
        pytest.param("Nguyễn Thị Minh Khai", id="a Vietnamese name"),
        pytest.param("Gabriel García Márquez", id="a Spanish name"),
        pytest.param("Лев Толстой", id="a name in Cyrillic"),
        pytest.param("孔子", id="a name in Chinese"),
        pytest.param("Fyodor Mikhailovich Dostoevsky, Lev Nikolaevich Tolstoy, Anton Pavlovich Chekhov", id="a row of names"),
        pytest.param("INV-2024-00917-B [1]", id="a code"),
        pytest.param("`git rebase --interactive --autosquash origin/trunk`", id="a command"),
        pytest.param("```\nfor i in range(10): print(i)\n```", id="a block of code"),
        pytest.param("https://docs.example.com/les-retours-sous-trente-jours", id="an address"),
        pytest.param("3,14159", id="a figure"),
        pytest.param("12:30 [1]", id="a clock time"),
        pytest.param("“Liberté, égalité, fraternité”", id="a motto in quotation marks"),
        pytest.param("Crème brûlée", id="a dish"),
        pytest.param("Déjà vu", id="a loan word"),
    ],
)  # fmt: skip
def test_names_figures_codes_and_quotations_are_not_refused(query: str, draft: str) -> None:
    """They have no language of their own."""
    assert observe(LanguageValidator(), Evidence.of(query, draft)) != THIRD
    assert observe(LanguageValidator(), Evidence.of(query, draft)) != flagged("language_undecided")


@pytest.mark.parametrize(
    "draft",
    [
        pytest.param("zorbik flenta is the mirg of vastu nolim trava", id="half English and half nothing known"),
        pytest.param("the van den het is of das que you est los and por", id="little words of many languages"),
        pytest.param("blorf snarg wibble zint quoop drend flim nark", id="words of no language"),
    ],
)  # fmt: skip
def test_a_draft_of_enough_words_that_cannot_be_told_never_passes(draft: str) -> None:
    """It is a third language or a state of its own; in enforce neither is delivered."""
    guard = Guard({"mode": "enforce"})

    verdict = guard.verify({"query": "When does the museum open?", "draft_answer": draft})

    (finding,) = (f for f in verdict.findings if f.validator == "LanguageValidator")
    assert finding.outcome == "flagged"
    assert (verdict.action, verdict.verified) == ("block", False)
    assert verdict.safe_response is not None


@pytest.mark.parametrize(
    ("query", "draft"),
    [
        pytest.param("What metals are in the alloy?", "Copper, zinc, aluminium, nickel, cobalt, titanium, chromium, manganese", id="an English list without little words"),
        pytest.param("How do I deploy it?", "Run kubectl apply, then check kubelet, etcd and the nginx ingress logs.", id="English full of jargon"),
        pytest.param("What is photosynthesis?", "Chloroplasts convert sunlight, water and carbon dioxide into glucose and oxygen.", id="English biology"),
        pytest.param("Triển khai thế nào?", "Chạy kubectl apply rồi kiểm tra kubelet, etcd và log của nginx ingress.", id="Vietnamese full of jargon"),
        pytest.param("Trien khai the nao?", "Ban chay lenh cai dat roi kiem tra lai nhat ky may chu.", id="Vietnamese without accents"),
        pytest.param("Who wrote it?", "The novel À la recherche du temps perdu was written by Marcel Proust.", id="English with a French title"),
        pytest.param("What does it mean?", "The phrase “je ne sais quoi” means a quality that is hard to name.", id="English that quotes French"),
    ],
)  # fmt: skip
def test_the_users_language_with_strange_words_passes(query: str, draft: str) -> None:
    """Jargon, lists, titles and quotations are no other language."""
    assert observe(LanguageValidator(), Evidence.of(query, draft)) == PASSED


def test_a_third_language_is_a_mismatch_even_where_the_users_cannot_be_told() -> None:
    """Whoever asks in two letters is not served a language this package does not know."""
    evidence = Evidence.of("GPT-4?", "Notre boutique accepte les retours sous trente jours.")

    assert observe(LanguageValidator(), evidence) == THIRD
