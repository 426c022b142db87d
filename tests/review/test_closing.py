"""Todos are closed by what the log says, and in doubt they stay open."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pipelines.review.close_todos import close_todos
from pipelines.store.document import Document
from pipelines.store.item import Evidence, Item, ItemType, Status, Trust, render_item
from tests.making import entry

if TYPE_CHECKING:
    from pipelines.review.close_todos import Closed

PATH = "Projects/kestrel.md"


def todo(text: str, ident: str = "k0000000001", since: str = "2026-03-01") -> Item:
    place = Evidence(f"Logs/{since}.md", 3, 3, "00000000")
    return Item(ItemType.TODO, text, ident, Status.OPEN, since, trust=Trust.SELF, evidence=(place,), by="rules@1")


def settled(todos: tuple[Item, ...], lines: tuple[str, ...], day: str, word: Trust) -> Closed:
    rows = "\n".join(map(render_item, todos))
    documents = {PATH: Document(PATH, f"## Next steps\n\n{rows}\n")}
    return close_todos(documents, [entry(line, day=day) for line in lines], lambda *_: word)


def closed(text: str, *lines: str, more: tuple[Item, ...] = (), day: str = "2026-03-10") -> tuple[str, ...]:
    return settled((todo(text), *more), lines, day, Trust.SELF).ids


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Ask legal about the data agreement", "- asked legal about the data agreement"),
        ("Ask legal about the data agreement", "- 14:10 [x] ask legal about the data agreement"),
        ("Ask legal about the data agreement", "- ~~ask legal about the data agreement~~"),
        ("Fix the login timeout", "- Anna fixed the login timeout."),
        ("Fix the login timeout", "- the login timeout is fixed"),
        ("Write the release notes for 2.4", "- release notes for 2.4 are done"),
        ("Merge pull request 88", "- pull request 88 merged"),
        ("Renew the TLS certificate", "- Finally renewed the TLS certificate on Monday."),
        ("Order toner for the printer", "- ordered toner for the printer. Also cleaned the desk."),
    ],
)
def test_what_is_done_is_closed(text: str, line: str) -> None:
    assert closed(text, line) == ("k0000000001",)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Ask legal about the data agreement", "- asked legal about the coffee machine"),
        ("Ask legal about the data agreement", "- have not asked legal about the data agreement"),
        ("Ask legal about the data agreement", "- [ ] ask legal about the data agreement"),
        ("Ask legal about the data agreement", "- the data agreement is done"),
        ("Fix the login timeout", "- is the login timeout fixed?"),
        ("Fix the login timeout", "- the login timeout should be fixed by now"),
        ("Fix the login timeout", "- the login timeout is almost fixed"),
        ("Fix the login timeout", "- once the login timeout is fixed, we ship"),
        ("Write the release notes for 2.4", "- release notes for 2.5 are done"),
        ("Write the release notes for 2.4", "- release notes are done"),
        ("Merge pull request 88", "- pull request 90 merged"),
        ("Call Peter about the budget", "- called Maria about the budget"),
        ("Review the migration guide", "- the migration guide is done"),
        ("Ship it", "- shipped"),
        ("Clean up", "- all done for today"),
    ],
)
def test_in_doubt_it_stays_open(text: str, line: str) -> None:
    assert closed(text, line) == ()


def test_of_two_alike_none_is_closed() -> None:
    other = todo("Fix the login timeout", "k0000000002")
    assert closed("Fix the login timeout", "- fixed the login timeout", more=(other,)) == ()


def test_neither_its_own_line_nor_an_earlier_day_closes_a_todo() -> None:
    assert closed("Fix the login timeout", "- fixed the login timeout", day="2026-02-01") == ()
    assert closed("Fix the login timeout", "- fixed the login timeout", day="2026-03-01") == ()


@pytest.mark.parametrize("set_by", list(Trust))
@pytest.mark.parametrize("word", list(Trust))
def test_words_close_what_rests_on_no_more_than_they_do(set_by: Trust, word: Trust) -> None:
    held = replace(todo("Fix the login timeout"), trust=set_by)
    found = settled((held,), ("- fixed the login timeout",), "2026-03-10", word)
    ranks = list(Trust)
    if word is Trust.UNTRUSTED:
        assert (found.ids, found.claims) == ((), ()), "nobody's word does nothing"
    elif ranks.index(word) <= ranks.index(set_by):
        assert (found.ids, found.claims) == ((held.id,), ())
    else:
        assert (found.ids, [one.id for one in found.claims]) == ((), [held.id]), "a person is asked"
