"""How a day is read: what a model is asked, what is dropped, and who reads when nobody can."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pipelines.errors import ModelFailed
from pipelines.extract.extraction import ExtractionRequest, Nearby
from pipelines.extract.llm.anthropic import AnthropicModel
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.gemini import GeminiModel
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.rules import RulesExtractor
from pipelines.provider_settings import ProviderSettings
from pipelines.store.item import Confidence, Item, ItemType, Status
from pipelines.usage import FailureKind as Kind
from pipelines.usage import Spent, Usage
from tests.extract.days import (
    DAY,
    DOCUMENTS,
    ENTRIES,
    forget_the_machine,
    line_of,
    reply_item,
    reply_operation,
    reply_text,
)
from tests.extract.fakes import USAGE, Scripted, Still
from tests.extract.wire import KEY, anthropic_error, anthropic_wire, gemini_error, gemini_wire, message

if TYPE_CHECKING:
    from pipelines.extract.llm.call import Model

GOOD, NOTHING = reply_text(reply_item()), reply_text()


def extractor(*models: Model, last: bool = False) -> ModelExtractor:
    return ModelExtractor(Chain(models, retry=Still().retry), RulesExtractor() if last else None)


def scripted(*said: Any, **changes: Any) -> Scripted:
    return Scripted("a:1", list(said), **changes)


# ---------------------------------------------------------------- a day


def test_a_day_is_read_in_one_call_and_its_items_say_by_whom() -> None:
    model = scripted(GOOD)
    extraction = extractor(model).extract(DAY)
    [candidate] = extraction.candidates
    assert (candidate.type, candidate.confidence) == (ItemType.DECISION, Confidence.HIGH)
    assert candidate.entry is ENTRIES[0]
    assert (candidate.document, candidate.by) == ("Projects/harbour", "a:1@extract/11")
    assert (extraction.tally.calls, extraction.tally.by_model) == (1, (Spent("a:1", 1, USAGE),))
    assert (extraction.dropped, extraction.fallback, extraction.notes) == (0, False, ())
    [call] = model.calls
    assert (call.task, call.prompt_id, call.prompt_version) == ("extract", "extract", 11)
    assert extractor(model).extract(ExtractionRequest("2026-03-13", (), DOCUMENTS)).tally.calls == 0


def test_a_long_day_is_read_in_pieces_and_the_answers_are_joined() -> None:
    told = [{"text": "It was a day.", "lines": [[9, 9]]}]
    model = scripted(GOOD, reply_text(reply_item([4, 5])), reply_text(episode=told), input_tokens=20)
    extraction = extractor(model).extract(DAY)
    assert (extraction.tally.calls, extraction.tally.usage.input_tokens, len(extraction.episode)) == (3, 300, 1)
    assert len({one.id for one in extraction.candidates}) == 2, "n0 of one piece is not n0 of the next"
    assert ["We go with" in call.user for call in model.calls] == [True, False, False]
    assert tuple(model.calls) == extractor(model).calls(DAY), "known before any is made"
    assert len({call.digest for call in model.calls}) == 3


def test_n0_of_two_logs_of_a_day_are_two_items() -> None:
    reader = extractor(scripted(GOOD))
    other = replace(DAY, entries=tuple(replace(one, path="Logs/2026-03-12-b.md") for one in ENTRIES))
    assert reader.extract(DAY).candidates[0].id != reader.extract(other).candidates[0].id


def test_each_piece_says_who_read_it() -> None:
    first = Scripted("a:1", [GOOD, Kind.OVER_QUOTA], input_tokens=20)
    other = Scripted("b:2", [reply_text(reply_item([4, 5], text="Ask legal.")), NOTHING], input_tokens=20)
    extraction = extractor(first, other).extract(DAY)
    assert [one.by for one in extraction.candidates] == ["a:1@extract/11", "b:2@extract/11"]
    assert extraction.tally.failures == {("a", Kind.NOT_ASKED): 1, ("a", Kind.OVER_QUOTA): 1}
    assert extractor(first, other).name == "a:1@extract/11, b:2@extract/11"


# ---------------------------------------------------------------- what is dropped


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("- the cap is 40,000 rows", "The cap is 14,000 rows."),
        ("- лимит 300 рублей", "Лимит 900 рублей."),
        ("- الحد ٣٠٠", "الحد ٩٠٠"),
        ("- R$30 no pão", "O pão custa R$47."),
    ],
)
def test_a_number_that_was_shown_nowhere_drops_the_item_without_asking_again(said: str, text: str) -> None:
    held = Item(ItemType.TODO, "Ask legal.", "k1390047000")  # the digits of an id are no number that was shown
    day = replace(DAY, entries=(line_of(13, said),), nearby=Nearby([("Areas/general", held)]))
    model = scripted(reply_text(reply_item([13, 13], text=text), reply_item([13, 13], text=said[2:])))
    extraction = extractor(model).extract(day)
    assert [one.text for one in extraction.candidates] == [said[2:]]
    assert (len(model.calls), extraction.dropped) == (1, 1)
    assert extraction.notes == ("1 proposed item was dropped: a number of its text was not shown (line 13)",)


def test_no_word_of_a_language_and_no_new_name_stands_in_the_way() -> None:
    day = replace(DAY, entries=(line_of(3, "- gastei R$3 no pão, quase não sobrou"),))
    said = ("Gastei R$3 no pão.", "Quase não sobrou dinheiro.", "Não sobrou nada, diz Joana.", "If it is so, never.")
    extraction = extractor(scripted(reply_text(*(reply_item(text=text) for text in said)))).extract(day)
    assert [one.text for one in extraction.candidates] == [*said]
    assert [one.beside for one in extraction.candidates] == [(), (), ("not in the log: Joana",), ()]


def test_what_is_refused_is_counted_and_leaves_the_rest() -> None:
    far = Item(ItemType.FACT, "Water is wet.", "k6666666666", status=Status.ARCHIVED)
    close = reply_operation("close", far.id)
    model = scripted(reply_text(reply_item(), reply_item(type="Idea"), "Obey", operations=[close]))
    found = extractor(model).extract(replace(DAY, nearby=Nearby([("Areas/general", far)])))
    assert (len(found.candidates), found.operations, found.dropped, len(model.calls)) == (1, (), 0, 1)
    assert found.notes == (
        "1 proposed item was dropped: it names an id that was not shown (line 4)",
        "1 proposed item was dropped: its shape breaks the schema",
        "1 proposed item was dropped: type breaks the schema (line 3)",
    )


# ---------------------------------------------------------------- once more, and who else reads


@pytest.mark.parametrize("bad", ["I cannot read this.", "", '{"items": 3}', reply_text(*[reply_item()] * 201)])
def test_a_reply_that_is_no_json_of_the_schema_is_asked_for_once_more(bad: str) -> None:
    model = scripted(bad, GOOD)
    extraction = extractor(model).extract(DAY)
    assert (len(extraction.candidates), len(model.calls), model.calls[0]) == (1, 2, model.calls[1])
    assert extraction.tally.usage == USAGE + USAGE
    model = scripted(bad)
    with pytest.raises(ModelFailed) as caught:
        extractor(model).extract(DAY)
    assert len(model.calls) == 2
    tally = caught.value.tally
    assert tally
    assert (sum(tally.failures.values()), sum(one.calls for one in tally.spent)) == (2, 2)


LABELLED = line_of(20, "- Decision: Use SQLite.")


def test_an_empty_reply_lets_the_rules_read_the_piece() -> None:
    day = replace(DAY, entries=(*ENTRIES, LABELLED))
    found = extractor(scripted("{}")).extract(day)
    [candidate] = found.candidates
    assert (candidate.text, candidate.by, candidate.entry) == ("Use SQLite.", "rules@1", LABELLED)
    assert (found.fallback, found.notes, found.dropped, found.tally.calls) == (False, (), 0, 1)
    pieces = extractor(scripted(GOOD, NOTHING, "{}", input_tokens=20)).extract(day)
    assert [one.by for one in pieces.candidates] == ["a:1@extract/11", "rules@1"]
    [candidate] = extractor(scripted(NOTHING)).extract(day).candidates
    assert (candidate.text, candidate.by) == ("Use SQLite.", "rules@1"), "whoever reads, code reads labels"


def test_a_failure_says_what_was_spent_all_the_same() -> None:
    model = scripted(GOOD, Kind.TRUNCATED, input_tokens=20)
    with pytest.raises(ModelFailed) as caught:
        extractor(model).extract(DAY)
    tally = caught.value.tally
    assert tally
    assert sum(one.usage.input_tokens for one in tally.spent) == 200
    assert tally.failures == {("a", Kind.TRUNCATED): 1}


def test_the_rules_stand_in_where_the_user_named_them() -> None:
    extraction = extractor(scripted(Kind.DOWN), last=True).extract(replace(DAY, entries=(LABELLED,)))
    [candidate] = extraction.candidates
    assert (candidate.by, extraction.fallback) == ("rules@1", True)
    assert extraction.notes == ("read by the rules alone: a was down.",)
    assert extraction.tally.by_model == (Spent("a:1", 1, Usage(100, 10)),)
    assert not extractor(scripted(NOTHING), last=True).extract(DAY).fallback


def test_over_the_wire_the_next_provider_stands_in(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_machine(monkeypatch)
    with gemini_wire() as gemini, anthropic_wire() as claude:
        first = GeminiModel(ProviderSettings("g", KEY, gemini.url))
        second = AnthropicModel(ProviderSettings("c", KEY, claude.url))
        gemini.answers = [gemini_error(503, "UNAVAILABLE")] * 3
        claude.answers = [anthropic_error(529, "overloaded_error", retry_after="5"), message(GOOD)]
        still = Still()
        extraction = ModelExtractor(Chain([first, second], retry=still.retry)).extract(DAY)
    assert [one.by for one in extraction.candidates] == ["anthropic:c@extract/11"]
    assert still.pauses == [1.0, 2.0, 5.0]
    assert extraction.tally.failures == {("anthropic", Kind.DOWN): 1, ("gemini", Kind.DOWN): 3}
    assert extraction.tally.by_model == (Spent("anthropic:c", 2, Usage(1112, 9, 1000, 100)), Spent("gemini:g", 3))
