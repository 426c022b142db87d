"""Ask ten questions with which a session begins, on mornings of a year, and see whether the context alone answers them.

usage: python -m benchmarks.first_questions [DAYS] [MORNINGS]

The logs are made up from a seed: six projects that come and go, labelled lines, a day's noise. The rules read them, a
week at a time and the eve of each morning by itself. Printed are the answers by question and by morning, and the
largest context and MEMORY.md.
"""

from __future__ import annotations

import random
import sys
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from pipelines.extract.rules import RulesExtractor
from pipelines.night.report import Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.queries.startup.context import ContextRequest, assemble
from pipelines.queries.startup.page import as_text
from pipelines.queries.startup.read import tokens
from pipelines.settings import load_settings
from pipelines.store.git import Git
from pipelines.store.template import lay_down
from pipelines.templating import resource

FIRST = date(2025, 1, 1)
DECIDES, BEGINS, FEARS = 0.5, 0.4, 0.15
"""How often a project decides something on a day, begins a Todo, or meets a Risk."""
MOST_TODOS, MOST_RISKS = 3, 2
RECENT_DAYS = 14
RULE_DAYS = 20
PROJECTS = ("Harborlight", "Lanternbook", "Millrace", "Osprey", "Quarry", "Tollgate")
PEOPLE = ("Ida Berg", "Jonas Falk", "Karim Aziz", "Lena Ortiz", "Mats Holm", "Nora Quist")
THINGS = ("index", "importer", "ledger", "gateway", "report", "queue", "mailer", "archive", "scheduler", "dashboard")
VERBS = ("moves to", "is rewritten in", "is split from", "is read by", "waits for", "replaces", "is shared with")
SCARCE = ("memory", "disk space", "licences", "threads", "time", "hands")
MOMENTS = ("the audit", "the move", "the summer sale", "the next release", "the yearly count", "the visit")
NEVER = ("push on a Friday", "mail a client before ten", "delete a backup", "rename a bucket", "skip the staging tests")
USER = (
    "Fact: My name is Mara Voss.", "Fact: My role is surveyor and programmer.", "Fact: I work from 09:00 to 16:00.",
    "Fact: I prefer short answers with a table.",
)  # fmt: skip
QUESTIONS = (
    "who is the user", "how does she work", "what are we working on", "what is due", "what must I never do",
    "whom do I ask about this project", "what was decided last", "what is next", "what could go wrong",
    "what happened yesterday",
)  # fmt: skip


@dataclass
class Truth:
    """What is so on a morning.

    Args:
        worked: project → the last day on which it was worked on.
        decided: project → its last decision.
        todos: text → project and due day, of what is open.
        risks: project → its open risks.
        rules: what must never be done.
        yesterday: what was said on the last day.
    """

    worked: dict[str, date] = field(default_factory=dict)
    decided: dict[str, str] = field(default_factory=dict)
    todos: dict[str, tuple[str, str]] = field(default_factory=dict)
    risks: dict[str, list[str]] = field(default_factory=dict)
    rules: list[str] = field(default_factory=list)
    yesterday: list[str] = field(default_factory=list)


def write_day(day: date, chance: random.Random, truth: Truth) -> str:
    """Return the log of a day, and let the truth follow it."""
    number = (day - FIRST).days
    lines, truth.yesterday = [f"# {day}", ""], []
    if number == 0:
        lines += [f"- {one}" for one in USER]
    if number % RULE_DAYS == 1 and len(truth.rules) < len(NEVER):
        truth.rules.append(NEVER[len(truth.rules)])
        lines.append(f"- Rule: Never {truth.rules[-1]}.")
    active = number // 61 % len(PROJECTS)
    for project, person in {PROJECTS[one % 6]: PEOPLE[one % 6] for one in (active, active + 1)}.items():
        lines += ["", f"## {project}", "", f"project: {project}", ""]
        if project not in truth.worked:
            lines.append(
                f"- Contact: {person}, in charge of {project}, {person.split()[0].lower()}@{project.lower()}.example"
            )
            lines.append(f"- Goal: {project} is in use by the end of the quarter.")
        truth.worked[project] = day
        said = worded(project, day, chance, truth)
        truth.yesterday += said
        lines += [f"- {one}" for one in said]
        lines += [
            f"- {chance.randrange(8, 18):02}:{chance.randrange(60):02} looked at the {chance.choice(THINGS)}"
            for _ in range(9)
        ]
    return "\n".join(lines) + "\n"


