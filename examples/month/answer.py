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
IN_EXTRACT = {"close", "confirm", "update", "retract", "question"}
BELIEVED = {"live", "open"}
SHOWN_IN_BRIEF = 3


def fold(text: str) -> str:
    """Return a text as it is compared: one line, without case and end punctuation."""
    return " ".join(text.split()).rstrip(".!").casefold()


def text_of(event: Json) -> str:
    """Return the sentence by which an event is proposed where its target is not shown."""
    return str(event.get("text") or event["quote"])


def place_of(quote: str, entries: Iterable[Json]) -> Json | None:
    """Return where a quote stands in the entries, as evidence, or None."""
    for entry in entries:
        at = entry["text"].find(quote)
        if at >= 0:
            first = entry["line"] + entry["text"].count("\n", 0, at)
            return {"quote": quote, "start_line": first, "end_line": first + quote.count("\n")}
    return None


def ids_of(keys: Iterable[str], items: Iterable[Json]) -> list[str]:
    """Return the ids of the items that say what these beliefs say, and are believed."""
    texts = {fold(BELIEFS[key]["text"]) for key in keys}
    return [one["id"] for one in items if fold(one["text"]) in texts and one.get("status", "live") in BELIEVED]


def extract(asked: Json) -> Json:
    """Answer with what the shown entries say, and with what they do to items that are shown."""
    day, entries = asked["day"], asked["entries"]
    shown = [*asked.get("open", ()), *asked.get("near", ())]
    items = [item for belief in BELIEFS.values() if (item := item_of(belief, asked, shown))]
    operations = []
    for event in EVENTS:
        place = place_of(event["quote"], entries) if event["day"] == day else None
        if not place:
            continue
        ids = ids_of(event["of"], shown)
        if event["operation"] == "supersede":  # its belief is an item; what it replaces is found by the review
            continue
        if len(ids) == len(event["of"]) and event["operation"] in IN_EXTRACT:
            text = BELIEFS[event["belief"]]["text"] if event["operation"] == "update" else ""
            operations.append(
                {
                    "operation": event["operation"],
                    "ids": ids,
                    "how": event.get("how", ""),
                    "text": text,
                    "evidence": [place],
                    "reason": "the line says so",
                }
            )
        else:
            items.append(proposal_of(event, place, asked))
    return {"items": items, "operations": operations}


def item_of(belief: Json, asked: Json, shown: Sequence[Json]) -> Json | None:
    """Return a belief as an item, or None where no quote of it stands in the entries, or another line updates to it."""
    said = [one for one in belief["quotes"] if one["day"] == asked["day"]]
    places = [place for one in said if (place := place_of(one["quote"], asked["entries"]))]
    if not places or any(one["operation"] == "update" and one["belief"] == belief["key"] for one in EVENTS):
        return None
    links = [{"kind": "because", "id": ident} for ident in ids_of(belief.get("because", ()), shown)]
    return {
        "type": belief["type"],
        "text": belief["text"],
        **where(belief["document"], asked["documents"]),
        "section": belief.get("section", ""),
        "name": belief.get("name", ""),
        "from": belief["since"] if belief["since"] != asked["day"] else "",
        "due": belief.get("due", ""),
        "closed": belief.get("closed", ""),
        "evidence": places,
        "confidence": belief.get("confidence", "high"),
        "reason": "stated in the log",
        "links": links,
    }


def proposal_of(event: Json, place: Json, asked: Json) -> Json:
    """Return an event as a candidate, for the review to find its target: here the target has no id yet."""
    target = BELIEFS[event["of"][0]]
    how = event.get("how", "")
    return {
        "type": target["type"],
        "text": text_of(event),
        **where(target["document"], asked["documents"]),
        "section": target.get("section", ""),
        "name": target.get("name", ""),
        "from": "",
        "due": "",
        "closed": how if event["operation"] == "close" and how != "ended" else "",
        "evidence": [place],
        "confidence": "high",
        "reason": "the line says so",
        "links": [],
    }


