"""A model that knows the answers: it answers what `curate` asks about this month from gold.json beside it.

    curate run --provider "exec:python3 examples/month/answer.py"

It reads one request on standard input and prints one reply (docs/models.md shows both). What it says is what an honest,
attentive model would say; where a memory is wrong after that, the fault is not the model's. It knows nothing but the
gold: items are recognised by their text, and places in the log by the quote.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Json = dict[str, Any]

GOLD = json.loads(Path(__file__).with_name("gold.json").read_text("utf-8"))
BELIEFS: dict[str, Json] = {one["key"]: one for one in GOLD["beliefs"]}
EVENTS: list[Json] = GOLD["events"]
BY_TITLE = {"User": "USER", "Memory": "MEMORY"}
OPERATIONS = {"close": "close", "update": "update", "retract": "retract", "question": "doubt"}
BELIEVED = {"live", "open"}
SHOWN_IN_BRIEF = 3
MOST_NOW = 12


def fold(text: str) -> str:
    """Return a text as it is compared: one line, without case and end punctuation."""
    return " ".join(text.split()).rstrip(".!").casefold()


def lines_of(quote: str, entries: Iterable[Json]) -> list[int] | None:
    """Return the first and the last line of a quote in the entries, or None."""
    for entry in entries:
        at = entry["text"].find(quote)
        if at >= 0:
            first = entry["line"] + entry["text"].count("\n", 0, at)
            return [first, first + quote.count("\n")]
    return None


def ids_of(keys: Iterable[str], items: Iterable[Json]) -> list[str]:
    """Return the ids of the items that say what these beliefs say, and are believed."""
    texts = {fold(BELIEFS[key]["text"]) for key in keys}
    return [one["id"] for one in items if fold(one["text"]) in texts and one.get("status", "live") in BELIEVED]


def extract(asked: Json) -> Json:
    """Answer with what the shown entries say, and with what they do to items that are shown or new."""
    day, entries = asked["day"], asked["entries"]
    shown = [*asked.get("open", ()), *asked.get("near", ())]
    items = [item for belief in BELIEFS.values() if (item := item_of(belief, asked, shown))]
    known = [*shown, *({"id": f"n{at}", "text": one["text"]} for at, one in enumerate(items))]
    operations, told = [], []
    for event in EVENTS:
        lines = lines_of(event["quote"], entries) if event["day"] == day else None
        if not lines:
            continue
        told.append({"text": event["quote"], "lines": [lines]})
        ids = ids_of(event["of"], known)
        if event["operation"] == "supersede":
            for item in items:
                if fold(item["text"]) == fold(BELIEFS[event["belief"]]["text"]):
                    item["replaces"] += ids
        elif ids and event["operation"] in OPERATIONS:
            operations.append(
                {
                    "operation": OPERATIONS[event["operation"]],
                    "ids": ids,
                    "how": event.get("how", ""),
                    "text": BELIEFS[event["belief"]]["text"] if event["operation"] == "update" else "",
                    "lines": [lines],
                    "reason": "the line says so",
                }
            )
    again = [one for one in EVENTS if (one["operation"], one["day"]) == ("confirm", day)]
    seen = [ident for one in again if lines_of(one["quote"], entries) for ident in ids_of(one["of"], shown)]
    return {"items": items, "operations": operations, "seen": seen, "episode": told[:SHOWN_IN_BRIEF]}


def item_of(belief: Json, asked: Json, shown: Sequence[Json]) -> Json | None:
    """Return a belief as an item, or None where the entries do not say it, it is shown, or another is updated to it."""
    said = [one for one in belief["quotes"] if one["day"] == asked["day"]]
    lines = [found for one in said if (found := lines_of(one["quote"], asked["entries"]))]
    if not lines or any(one["operation"] == "update" and one["belief"] == belief["key"] for one in EVENTS):
        return None
    if ids_of([belief["key"]], shown):
        return None
    return {
        "type": belief["type"],
        "text": belief["text"],
        "lines": lines,
        "replaces": [],
        **where(belief["document"], asked["documents"]),
        "section": belief.get("section", ""),
        "name": belief.get("name", ""),
        "from": belief["since"] if belief["since"] != asked["day"] else "",
        "due": belief.get("due", ""),
        "closed": belief.get("closed", ""),
        "confidence": belief.get("confidence", "high"),
        "links": [{"kind": "because", "id": ident} for ident in ids_of(belief.get("because", ()), shown)],
    }


def where(title: str, documents: Iterable[Json]) -> Json:
    """Return the id of the document of that title, or the title of one to be made."""
    for one in documents:
        if BY_TITLE.get(title) == one["id"] or fold(one["title"]) == fold(title):
            return {"document": one["id"], "new_page": ""}
    return {"document": "", "new_page": f"project: {title}"}


def verify(asked: Json) -> Json:
    """Answer whether the quotes of each claim are the gold's own quotes of what it says."""
    return {"verdicts": [{"claim": one["claim"], "reason": "gold", "verdict": verdict(one)} for one in asked["claims"]]}


def verdict(claim: Json) -> str:
    """Return the verdict on a claim."""
    if claim["kind"] == "pair":
        return of_pair(*(fold(text.partition(": ")[2]) for text in (claim["text"], claim["quotes"][0])))
    return "supported" if supported(claim) else "unsupported"


def of_pair(new: str, old: str) -> str:
    """Return how a new sentence stands to an old one."""
    if new == old:
        return "same"
    for event in EVENTS:
        replaced = {fold(BELIEFS[key]["text"]) for key in event["of"]}
        if event["operation"] == "supersede" and old in replaced and new == fold(BELIEFS[event["belief"]]["text"]):
            return "replaces"
    return "both"


def supported(claim: Json) -> bool:
    """Whether the gold holds a claim with one of its quotes; that an item is over, only an event can say."""
    text, quotes = fold(claim["text"]), {fold(one) for one in claim["quotes"]}
    is_item = claim["kind"] in {"item", "sentence"}
    if is_item and any(text in quote for quote in quotes):
        return True

    def quoted(gold: str) -> bool:
        return any(fold(gold) in quote or quote in fold(gold) for quote in quotes)

    for belief in BELIEFS.values():
        if is_item and fold(belief["text"]) in text and any(quoted(one["quote"]) for one in belief["quotes"]):
            return True
    for event in EVENTS:
        about = [BELIEFS[key]["text"] for key in (*event["of"], *filter(None, [event.get("belief")]))]
        if quoted(event["quote"]) and any(fold(one) in text for one in about):
            return True
    return False


def brief(asked: Json) -> Json:
    """Answer with the first items of each page, and with what is open, in their own words."""

    def sentences(items: Iterable[Json], most: int) -> list[Json]:
        believed = [one for one in items if one.get("status", "live") in BELIEVED]
        return [{"text": one["text"], "ids": [one["id"]]} for one in believed[:most]]

    pages = asked.get("pages", ())
    states = [{"id": page["id"], "sentences": sentences(page["items"], SHOWN_IN_BRIEF)} for page in pages]
    return {"now": sentences(asked["now"]["items"], MOST_NOW), "states": states}


TASKS = {"extract": extract, "verify": verify, "brief": brief}


def main() -> None:
    """Answer one request. Without `input` there is nothing to go by, and the rules do it."""
    request = json.load(sys.stdin)
    asked, task = request.get("input"), TASKS.get(request.get("task"))
    sys.stdout.write(json.dumps(task(asked) if task and asked else {}, ensure_ascii=False))


if __name__ == "__main__":
    main()
