"""Pairs that may conflict: the next session's agent settles them, or a person where no agent runs."""

import re
from datetime import date, timedelta
from typing import Any

import pytest

from pipelines.cli import outcome_commands
from tests import reviewing
from tests.asking import items
from tests.conftest import Memory
from tests.reviewing import Reader, labelled, log, reply

OLD, NEW = "The ticket office opens at eight.", "From May on, the ticket office opens later."
TITLE = "=== May conflict: "
FIRST = date(2026, 3, 9)
SUBJECTS = ("ticket office", "harbour crane", "night ferry", "coal barge", "pilot boat")


RED, GREEN = "The {} is painted red.", "Paint the {} green, not red."


def live(memory: Memory, days: int, *lines: str, page: str = "Harbour") -> None:
    """Live through a day, so many after the first one, and its night."""
    day = FIRST + timedelta(days=days)
    found = "\n".join(f"- {line}" for line in (lines or ("we talked",)))
    memory.write(f"Logs/{day}.md", f"# {day}\n\nproject: {page}\n\n{found}\n")
    memory.night(f"{day + timedelta(days=1)}T02:00")


def start(memory: Memory) -> str:
    """Return what a session reads of the pairs at its start."""
    _, _, told = memory.curate("context").partition(TITLE)
    return told.partition("\n\nMemory health:")[0]


def commands(memory: Memory) -> list[list[str]]:
    """Return the commands that the start of a session offers, each without `curate`."""
    return [found.split()[1:] for found in re.findall(r"`(curate settle [^`]+)`", start(memory))]


def a_pair(memory: Memory) -> None:
    start(memory)  # an agent runs here
    live(memory, 0, f"Fact: {OLD}")
    live(memory, 1, f"Fact: {NEW}")


def queue(memory: Memory) -> list[dict[str, Any]]:
    asked: list[dict[str, Any]] = memory.json("review")
    return [one for one in asked if one["kind"] == "pair"]


# ---------------------------------------- an agent settles them


def test_a_session_is_shown_both_items_last_with_commands_that_settle_them(memory: Memory) -> None:
    a_pair(memory)
    found = items(memory)
    new, old = (found[text]["id"][:5] for text in (NEW, OLD))
    assert start(memory).split("\n")[1:] == [
        f"- {new} Fact: {NEW} (harbour, since 2026-03-10)",
        f"  {old} Fact: {OLD} (since 2026-03-09)",
        f"  `curate settle {new} replaces {old}`, or `curate settle {new} both {old}`",
    ]
    assert memory.curate("settle").rstrip("\n").split("\n") == start(memory).split("\n")[1:]
    assert not queue(memory), "an agent decides, so no person is asked"


def test_an_agent_says_that_the_new_one_replaces_the_old_one(memory: Memory) -> None:
    a_pair(memory)
    told = memory.curate(*commands(memory)[0])
    found = items(memory)
    assert (found[OLD]["status"], found[OLD]["until"]) == ("superseded", "2026-03-10")
    assert (found[NEW]["status"], found[NEW]["trust"]) == ("live", "self")
    assert f"Replaced by an existing item, {found[NEW]['id']}" in told
    assert "Extractor: session" in memory.git("log", "-1", "--format=%B")
    logs = [text for path, text in memory.files().items() if path.startswith("Logs/")]
    assert any(f"No longer: {found[OLD]['id']} ({OLD})" in text.decode() for text in logs)
    [first, *_] = memory.json("search", "no longer ticket office opens")["results"]
    assert first["item"] == found[NEW]["id"], "the item that holds speaks for the line"
    page = memory.read("Projects/harbour.md")
    memory.curate("run")
    live(memory, 3)
    assert memory.read("Projects/harbour.md") == page
    assert not start(memory)
    assert "nothing is broken" in memory.curate("check")


def test_an_agent_says_that_both_hold(memory: Memory) -> None:
    a_pair(memory)
    told = memory.curate(*commands(memory)[1])
    assert "both hold" in told
    live(memory, 2)
    found = items(memory)
    assert (found[OLD]["status"], found[NEW]["status"]) == ("live", "live")
    assert not start(memory)
    assert memory.curate("settle") == "No pair waits.\n"
    assert memory.row(NEW)["related"] == found[OLD]["id"]


