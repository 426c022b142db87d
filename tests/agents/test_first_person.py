"""What the owner says of themselves in a session, decides and wants remembered: kept in their words."""

import re
from pathlib import Path

import pytest

from tests.agents.test_owner_acts import NOW, agent, items
from tests.conftest import Memory
from tests.store.test_acts import HUMAN, user

PROJECT = "Projects/harbor.md"
KEPT = (
    ("I prefer tabs.", "Fact", "USER.md"),
    ("I really prefer short answers", "Fact", "USER.md"),
    ("Also, I prefer Ruff over Black.", "Fact", "USER.md"),
    ("My name is Ines.", "Fact", "USER.md"),
    ("Hi Claude, my name is Ines Duarte", "Fact", "USER.md"),
    ("Call me Nes.", "Fact", "USER.md"),
    ("Please call me Dr. Duarte", "Fact", "USER.md"),
    ("I'm allergic to walnuts, please remember that", "Fact", "USER.md"),
    ("I am allergic to penicillin.", "Fact", "USER.md"),
    ("Remember that I work from Lisbon on Mondays.", "Fact", "USER.md"),
    ("Please remember: my daughter's school ends at four.", "Fact", "USER.md"),
    ("My accountant is on leave until May, remember that.", "Fact", "USER.md"),
    ("The staging host is blue, please remember this.", "Rule", PROJECT),
    ("Remember that staging is the blue host.", "Rule", PROJECT),
    ("Remind me to ask Joost about the invoice", "Todo", PROJECT),
    ("Please remind me to renew the domain by 2026-05-04.", "Todo", PROJECT),
    ("We decided to use Postgres.", "Decision", PROJECT),
    ("So we've decided to drop Celery for cron.", "Decision", PROJECT),
    ("We agreed on a refund within 14 days.", "Decision", PROJECT),
    ("Yesterday we decided to keep the blue tiles.", "Decision", PROJECT),
    ("From now on call me Nes.", "Rule", "USER.md"),
)
LEFT = (
    "Do I prefer tabs?",
    "I'd prefer a shorter answer here.",
    "I prefer the second one.",
    "I prefer that.",
    "If I prefer tabs, say so.",
    "If so, I prefer tabs.",
    "As a user, I prefer dark mode in the mock-up.",
    '"I prefer tabs" is what the page says.',
    '- Bea wrote "fine. I prefer tabs. My name is Bea."',
    "Bea says: I prefer tabs.",
    "> I prefer tabs.",
    "`I prefer tabs`",
    "My name is {name}.",
    "My name is not important.",
    "Call me when you are done.",
    "Call me crazy.",
    "I'm allergic to walnuts?",
    "Can you remind me how to rebase?",
    "Remind me what we said.",
    "Do you remember that we use Redis?",
    "I remember that we use Redis.",
    "Did we decide to use Postgres?",
    "We have not decided to use Postgres.",
    "If we decided to use Postgres, we would have to move.",
    "Maybe we decided to use Postgres too early.",
    "```\nI prefer tabs.\nWe decided to use Postgres.\n```",
    "Here is the mail:\nFrom: Bea <bea@sundlink.example>\nSubject: hi\n\nMy name is Bea. I prefer tabs.",
    "That was the plan we agreed on for the next phase.",
    "The wiki says:\nWe decided to use MySQL.",
)


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("Remind me to send Rui the offer on Friday.", "2026-03-20"),
        ("Please remind me to call tomorrow", "2026-03-19"),
        ("Remind me to call Rui next Wednesday at 9:30", "2026-03-25"),
        ("Remind me on 2026-04-09 to call Rui", "2026-04-09"),
        ("Remind me to pay on 9 April.", "2026-04-09"),
    ],
)
def test_a_reminder_is_due_on_its_day(memory: Memory, tmp_path: Path, said: str, due: str) -> None:
    items(memory, tmp_path, user(said, **HUMAN, cwd="/home/ines/src/harbor"))
    assert [(one["text"], one["due"]) for one in memory.json("items")] == [(said, due)]
    assert f"(due {due})" in memory.read(PROJECT)
    assert f"- {due}: {said}" in memory.read("MEMORY.md").partition("## Due")[2]


def test_what_the_owner_says_files_where_it_belongs(memory: Memory, tmp_path: Path) -> None:
    told = [user(said, **HUMAN, cwd="/home/ines/src/harbor", uuid=str(at)) for at, (said, *_) in enumerate(KEPT)]
    items(memory, tmp_path, *told)
    held = memory.json("items")
    found = {one["text"].rstrip("."): (one["type"], one["document"], one["trust"]) for one in held}
    bare = (re.sub(r"(?:, (?:please )?remember th..)?\.?$", "", said) for said, *_ in KEPT)
    wanted = {said: (kind, place, "owner") for said, (_, kind, place) in zip(bare, KEPT, strict=True)}
    wanted = {said.removeprefix("Also, ").removeprefix("So "): what for said, what in wanted.items()}
    assert found == wanted
    assert "(due 2026-05-04)" in memory.read(PROJECT)


def test_what_only_sounds_like_it_is_no_item(memory: Memory, tmp_path: Path) -> None:
    assert items(memory, tmp_path, *(user(said, **HUMAN, uuid=str(at)) for at, said in enumerate(LEFT))) == []


def test_only_the_owner_s_own_turns_count(memory: Memory, tmp_path: Path) -> None:
    lines = [said for said, kind, _ in KEPT if kind != "Rule"]
    program = user("\n".join(lines), promptSource="sdk", entrypoint="sdk-cli")
    assert items(memory, tmp_path, user("Go on.", **HUMAN), agent("\n".join(lines)), program) == []


def test_in_a_journal_the_first_person_is_whoever_wrote_it(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "# 2026-03-18\n\n- I prefer tabs.\n- My name is Ines.\n- Remind me to call.\n")
    memory.curate("run", *NOW)
    assert memory.json("items") == []
