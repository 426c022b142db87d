"""How `curate review` shows what waits, and asks: each choice is one key, `s` skips, `q` ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.commands.items import item_json
from pipelines.commands.output import say, say_bold
from pipelines.store.evidence import Quotes
from pipelines.store.review_queue import released
from pipelines.store.user_layout import real_path
from pipelines.text import clean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pipelines.night.manual_review import Question
    from pipelines.store.item import Item

_SHOWN = 12


def question_json(root: Path, question: Question, quotes: Quotes) -> dict[str, object]:
    """Return a question as `--json` prints it."""
    entry = question.entry
    return {
        "id": question.id,
        "entry": entry.id,
        "kind": entry.kind,
        "since": entry.day,
        "title": entry.title,
        "why": "\n".join(entry.why),
        "choices": [{"choice": choice, "means": question.means(choice)} for choice in question.choices],
        "ticked": list(entry.ticked),
        "against": question.against.id if question.against else None,
        "items": [item_json(real_path(root, released(item)[0]), item, quotes) for item in question.items],
    }


def go_through(root: Path, waiting: Sequence[Question], decide: Callable[[str, str], None]) -> None:
    """Ask a person about each question in turn; what they decide is applied before the next is asked.

    Args:
        root: the memory.
        waiting: the questions.
        decide: applies a decision: the question's id, the choice.
    """
    quotes, left = Quotes(root), len(waiting)
    for question in waiting:
        say()
        say_bold(clean(question.entry.title), f"   ({question.entry.kind}, since {question.entry.day}; {left} left)")
        for line in told(question, quotes):
            say(line)
        keys = keys_of(question.choices)
        key = _key({*keys, "s", "q"})
        if key == "q":
            break
        if key != "s":
            decide(question.id, keys[key])
            left -= 1
    say(
        f"{left} {'entry waits' if left == 1 else 'entries wait'} still." if left else "Nothing waits for you any more."
    )


def told(question: Question, quotes: Quotes) -> Iterator[str]:
    """Yield what a person needs to decide: what and why, the items with the words they rest on, the choices."""
    entry = question.entry
    yield from (f"  {clean(line)}" for line in entry.why)
    for item in question.items[:_SHOWN]:
        yield from _item("  ", item, quotes)
    if len(question.items) > _SHOWN:
        yield f"  … and {len(question.items) - _SHOWN} more"
    if question.against:
        yield "  against:"
        yield from _item("  ", question.against, quotes)
    for key, choice in keys_of(question.choices).items():
        means = question.means(choice)
        yield f"  [{key}] {choice}{f': {means}' if means else ''}"
    yield "  [s] skip   [q] quit"


def _item(margin: str, item: Item, quotes: Quotes) -> Iterator[str]:
    yield f"{margin}{item.id} {item.type}: {item.text}"
    yield f"{margin}  since {item.since or '?'}, trust {item.trust}, confidence {item.confidence}"
    for place in item.evidence:
        found = quotes.found(place)
        said = clean(found.quote or "the words no longer stand there").replace("\n", f"\n{margin}    ")
        yield f"{margin}  {found.path}:{found.start_line}: {said}"


def keys_of(choices: Sequence[str]) -> dict[str, str]:
    """Return key → choice: the first letter of each that no other choice, nor skip and quit, has."""
    keys: dict[str, str] = {}
    for choice in choices:
        letters = "".join(word[0] for word in reversed(choice.split())) + choice.replace(" ", "")
        key = next(letter for letter in letters if letter not in keys and letter not in "sq")
        keys[key] = choice
    return keys


def _key(allowed: set[str]) -> str:
    """Return the key that a person presses, of those that mean something; an interrupt ends the command."""
    while (key := click.getchar().lower()) not in allowed:
        if key in {"\x03", "\x04", ""}:
            raise click.Abort
    return key