def test_what_the_owner_said_stays_until_the_owner_decides(memory: Memory) -> None:
    start(memory)
    live(memory, 0, "Fact: A crane stands there.")
    memory.curate("add", "Fact", OLD, "--document", "Harbour", "--now", "2026-03-10T09:00")
    live(memory, 3, f"Fact: {NEW}")
    new, ident = items(memory)[NEW]["id"], items(memory)[OLD]["id"]
    offered = [[ident[:5], "replaces", new[:5]], [new[:5], "both", ident[:5]]]
    assert [words[1:] for words in commands(memory)] == offered, "what an agent's word cannot do is not offered"
    assert f"ask the user whether {new[:5]} takes the place of {ident[:5]}" in start(memory)
    told = memory.curate("settle", new, "replaces", ident)
    assert f"{ident} stays live until a person decides" in told
    assert "`curate review`" in told
    assert not any("No longer" in text.decode() for path, text in memory.files().items() if path.startswith("Logs/"))
    assert not start(memory)
    live(memory, 4)
    memory.curate("run")
    assert items(memory)[OLD]["status"] == "live"
    [question] = memory.json("review")
    found = memory.json("search", OLD)["results"]
    assert [one["asked"] for one in found if one["item"] == ident] == [True]
    assert "a question about it waits in Review.md" in memory.curate("search", OLD)
    assert f"An agent's session says so (“No longer: {ident}" in question["why"]
    assert "trusted more than an agent's word" in question["why"]
    memory.curate("review", question["id"], "--accept")
    assert items(memory)[OLD]["status"] == "ended"


def test_at_a_terminal_the_owner_who_says_so_settles_a_pair_at_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.curate("add", "Fact", OLD, "--document", "General")
    memory.curate("add", "Fact", NEW, "--document", "General")
    ids = [items(memory)[text]["id"] for text in (NEW, OLD)]
    with monkeypatch.context() as terminal:
        terminal.setattr(outcome_commands, "can_ask", lambda: True)
        answers = iter("\nyy")  # an agent's shell may be a terminal, too
        terminal.setattr("click.termui.visible_prompt_func", lambda _: next(answers).strip())
        assert f"{ids[1]} stays live until a person decides" in memory.curate("settle", ids[0], "replaces", ids[1])
        assert items(memory)[OLD]["status"] == "live"
        assert "holds already" in memory.curate("settle", ids[0], "both", ids[1])
        memory.curate("settle", ids[0], "replaces", ids[1])
    assert items(memory)[OLD]["status"] == "superseded"
    assert not queue(memory)
    assert not [path for path in memory.files() if path.startswith("Logs/")]


def test_a_pair_that_no_agents_word_can_settle_goes_to_a_person(memory: Memory) -> None:
    a_pair(memory)
    memory.amend(OLD, trust="owner")
    memory.amend(NEW, trust="owner")
    assert not start(memory)
    live(memory, 2)
    assert len(queue(memory)) == 1


def test_what_somebody_told_the_agent_replaces_nothing_but_that_persons_words(memory: Memory) -> None:
    start(memory)
    live(memory, 0, f"Fact: {OLD}")
    live(memory, 1, f"Fact: Joana says: {NEW}")
    found = items(memory)
    memory.curate("settle", found[NEW]["id"], "replaces", found[OLD]["id"])
    assert items(memory)[OLD]["status"] == "live"
    assert "otherwise" in memory.read("Review.md")


def test_half_an_answer_changes_nothing_and_says_what_to_write(memory: Memory) -> None:
    a_pair(memory)
    before = memory.files()
    for words in (("k1",), ("k1", "k2"), ("k1", "ends", "k2")):
        memory.curate("settle", *words, exits=2)
    assert memory.files() == before


def test_two_names_of_one_item_and_items_that_are_over_settle_nothing(memory: Memory) -> None:
    a_pair(memory)
    [replaces, _] = commands(memory)
    memory.curate("settle", replaces[1], "both", replaces[1], exits=2)
    memory.curate("retract", replaces[3])
    memory.curate(*replaces, exits=2)
    assert items(memory)[NEW]["status"] == "live"


# ---------------------------------------- how many, and for how long


