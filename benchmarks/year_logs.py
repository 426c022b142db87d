"""A made-up year of logs whose truth is known: what holds on each day, what held once, and what others claimed falsely.

Eight projects come and go. Their values change, some decisions are wrong and taken back a few days later, Todos move,
end or are forgotten, two projects get new names, three weeks in July have no log, and now and then somebody claims
something false: as hearsay, or in a mail that was pasted in. Each value is a word that occurs nowhere else, so that a
text can be judged without a model. `CarefulReader` is the model: it reads each line rightly and knows no more than it
is shown.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, Final

from pipelines.extract.llm.call import ModelAnswer
from pipelines.text import fold
from pipelines.usage import Usage

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pipelines.extract.llm.call import Call

    Json = dict[str, Any]

FIRST: Final = date(2025, 1, 6)
HOLIDAY: Final = range(182, 203)
"""The days of the year without a log."""
_PHASE = 40
"""Days after which another project takes the place of the oldest of three."""
_NEW, _CHANGE, _TODO, _FALSE, _WRONG = 0.35, 0.3, 0.3, 0.1, 0.05
"""How often a project has a new value, a changed one, a new Todo, a false claim and a wrong turn on a day."""
_HEARSAY, _ENDS, _PUT_OFF = 0.5, 0.15, 0.2
"""How many false claims are hearsay, how often a Todo ends on a day, and how many of these are put off instead."""
_WEEKDAYS, _MOST_TODOS, _LATELY = 5, 2, 12
_PROJECTS = ("Harborlight", "Lanternbook", "Millrace", "Osprey", "Quarry", "Tollgate", "Weathervane", "Yardarm")
_RENAMED = {110: ("Millrace", "Sluicegate"), 250: ("Weathervane", "Windrose")}
_THINGS = (
    "importer", "ledger", "gateway", "mailer", "archive", "scheduler", "dashboard", "queue", "indexer", "exporter",
    "login page", "price list", "backup", "test bench", "newsletter",
)  # fmt: skip
_ASPECTS = (
    ("listens on port {}", "Which port does the {thing} of {project} listen on?", "port"),
    ("is approved by {}", "Who approves the {thing} of {project}?", "person"),
    ("is stored in {}", "Where is the {thing} of {project} stored?", "place"),
    ("costs {} euros a month", "What does the {thing} of {project} cost a month?", "port"),
    ("is built with {}", "What is the {thing} of {project} built with?", "tool"),
)
_PEOPLE = ("Ida", "Jonas", "Karim", "Lena", "Mats", "Nora", "Omar", "Pia", "Runa", "Sven")
_SYLLABLES = ("bel", "dor", "fen", "gar", "hol", "kir", "lun", "mor", "nes", "pal", "rin", "sol", "tor", "vik", "zan")
_USER = ("My name is Mara Voss.", "I work from 09:00 to 16:00.", "Answer me in short sentences.")
_TOLD = ("{}", "{who} says: {}")
_NOISE = ("looked at the logs of the {}", "tests of the {} pass", "tidied the folder of the {}", "long call on the {}")


@dataclass
class Matter:
    """One thing that is asked for: a value of a project, or a Todo.

    Args:
        project: the page's title.
        question: what a person asks.
        sentence: with `{}` where the value stands.
        values: each value with its first day, oldest first.
        false: what others claimed, with the claimant's name.
        due: a Todo's day.
        over: the day on which a Todo was done.
    """

    project: str
    question: str
    sentence: str
    values: list[tuple[date, str]] = field(default_factory=list)
    false: list[tuple[str, str]] = field(default_factory=list)
    due: date | None = None
    over: date | None = None

    @property
    def value(self) -> str:
        """The value that holds."""
        return self.values[-1][1]

    @property
    def text(self) -> str:
        """The sentence that holds."""
        return self.sentence.format(self.value)


@dataclass(frozen=True)
class Said:
    """A line of a log, and what a careful reader makes of it.

    Args:
        line: as it stands in the log.
        item: the item that it gives, without its lines.
        ends: the sentences that no longer hold because of it.
        operation: what it does to them, if nothing takes their place.
    """

    line: str
    item: Mapping[str, Any] | None = None
    ends: Sequence[str] = ()
    operation: str = ""


@dataclass
class Year:
    """The world: `day` lets it live through a day and returns the log.

    Args:
        chance: from the seed.
        matters: all that was ever said, oldest first.
        said: all lines that give something, by their text.
    """

    chance: random.Random
    matters: list[Matter] = field(default_factory=list)
    said: dict[str, Said] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)
    _wrong: list[tuple[date, Matter]] = field(default_factory=list)
    _names: dict[str, str] = field(default_factory=dict)

    def day(self, number: int) -> str:
        """Return the log of a day of the year, counted from 0; empty at weekends and in the holiday."""
        day = FIRST + timedelta(days=number)
        if day.weekday() >= _WEEKDAYS or number in HOLIDAY:
            return ""
        lines = [f"# {day}", ""]
        if number == 0:
            lines += self._told(Said(text, {"type": "Fact", "text": text, "document": "USER"}) for text in _USER)
        for project in self._at_work(number):
            said = [*self._project_day(project, day, number)]
            noise = [f"- {self.chance.choice(_NOISE).format(self.chance.choice(_THINGS))}" for _ in range(4)]
            own, mails = ([one for one in said if one.line.startswith(">") is mailed] for mailed in (False, True))
            lines += ["", f"## {self._names.get(project, project)}", "", *self._told(own), *noise, *self._told(mails)]
        return "\n".join(lines) + "\n"

    def _told(self, said: Iterator[Said] | list[Said]) -> Iterator[str]:
        for one in said:
            self.said[fold(one.line.removeprefix("> "))] = one
            yield f"- {one.line}" if not one.line.startswith("> ") else f"\nMail from a partner:\n\n{one.line}\n"

    def _at_work(self, number: int) -> list[str]:
        first = number // _PHASE
        return [_PROJECTS[(first + one) % len(_PROJECTS)] for one in range(3)]

    def _project_day(self, project: str, day: date, number: int) -> Iterator[Said]:
        mine = [one for one in self.matters if one.project == project]
        values = [one for one in mine if not one.due]
        for renamed, (old, new) in _RENAMED.items():
            if number >= renamed and old == project and project not in self._names:
                self._names[project] = new
                name = Matter(project, f"What is {project} called now?", f"{project} is called {{}}.", [(day, new)])
                yield self._new(name, f"{name.text} The repository moved, too.")
        yield from self._taken_back(project, day)
        if self.chance.random() < _NEW and (another := self._another(project, day, values)):
            yield self._new(another, another.text)
        if values and self.chance.random() < _CHANGE:
            yield self._changed(self.chance.choice(values[-_LATELY:]), day)
        if values and self.chance.random() < _WRONG:
            matter = self.chance.choice(values[-_LATELY:])
            if matter not in [one for _, one in self._wrong] and "called" not in matter.sentence:
                self._wrong.append((day + timedelta(days=self.chance.randrange(2, 6)), matter))
                yield self._changed(matter, day)
        if values and self.chance.random() < _FALSE:
            yield self._false(self.chance.choice(values[-_LATELY:]))
        yield from self._todos(project, day, [one for one in mine if one.due and not one.over])

    def _another(self, project: str, day: date, values: Sequence[Matter]) -> Matter | None:
        thing, (words, question, kind) = self.chance.choice(_THINGS), self.chance.choice(_ASPECTS)
        asked = question.format(thing=thing, project=project)
        if any(one.question == asked for one in values):
            return None
        return Matter(project, asked, f"The {thing} of {project} {words}.", [(day, self._word(kind))])

    def _new(self, matter: Matter, line: str) -> Said:
        self.matters.append(matter)
        kind = self.chance.choice(("Fact", "Decision"))
        return Said(line, {"type": kind, "text": matter.text, "project": matter.project})

    def _changed(self, matter: Matter, day: date) -> Said:
        if "called" in matter.sentence:
            return Said("nothing new about the name")
        old, kind = matter.text, "port" if matter.value.isdigit() else ""
        kind = kind or next(one[2] for one in _ASPECTS if one[0].partition(" {")[0] in matter.sentence)
        matter.values.append((day, self._word(kind)))
        line = self.chance.choice(("From today: {new}", "{new} That is new.", "We changed our mind. {new}"))
        return Said(
            line.format(new=matter.text), {"type": "Decision", "text": matter.text, "project": matter.project}, [old]
        )

    def _taken_back(self, project: str, day: date) -> Iterator[Said]:
        for when, matter in [one for one in self._wrong if one[0] <= day and one[1].project == project]:
            self._wrong.remove((when, matter))
            if len(matter.values) > 1:
                wrong, before = matter.text, matter.values[-2][1]
                matter.values.append((day, before))
                yield Said(
                    f"That was a wrong turn, we go back. {matter.text}",
                    {"type": "Decision", "text": matter.text, "project": project},
                    [wrong],
                )

    def _false(self, matter: Matter) -> Said:
        kind = "port" if matter.value.isdigit() else "tool"
        value, who = self._word(kind), self.chance.choice(_PEOPLE)
        matter.false.append((value, who))
        told = matter.sentence.format(value)
        item = {"type": "Fact", "text": told, "project": matter.project}
        if self.chance.random() < _HEARSAY:
            return Said(f"{who} says: {told}", item | {"text": f"{who} says: {told}"})
        return Said(f"> {told}", item, [matter.text])

    def _todos(self, project: str, day: date, mine: list[Matter]) -> Iterator[Said]:
        if self.chance.random() < _TODO:
            due, code = day + timedelta(days=self.chance.randrange(3, 25)), self._word("plan")
            thing, who = self.chance.choice(_THINGS), self.chance.choice(_PEOPLE)
            asked = f"Is the {thing} of {project} still to be checked against plan {code}?"
            told = f"{who} checks the {thing} of {project} against plan {{}}."
            matter = Matter(project, asked, told, [(day, code)], due=due)
            self.matters.append(matter)
            item = {"type": "Todo", "text": matter.text, "project": project, "due": f"{due}"}
            yield Said(f"{matter.text.rstrip('.')} by {due}.", item)
        if len(mine) > _MOST_TODOS or (mine and self.chance.random() < _ENDS):
            one = self.chance.choice(mine)
            if self.chance.random() < _PUT_OFF:
                one.due = max(day, one.due or day) + timedelta(days=7)
                item = {"type": "Todo", "text": one.text, "project": project, "due": f"{one.due}"}
                yield Said(f"Plan {one.value} is put off to {one.due}.", item, [one.text])
            else:
                one.over = day
                yield Said(f"The check against plan {one.value} is through.", None, [one.text], "close")

    def _word(self, kind: str) -> str:
        """Return a value that was never used."""
        while True:
            made = "".join(self.chance.sample(_SYLLABLES, 3)).title()
            number = f"{self.chance.randrange(1001, 9999)}"
            word = {"port": number, "person": f"{self.chance.choice(_PEOPLE)} {made}", "place": f"vault {made}",
                    "tool": made, "plan": f"P-{number}"}[kind]  # fmt: skip
            if word not in self._taken:
                self._taken.add(word)
                return word


@dataclass
class CarefulReader:
    """A model that reads each line rightly, ends what it is shown, and supports what it reads.

    Args:
        year: the world, with what was said so far.
        missed: sentences that a line ended and that were not shown.
    """

    year: Year
    missed: list[str] = field(default_factory=list)
    name: str = "careful:1"
    input_tokens: int = 24_000
    output_tokens: int = 4000
    source: str = ""
    retries: int = 0

    def ask(self, call: Call) -> ModelAnswer:
        """Answer one request."""
        tasks: dict[str, Callable[[Mapping[str, Any]], Json]] = {
            "extract": self._extract,
            "verify": self._verify,
            "brief": self._brief,
        }
        return ModelAnswer(json.dumps(tasks[call.task](call.input)), Usage(100, 10))

    def _extract(self, asked: Mapping[str, Any]) -> Json:
        shown = {fold(one["text"]): one["id"] for one in (*asked["open"], *asked["near"])}
        pages = {one["title"]: one["id"] for one in asked["documents"]}
        reply: Json = {"items": [], "operations": [], "seen": [], "open_lists": [], "episode": []}
        for entry in asked["entries"]:
            said = self.year.said.get(fold(entry["text"].removeprefix("- ").removeprefix("> ")))
            if not said:
                continue
            lines = [[entry["line"], entry["end_line"]]]
            ids = [shown[fold(one)] for one in said.ends if fold(one) in shown]
            self.missed += [one for one in said.ends if fold(one) not in shown]
            if said.operation and ids:
                reply["operations"].append(
                    {"operation": said.operation, "ids": ids, "how": "done", "lines": lines, "reason": "said so"}
                )
            if said.item:
                item = dict(said.item)
                title = item.pop("project", "")
                home = item.pop("document", "") or pages.get(title, "")
                item |= {"document": home, "new_page": "" if home else f"project: {title}"}
                reply["items"].append({"lines": lines, "replaces": ids, "confidence": "high", **item})
                reply["episode"] = [*reply["episode"], {"text": item["text"], "lines": lines}][:3]
        return reply

    def _verify(self, asked: Mapping[str, Any]) -> Json:
        return {
            "verdicts": [
                {
                    "claim": one["claim"],
                    "reason": "",
                    "verdict": self._pair(one) if one["kind"] == "pair" else "supported",
                }
                for one in asked["claims"]
            ]
        }

    def _pair(self, claim: Mapping[str, Any]) -> str:
        new, old = (one.partition(": ")[2] for one in (claim["text"], claim["quotes"][0]))
        if fold(new) == fold(old):
            return "same"
        for one in self.year.matters:
            past = {one.sentence.format(value) for _, value in one.values[:-1]}
            claimed = {told.format(one.sentence.format(value), who=who) for value, who in one.false for told in _TOLD}
            if new == one.text and old in past:
                return "replaces"
            if {new, old} & claimed and {new, old} & {one.text, *past}:
                return "conflict"
        return "both"

    def _brief(self, asked: Mapping[str, Any]) -> Json:
        def sentences(items: Sequence[Json], most: int) -> list[Json]:
            held = [one for one in items if one.get("status", "live") in {"live", "open"}]
            return [{"text": one["text"], "ids": [one["id"]]} for one in held[:most]]

        states = [{"id": page["id"], "sentences": sentences(page["items"], 3)} for page in asked.get("pages", ())]
        return {"now": sentences(asked["now"]["items"], 12), "states": states}