def where(title: str, documents: Iterable[Json]) -> Json:
    """Return the id of the document of that title, or the title of one to be made."""
    for one in documents:
        if BY_TITLE.get(title) == one["id"] or fold(one["title"]) == fold(title):
            return {"document": one["id"], "new_project": ""}
    return {"document": "", "new_project": title}


def review(asked: Json) -> Json:
    """Answer with what each candidate does to the items that are near to it."""
    by_id = {one["id"]: one for one in asked["items"]}
    by_id |= {one["id"]: one for one in asked["candidates"]}
    return {"operations": [one for candidate in asked["candidates"] for one in judged(candidate, by_id)]}


def judged(candidate: Json, by_id: dict[str, Json]) -> list[Json]:
    """Return the operations of one candidate: it is a belief, or an event that was proposed without its target."""
    near = [by_id[ident] for ident in candidate["neighbours"] if ident in by_id]
    for event in EVENTS:  # before the beliefs: what finishes a Todo may say it in the Todo's own words
        said = event["day"] == candidate["day"] and fold(text_of(event)) == fold(candidate["text"])
        if said and event["operation"] != "supersede":
            ids = ids_of(event["of"], near)
            text = BELIEFS[event["belief"]]["text"] if event["operation"] == "update" else ""
            return [operation(candidate, event["operation"] if ids else "ignore", ids, text, event.get("how", ""))]
    belief = next((one for one in BELIEFS.values() if fold(one["text"]) == fold(candidate["text"])), None)
    return [judged_belief(belief, candidate, near)] if belief else []


def judged_belief(belief: Json, candidate: Json, near: Sequence[Json]) -> Json:
    """Return what becomes of a candidate that is a belief: it is there already, replaces others, or is new."""
    again = [ident for ident in ids_of([belief["key"]], near) if ident != candidate["id"]]
    if again:
        return operation(candidate, "confirm", again)
    replaced = [
        ident
        for event in EVENTS
        if event["operation"] == "supersede" and event["belief"] == belief["key"]
        for ident in ids_of(event["of"], near)
    ]
    links = [{"kind": "because", "id": ident} for ident in ids_of(belief.get("because", ()), near)]
    return operation(candidate, "supersede" if replaced else "add", replaced, links=links)


def operation(
    candidate: Json, name: str, ids: Sequence[str], text: str = "", how: str = "", links: Sequence[Json] = ()
) -> Json:
    """Return one operation of a review's reply."""
    return {
        "candidate": candidate["candidate"],
        "operation": name,
        "ids": [*ids],
        "text": text,
        "how": how,
        "document": "",
        "links": [*links],
        "reason": "the quote says so",
    }


def verify(asked: Json) -> Json:
    """Answer whether the quotes of each claim are the gold's own quotes of what it says."""
    return {
        "verdicts": [
            {"claim": claim["claim"], "verdict": "supported" if supported(claim) else "unsupported", "reason": "gold"}
            for claim in asked["claims"]
        ]
    }


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
        if quoted(event["quote"]) and any(fold(one) in text for one in (*about, text_of(event))):
            return True
    return False


def brief(asked: Json) -> Json:
    """Answer with the first items of each page and of each day, in their own words."""

    def sentences(items: Iterable[Json]) -> list[Json]:
        believed = [one for one in items if one.get("status", "live") in BELIEVED]
        return [{"text": one["text"], "ids": [one["id"]]} for one in believed[:SHOWN_IN_BRIEF]]

    states = [{"id": page["id"], "sentences": sentences(page["items"])} for page in asked.get("pages", ())]
    episodes = [{"day": day["day"], "sentences": sentences(day["items"])} for day in asked.get("days", ())]
    return {"states": states, "episodes": episodes}


TASKS = {"extract": extract, "review": review, "verify": verify, "brief": brief}


def main() -> None:
    """Answer one request. Without `input` there is nothing to go by, and the rules do it."""
    request = json.load(sys.stdin)
    asked, task = request.get("input"), TASKS.get(request.get("task"))
    sys.stdout.write(json.dumps(task(asked) if task and asked else {}, ensure_ascii=False))


if __name__ == "__main__":
    main()