def test_at_most_three_wait_at_once_the_newest_first(memory: Memory) -> None:
    start(memory)
    live(memory, 0, *(f"Fact: {RED.format(one)}" for one in SUBJECTS))
    live(memory, 1, f"Decision: {GREEN.format(SUBJECTS[0])}")
    assert start(memory).count("curate settle") == 2
    live(memory, 2, *(f"Decision: {GREEN.format(one)}" for one in SUBJECTS[1:]))
    told = start(memory)
    assert told.count("\n- ") == 3
    assert SUBJECTS[0] not in told
    found = items(memory)
    new, old = (found[text.format(SUBJECTS[0])]["id"] for text in (GREEN, RED))
    ledger = {path: data for path, data in memory.files().items() if path.startswith("State/items/")}
    memory.amend(new, **{"may-conflict": old})
    assert start(memory) == told, "another machine's night may have left more"
    for path, data in ledger.items():
        memory.write(path, data.decode())
    for _ in range(3):
        memory.curate(*commands(memory)[0])
    assert not start(memory), "no others come on the same day"
    live(memory, 3)
    assert not start(memory)


# ---------------------------------------- which pairs


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Fact: The ticket office opens at eight.", "Fact: The tide gauge is read each hour."),
        (
            "Fact: The ticket office sells maps, stamps, postcards and cold drinks to hikers.",
            "Decision: The ticket office gets lamps, chairs, shelves and blue curtains from Bremen.",
        ),
        (
            "Decision: The ticket office moves to Kiel.",
            "Risk: Walkers who know the ticket office from maps and old boards stand before a locked door in winter.",
        ),
        ("Todo: Paint the ticket office green.", "Todo: Paint the ticket office door green."),
        ("Decision: Close issue #12 of the ticket office.", "Decision: Close issue #14 of the ticket office."),
        ("Decision: Close http://a.example/12 for the ferry.", "Decision: Close http://a.example/14 for the ferry."),
        ("Question: When does the ticket office open?", "Fact: The ticket office does open when it rains."),
        ("Decision: the map uses Leaflet #ferry", "Decision: the icons are from Tabler #ferry"),
        ("we decided to run the ferry on Fly.io", "we decided to drop Windows support"),
        ("Todo: [[2026-04-04 Talk with Bilge|Talk]] of dance.", "Todo: [[2026-04-04 Talk with Ana|Talk]] of light."),
    ],
    ids=[
        "of other things",
        "of one thing in other ways",
        "a short one and a long one",
        "two tasks",
        "other issues",
        "other addresses",
        "a question",
        "one tag",
        "one phrase",
        "links that lead elsewhere",
    ],
)
def test_what_is_not_worth_a_look_is_not_shown(memory: Memory, old: str, new: str) -> None:
    start(memory)
    live(memory, 0, old)
    live(memory, 1, new)
    assert len(items(memory)) == 2
    assert not start(memory)
    assert not queue(memory)


def test_the_first_lines_of_a_project_are_compared_though_they_are_older_than_its_page(memory: Memory) -> None:
    start(memory)
    first = "- Decision: We use Jest.\n- Rule: Deploy on Fridays only.\n- Fact: The depot closes at 18:00.\n"
    memory.write(f"Logs/{FIRST}.md", f"# {FIRST}\n\n## Paperless\n\n{first}")
    memory.night("2026-03-10T02:00")
    new = "Decision: We use Vitest.", "Rule: Deploy on Mondays only.", "Correction: The depot closes at 19:00."
    live(memory, 1, *new, page="Paperless")
    told, found = start(memory), items(memory)
    assert re.findall(r"(?:k\w+) (\w+: .*?) since", told) == [
        "Decision: We use Vitest. (paperless,",
        "Decision: We use Jest. (general,",
        "Rule: Deploy on Mondays only. (paperless,",
        "Rule: Deploy on Fridays only. (MEMORY,",
    ]
    assert found["The depot closes at 18:00."]["status"] == "superseded"
    memory.curate(*commands(memory)[0])
    assert items(memory)["We use Jest."]["status"] == "superseded"


def test_a_list_of_like_sentences_is_no_pair(memory: Memory) -> None:
    start(memory)
    row = "Gantry {} has {} wheels."
    lines = [f"Fact: {row.format(number, 40 + number * 7 % 11)}" for number in range(45)]
    live(memory, 0, *lines[:20])
    live(memory, 1, *lines[20:40])
    live(memory, 2, *lines[40:])
    assert len(items(memory)) == 45
    assert not start(memory)
    live(memory, 3, f"Fact: {row.replace('.', ' now.').format(7, 12)}")
    assert start(memory).count("curate settle") == 2, "what says something else of one of them is a pair"


