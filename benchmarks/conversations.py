"""Public conversations as memories: one daily log a session's day, one list item a turn, and questions with evidence.

Two shapes are read: LoCoMo as downloaded (a JSON file of samples, or a folder that holds it anywhere below), and
folders that hold `Logs/` and `queries.jsonl` already.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchmarks.search_questions import GoldQuestion, read_questions
from pipelines.errors import BadFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# LoCoMo's questions of this kind have no answer in the conversation: they ask a model to say so, not a search.
ADVERSARIAL = 5


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation.

    Args:
        name: what it is called.
        logs: path → text.
        questions: each with the lines that answer it.
    """

    name: str
    logs: Mapping[str, str]
    questions: tuple[GoldQuestion, ...]


def read_conversations(place: Path) -> list[Conversation]:
    """Return the conversations of a file or folder, in order of their names.

    Raises:
        BadFile: nothing of either shape is there, or a sample is broken.
    """
    found = list(_laid_out(place)) if place.is_dir() else []
    if not found:
        files = sorted(place.rglob("*.json")) if place.is_dir() else [place]
        found = [one for file in files for one in _samples(file)]
    if not found:
        raise BadFile(place, "holds no conversation: neither LoCoMo's JSON nor folders with Logs/ and queries.jsonl")
    return found


def _laid_out(place: Path) -> Iterator[Conversation]:
    for queries in sorted(place.rglob("queries.jsonl")):
        logs = {f"Logs/{path.name}": path.read_text("utf-8") for path in sorted((queries.parent / "Logs").glob("*.md"))}
        if logs:
            yield Conversation(queries.parent.name, logs, tuple(read_questions(queries)))


def _samples(file: Path) -> Iterator[Conversation]:
    try:
        raw: Any = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadFile(file, f"cannot be read: {error}") from None
    for number, sample in enumerate(raw if isinstance(raw, list) else [raw]):
        if not isinstance(sample, dict) or "conversation" not in sample:
            continue
        name = str(sample.get("sample_id", f"{file.stem}-{number}"))
        try:
            logs, places = _logs(sample["conversation"])
            questions = tuple(_questions(sample.get("qa", ()), places))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise BadFile(file, f"is no LoCoMo in sample {name}: {error!r}") from None
        if logs and questions:
            yield Conversation(name, logs, questions)


def _logs(talk: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, tuple[str, int]]]:
    """Return the logs of a conversation, and where each turn stands in them."""
    days: dict[str, list[str]] = {}
    places: dict[str, tuple[str, int]] = {}
    numbers = sorted(int(key.removeprefix("session_")) for key in talk if key.removeprefix("session_").isdecimal())
    for number in numbers:
        turns, told = talk[f"session_{number}"], talk.get(f"session_{number}_date_time")
        if not turns or not told:
            continue
        began = _moment(told)
        path = f"Logs/{began:%Y-%m-%d}.md"
        lines = days.setdefault(path, [f"# {began:%Y-%m-%d}", ""])
        lines += [f"## {began:%H:%M} session {number}", ""]
        for turn in turns:
            lines.append(_line(turn))
            places[turn["dia_id"]] = (path, len(lines))
        lines.append("")
    return {path: "\n".join(lines) for path, lines in sorted(days.items())}, places


def _moment(told: str) -> datetime:
    """Return a session's moment from `1:56 pm on 8 May, 2023`."""
    return datetime.strptime(told.replace(" on ", " "), "%I:%M %p %d %B, %Y").replace(tzinfo=UTC)


def _line(turn: Mapping[str, Any]) -> str:
    text = " ".join(str(turn.get("text", "")).split())
    picture = f" [shares a picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"- **{turn['speaker']}:** {text}{picture}"


def _questions(asked: Any, places: Mapping[str, tuple[str, int]]) -> Iterator[GoldQuestion]:  # noqa: ANN401  what JSON holds
    for one in asked:
        evidence = frozenset(places[turn] for turn in one.get("evidence", ()) if turn in places)
        if evidence and one.get("category") != ADVERSARIAL:
            yield GoldQuestion(str(one["question"]), evidence)
