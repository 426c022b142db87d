"""How a day is read: what a model is asked, what is dropped, and who reads when nobody can."""

from dataclasses import replace
from typing import Any

from pipelines.extract.llm.call import Model
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.nearby import Nearby
from pipelines.store.item import Item, ItemType
from tests.extract.days import (
    DAY,
    ENTRIES,
    line_of,
    reply_item,
    reply_operation,
    reply_text,
)
from tests.extract.fakes import Scripted, Still

GOOD, NOTHING = reply_text(reply_item()), reply_text()


def extractor(*models: Model) -> ModelExtractor:
    return ModelExtractor(Chain(models, pause=Still().retry))


def scripted(*said: Any, **changes: Any) -> Scripted:
    return Scripted("a:1", list(said), **changes)


# ---------------------------------------------------------------- a day


def test_a_long_day_is_read_in_pieces_and_the_answers_are_joined() -> None:
    told = [{"text": "It was a day.", "lines": [[9, 9]]}]
    model = scripted(GOOD, reply_text(reply_item([4, 5])), reply_text(episode=told), input_tokens=20)
    extraction = extractor(model).extract(DAY)
    assert (
        len(extraction.tally.spent),
        sum(one.usage.input_tokens for one in extraction.tally.spent),
        len(extraction.episode),
    ) == (3, 300, 1)
    assert len({one.id for one in extraction.candidates}) == 2, "n0 of one piece is not n0 of the next"
    assert ["We go with" in call.user for call in model.calls] == [True, False, False]
    assert len({call.digest for call in model.calls}) == 3


def test_what_a_later_piece_ends_an_earlier_one_does_not_change() -> None:
    held = Item(ItemType.TODO, "Ask legal about the contract and the terms.", "k1111111111", since="2026-03-01")
    changed = reply_operation("update", held.id, text="Ask legal about the contract.")
    closed = reply_operation("close", held.id, how="done")
    replies = [reply_text(operations=[changed]), reply_text(operations=[closed]), reply_text()]
    model = scripted(*replies, input_tokens=20)
    found = extractor(model).extract(DAY._replace(nearby=Nearby([("Areas/general", held)])))
    assert [one.kind for one in found.operations] == ["close"]


def test_a_change_stays_where_a_later_piece_only_doubts_it() -> None:
    held = Item(ItemType.TODO, "Ask legal about the contract and the terms.", "k1111111111", since="2026-03-01")
    changed = reply_operation("update", held.id, text="Ask legal about Terraform.", lines=[[3, 3]])
    doubted = reply_operation("doubt", held.id, lines=[[4, 5]])
    replies = [reply_text(operations=[one]) for one in (changed, doubted)]
    found = extractor(scripted(*replies, reply_text(), input_tokens=20)).extract(
        DAY._replace(nearby=Nearby([("Areas/general", held)]))
    )
    assert [one.kind for one in found.operations] == ["update", "question"]


def test_a_later_piece_is_not_offered_what_has_no_name_or_was_not_shown() -> None:
    many = [reply_item(text=f"Ask legal about the contract of pier {at}, please.") for at in range(99)]
    asked = scripted(
        reply_text(*many), reply_text(operations=[reply_operation("close", "p98")]), NOTHING, input_tokens=20
    )
    found = extractor(asked).extract(DAY)
    assert "p10 " in asked.calls[1].user
    assert ("p98 " in asked.calls[1].user, found.operations) == (False, ())
    labelled = DAY._replace(entries=(line_of(3, "- Decision: We go with Terraform."), *ENTRIES[1:]))
    rules_first = scripted("{}", NOTHING, input_tokens=20)
    assert "Terraform" in extractor(rules_first).extract(labelled).candidates[0].text
    assert "p0" not in rules_first.calls[1].user


def test_a_later_piece_is_shown_what_an_earlier_one_proposed_and_may_end_it() -> None:
    asks = reply_text(reply_item(type="Todo", text="Ask legal about the contract."), reply_item())
    model = scripted(asks, reply_text(operations=[reply_operation("close", "p0", how="done")]), GOOD, input_tokens=20)
    found = extractor(model).extract(DAY)
    first, second, third = (call.user.partition("\nLog.")[0] for call in model.calls)
    assert "p0" not in first
    assert "Open:\np0 Todo harbour since 2026-03-12: Ask legal about the contract.\n" in second
    assert "Near:\np1 " in second
    assert [one.ids for one in found.operations] == [(found.candidates[0].id,)]
    assert "p2" not in third


def test_n0_of_two_logs_of_a_day_are_two_items() -> None:
    reader = extractor(scripted(GOOD))
    other = DAY._replace(entries=tuple(replace(one, path="Logs/2026-03-12-b.md") for one in ENTRIES))
    assert reader.extract(DAY).candidates[0].id != reader.extract(other).candidates[0].id


# ---------------------------------------------------------------- what is dropped


# ---------------------------------------------------------------- once more, and who else reads