@pytest.mark.parametrize(
    ("old", "new", "day"),
    [
        ("Decision: We use Jest.", "Decision: We use Vitest.", 0),
        ("Decision: We use Jest.", "Decision: We now use Vitest.", 1),
        ("Fact: The office opens at eight.", "Fact: The office opens at nine.", 1),
    ],
)
def test_what_differs_in_one_place_alone_is_a_pair_unless_there_is_a_third(
    memory: Memory, old: str, new: str, day: int
) -> None:
    start(memory)
    live(memory, 0, old)
    live(memory, day, *([old] * (not day)), new)
    rows = start(memory).split("\n")[1:3]
    assert new in rows[0], "the newer line comes second"
    assert old in rows[1]
    if "Jest" in old:
        live(memory, 2, "Decision: We use Mocha.")
        assert "We use Mocha." in items(memory)
        assert "Mocha" not in start(memory)


def test_two_lines_of_a_day_that_name_each_others_values_are_one_pair(memory: Memory) -> None:
    first = "Todo: Bump context to 1M once Tier 4 confirmed"
    live(memory, 0, first, "Todo: Bump contextWindow to 1M for both Opus 4.6 and Sonnet 4.6 in config")
    assert len(queue(memory)) == 1


@pytest.mark.parametrize(
    ("line", "agent"),
    [(f"> Hello,\n  > Fact: {NEW}", True), (f"WebFetch: Fact: {NEW}", False), (f"WebFetch: Rule: {NEW}", True)],
)
def test_nothing_from_outside_is_in_a_pair(memory: Memory, line: str, *, agent: bool) -> None:
    if agent:
        start(memory)
    live(memory, 0, f"Fact: {OLD}")
    live(memory, 1, line)
    live(memory, 2, f"Fact: In June {OLD}")
    [told] = [start(memory)] if agent else [one["why"] for one in queue(memory)]
    assert "In June" in told
    assert NEW not in told


def test_what_a_second_reader_has_judged_is_not_shown_again(memory: Memory) -> None:
    start(memory)
    for at, text in enumerate((OLD, NEW)):
        log(memory, f"Fact: {text}", day=f"2026-03-1{at}")
        report = reviewing.curate(memory, Reader(lambda day: reply(*labelled(day))), f"2026-03-1{at + 1}T02:00+00:00")
        assert report.added == 1
    assert not start(memory)
    assert not queue(memory)


# ---------------------------------------- where no agent runs


def test_without_an_agent_a_person_is_asked_and_the_session_start_is_silent(memory: Memory) -> None:
    live(memory, 0, f"Fact: {OLD}")
    live(memory, 1, f"Fact: {NEW}")
    [question] = queue(memory)
    assert OLD in question["why"]
    assert NEW in question["why"]
    assert [one["choice"] for one in question["choices"]] == ["keep new", "keep old", "neither", "keep both"]
    assert memory.curate("context").count("(asked about in Review.md)") == 2
    text = memory.read("Review.md")
    live(memory, 2)
    assert memory.read("Review.md") == text
    assert not start(memory)


@pytest.mark.parametrize("wrong", [OLD, NEW])
@pytest.mark.parametrize("agent", [True, False])
def test_what_corrects_an_item_of_a_pair_takes_its_place_there(memory: Memory, wrong: str, *, agent: bool) -> None:
    if agent:
        start(memory)
    live(memory, 0, f"Fact: {OLD}")
    live(memory, 1, f"Fact: {NEW}")
    later = "From May on, the ticket office opens at nine."
    memory.curate("correct", items(memory)[wrong]["id"], later, "--now", "2026-03-11T09:00")
    live(memory, 2)
    if agent:
        memory.curate(*commands(memory)[0])
    else:
        [question] = queue(memory)
        assert later in question["why"]
        memory.curate("review", question["id"], "--choose", "keep new")
    found = items(memory)
    assert sorted(found[text]["status"] for text in (OLD, NEW, later)) == ["live", "superseded", "superseded"]