def worded(project: str, day: date, chance: random.Random, truth: Truth) -> list[str]:
    """Return what is decided, learnt, begun and finished in a project on a day."""
    number = (day - FIRST).days
    one, other = chance.sample(THINGS, 2)
    said = [f"Fact: The {one} of {project} holds {chance.randrange(10, 999)} entries since {day}."]
    if chance.random() < DECIDES:
        truth.decided[project] = f"The {one} {chance.choice(VERBS)} the {other} of version {number}."
        said.append(f"Decision: {truth.decided[project]}")
    if chance.random() < BEGINS:
        text, due = f"Check the {one} against plan {number}", f"{day + timedelta(days=chance.randrange(3, 30))}"
        truth.todos[text] = (project, due)
        said.append(f"Todo: {text} (due {due})")
    mine = [text for text, (home, _) in truth.todos.items() if home == project]
    if len(mine) > MOST_TODOS:
        del truth.todos[mine[0]]
        said.append(f"Done: {mine[0]}")
    risks = truth.risks.setdefault(project, [])
    if chance.random() < FEARS:
        risks.append(f"The {other} may run out of {chance.choice(SCARCE)} before {chance.choice(MOMENTS)}.")
        said.append(f"Risk: {risks[-1]}")
    if len(risks) > MOST_RISKS:
        said.append(f"Resolved: {risks.pop(0)}")
    return said


def answered(context: str, morning: date, project: str, truth: Truth) -> list[bool]:
    """Return for each question whether the context answers it, by the words that the logs used."""
    recent = [name for name, day in truth.worked.items() if (morning - day).days <= RECENT_DAYS]
    dues = sorted((due, text) for text, (_, due) in truth.todos.items())
    mine = sorted((due, text) for text, (home, due) in truth.todos.items() if home == project)
    told = [one.partition(": ")[2].partition(" (due")[0].rstrip(".") for one in truth.yesterday]
    return [
        "Mara Voss" in context and "surveyor" in context,
        "09:00 to 16:00" in context and "short answers" in context,
        all(name in context for name in recent),
        all(text in context and due in context for due, text in dues[:1]),
        all(rule in context for rule in truth.rules),
        PEOPLE[PROJECTS.index(project)] in context,
        truth.decided.get(project, "") in context,
        all(text in context for _, text in mine[:1]),
        all(risk.rstrip(".") in context for risk in truth.risks.get(project, [])[-1:]),
        sum(one in context for one in told) * 2 >= len(told),
    ]


def live(root: Path, days: int, mornings: int) -> tuple[list[list[bool]], int, int]:
    """Live through days, and return each morning's answers, the most tokens of a context, and of bytes of MEMORY.md."""
    lay_down(root, resource("memory_template"), "UTC")
    Git(root).init()
    chance, truth, settings = random.Random(23), Truth(), load_settings(root)
    asked = {FIRST + timedelta(days=(number + 1) * days // mornings) for number in range(mornings)}
    found, most, briefing = [], 0, 0
    for number in range(days + 1):
        day = FIRST + timedelta(days=number)
        if day in asked or number % 7 == 0:
            when = datetime.combine(day, time(2), UTC)
            curate_night(Night(root, settings, RulesExtractor(), when), Watch())
        if day in asked:
            project = max(truth.worked, key=lambda name: truth.worked[name])
            told = as_text(assemble(ContextRequest.at(root, when, project=project)))
            found.append(answered(told, day, project, truth))
            most = max(most, tokens(told))
            briefing = max(briefing, (root / "MEMORY.md").stat().st_size)
        log = write_day(day, chance, truth)
        (root / "Logs" / f"{day}.md").write_text(log, encoding="utf-8")
    return found, most, briefing


def main() -> None:
    """Print the table."""
    days, mornings = (int(one) for one in [*sys.argv[1:3], *("365", "10")[len(sys.argv[1:3]) :]])
    with tempfile.TemporaryDirectory() as folder:
        found, most, briefing = live(Path(folder), days, mornings)
    for number, question in enumerate(QUESTIONS):
        print(f"{question:36} {sum(row[number] for row in found)} of {len(found)}")
    print(f"largest context {most:,} tokens, MEMORY.md {briefing:,} bytes")


if __name__ == "__main__":
    main()
