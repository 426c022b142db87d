"""`curate review`: decide what waits for a person, on a terminal item by item, or from a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipelines.cli.manual_changes import redacted_text
from pipelines.cli.options import OpenMemory, Words, json_option, with_memory
from pipelines.cli.output import can_ask, day_shown, say, say_bold, say_json, say_table
from pipelines.errors import UsageFault
from pipelines.night.answers import ReviewQuestion, choice_keys, named_question, questions
from pipelines.night.own_items import decide
from pipelines.queries.item_graph import listed_json, quote_lines
from pipelines.store.evidence import Quotes
from pipelines.store.review_queue import released
from pipelines.store.snapshot import read_documents
from pipelines.text import clean, count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pipelines.store.item import Item

_SHOWN = 12


@click.command()
@click.argument("idents", metavar="[ID]...", nargs=-1)
@click.option(
    "--accept", "word", flag_value="accept", help="Say yes: keep the new item, replace, restore, archive or close."
)
@click.option("--reject", "word", flag_value="reject", help="Say no: drop the new item, or leave things as they are.")
@click.option("--choose", metavar="CHOICE", default="", help="Decide by the name of a choice, such as “keep both”.")
@click.option("--text", default="", metavar="SENTENCE", help="Accept the item in these words of yours.")
@json_option("Print what waits as a JSON array.")
@with_memory
def curate_review(
    *, idents: Words, word: str | None, choose: str, text: str, as_json: bool, opened: OpenMemory
) -> None:
    """Decide what waits in Review.md: on a terminal one by one, or only what the IDs name.

    ID is the id of a waiting item or entry, or the start of one. Without a terminal and ID, this lists what waits. Each
    decision is one commit, and `curate undo` reverts it.
    """
    root = opened[0]
    choice = choose or word
    if choice and not idents:
        raise UsageFault("A decision needs an ID.", "`curate review` lists what waits.")
    if text and not choice:
        raise UsageFault("--text needs a decision.", "Add --accept or --choose.")
    if choose and word:
        raise UsageFault("--choose excludes --accept and --reject.", "Give only one of them.")

    def decide_and_tell(idents: Sequence[str], word: str, text: str = "") -> None:
        decided, notes = decide(opened, idents, word, text)
        say(f"{decided}.", *(f"Note: {note}" for note in notes))

    if choice:
        decide_and_tell(idents, choice, redacted_text(root, text, "review"))
        return
    documents = read_documents(root)
    waiting = [named_question(documents, ident) for ident in idents] or questions(documents)
    if as_json:
        quotes = Quotes(root)
        say_json([_question_json(one, quotes) for one in waiting])
    elif not waiting:
        say("Nothing waits for you.")
    elif can_ask():
        _go_through(root, waiting, decide_and_tell)
    else:
        rows = [(one.id, one.entry.kind, one.entry.day, one.title, ", ".join(one.choices)) for one in waiting]
        say_table(("id", "kind", "since", "what", "choices"), rows)


def _question_json(question: ReviewQuestion, quotes: Quotes) -> dict[str, object]:
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
        "items": [listed_json(released(item)[0], item, quotes) for item in question.items],
    }


def _go_through(root: Path, waiting: Sequence[ReviewQuestion], decide: Callable[[Sequence[str], str], None]) -> None:
    """Ask a person about each question in turn; what they decide is applied before the next is asked.

    Args:
        root: the memory.
        waiting: the questions.
        decide: applies a decision: the question's id, the choice.
    """
    quotes, left = Quotes(root), len(waiting)
    for question in waiting:
        say("")
        say_bold(
            clean(question.title), f"   ({question.entry.kind}, since {day_shown(question.entry.day)}; {left} left)"
        )
        say(*_lines(question, quotes), hang="      ")
        keys = choice_keys(question.choices)
        while (key := click.getchar().lower()) not in {*keys, "s", "q"}:
            if key in {"\x03", "\x04", ""}:  # an interrupt ends the command
                raise click.Abort
            say("  That is no choice.")
        if key == "q":
            break
        if key != "s":
            decide([question.id], keys[key])
            left -= 1
    say(f"{count(left, 'entry still waits', 'entries still wait')}." if left else "Nothing is left to review.")


def _lines(question: ReviewQuestion, quotes: Quotes) -> Iterator[str]:
    """Yield what a person needs to decide: the reason, the items with their quotes, and the choices."""
    entry = question.entry
    # Both items follow with their quotes; only Review.md has to say them in words.
    yield from (f"  {clean(line)}" for line in (entry.why[:1] if question.against else entry.why) if line)
    for item in question.items[:_SHOWN]:
        yield from _item("  ", item, quotes)
    if len(question.items) > _SHOWN:
        yield f"  … and {len(question.items) - _SHOWN} more"
    if question.against:
        yield "  against:"
        yield from _item("  ", question.against, quotes)
    for key, choice in choice_keys(question.choices).items():
        means = question.means(choice)
        yield f"  [{key}] {choice}{f': {means}' if means else ''}"
    yield "  [s] skip   [q] quit"


def _item(margin: str, item: Item, quotes: Quotes) -> Iterator[str]:
    yield f"{margin}{item.id} {item.type}: {item.text}"
    reason = f" ({item.reason})" if item.reason else ""
    yield f"{margin}  since {day_shown(item.since) or '?'}, trust {item.trust}, confidence {item.confidence}{reason}"
    for place in item.evidence:
        found = quotes.found(place)
        yield f"{margin}  {found.path}:{found.start_line}"
        yield from quote_lines(found.quote or "the words are no longer there", f"{margin}    ")
