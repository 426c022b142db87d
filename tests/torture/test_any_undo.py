"""Any nights, any edits by hand, one undo: what was changed since stays, all else is as before, nothing vanishes."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.night.report import RunReport, Watch
from pipelines.night.run import Night
from pipelines.night.run_night import curate_night
from pipelines.night.undo import carry_out_undo
from pipelines.settings import Settings, SizeCaps
from pipelines.store.edits import commit_edits
from pipelines.store.git import Author, Git
from pipelines.store.layout import TOMBSTONES
from pipelines.store.snapshot import read_documents
from pipelines.store.state import read_tombstones
from pipelines.store.template import lay_down

Log = list[tuple[str, str, bool]]
Edits = list[tuple[str, int]]
State = dict[str, tuple[str, str, tuple[str, ...]]]

_WORDS = (
    "Use SQLite",
    "Never push on Fridays",
    "The port is 8080",
    "Ask legal about it",
    "The disk may fill",
    "Pay Ada",
)
_KINDS = ("Decision", "Rule", "Fact", "Todo", "Risk")
_LINES = st.tuples(st.sampled_from(_KINDS), st.sampled_from(_WORDS), st.booleans())
_EDIT = st.tuples(st.sampled_from(["reword", "delete", "move", "note", "prose", "add", "rename"]), st.integers(0, 9))


class Nights:
    """A memory of its own, with nights, edits by hand and undos one after another."""

    def __init__(self, root: Path) -> None:
        self.root, self.git = root, Git(root)
        self.now = datetime(2026, 3, 1, 2, tzinfo=UTC)
        self.settings = Settings(caps=SizeCaps(briefing=100_000, user=100_000, document=1_000_000))
        lay_down(root, "UTC")
        self.git.init()
        commit_edits(self.git, "first\n", Author("Night", "night@example.org", self.now))
        self.ever: set[str] = set()

    def night(self, log: Log) -> RunReport:
        self.now += timedelta(days=1)
        rows = [f"{'project: Alpha' if named else '## Other'}\n\n- {kind}: {text}\n\n" for kind, text, named in log]
        (self.root / f"Logs/{self.now.date() - timedelta(days=1)}.md").write_text("".join(rows))
        report = curate_night(Night(self.root, self.settings, RulesExtractor(), self.now), Watch())
        self.account()
        return report

    def undo(self, run: str = "") -> str:
        self.now += timedelta(hours=1)
        before = self.state()
        plan, commit = carry_out_undo((self.root, self.settings, self.now), run)
        if commit:
            self.account()  # else what was deleted by hand is seen by the next night
        # Where its items are gone or reworded by hand, what the night told of the day goes with the undo, the edits are
        # recorded, and no item changes.
        assert commit if (plan.change.added or plan.change.changed) else before.items() <= self.state().items()
        return commit

    def state(self) -> State:
        """Return id → path, line and notes of each item; no id stands twice."""
        found = [
            (p.item.id, (path, one.lines[p.line], tuple(one.lines[p.line + 1 : p.end])))
            for path, one in read_documents(self.root).items()
            for p in one.items
            if p.item.id
        ]
        assert len(found) == len(dict(found))
        return dict(found)

    def account(self) -> None:
        """Every item that ever stood, stands or has a tombstone."""
        self.ever |= self.state().keys()
        file = self.root / TOMBSTONES
        buried = {stone.id for stone in read_tombstones(file.read_bytes() if file.exists() else b"")}
        assert self.ever <= self.state().keys() | buried

    def edit(self, what: str, number: int) -> None:
        """Edit the memory as a person would."""
        there = self.state()
        target = self.root / "Areas/mine.md"
        if what == "add":
            target.write_text((target.read_text() if target.exists() else "# Mine\n\n") + f"- Fact: mine {number}\n")
        elif what == "rename":
            if (self.root / "Projects/alpha.md").exists():
                (self.root / "Projects/alpha.md").rename(self.root / f"Projects/omega-{number}.md")
        elif what == "prose":
            with (self.root / "USER.md").open("a") as file:
                file.write(f"\nProse {number}.\n")
        elif there:
            path, line, _ = there[sorted(there)[number % len(there)]]
            self._edit_line(what, self.root / path, line, number)

    def _edit_line(self, what: str, file: Path, line: str, number: int) -> None:
        new = {
            "reword": line.replace(": ", f": reworded {number} ", 1),
            "note": f"{line}  a note {number}\n",
            "delete": "",
            "move": "",
        }[what]
        file.write_text(file.read_text().replace(line, new))
        if what == "move":
            target = self.root / "Areas/moved.md"
            target.write_text((target.read_text() if target.exists() else "# Moved\n\n") + line)


def one_story(logs: list[Log], first: Edits, since: Edits) -> None:
    """Live some nights, take the last one back after some edits by hand, and take that back, too."""
    with tempfile.TemporaryDirectory() as folder:
        story = Nights(Path(folder))
        for log in logs[:-1]:
            story.night(log)
        for what, number in first:
            story.edit(what, number)
        story.night([])  # what people edited is understood before the night that is undone
        before = story.state()
        run = story.night(logs[-1])
        left = story.state()
        for what, number in since:
            story.edit(what, number)
        now = story.state()
        if not run.commit:
            return
        undone = story.undo(run.run)
        after = story.state()
        compare(before, left, now, after)
        if undone:
            story.undo(undone)
            again = story.state()
            assert now.keys() <= again.keys(), "undoing the undo did not bring everything back"
            assert {i: again[i] for i in now if now[i] == left.get(i)} == {
                i: now[i] for i in now if now[i] == left.get(i)
            }


def compare(before: State, left: State, now: State, after: State) -> None:
    """Compare what stood before the run, after it, before the undo and after it."""
    for ident in before.keys() | left.keys() | now.keys():
        if ident not in now:
            asked = after.get(ident, ("",))[0] == "Review.md"
            assert ident not in after or asked, "what a person deleted came back"
        elif now[ident] == left.get(ident):
            assert after.get(ident) == before.get(ident), "an untouched item is not as it was"
        elif now[ident][1:] != left[ident][1:]:
            assert after[ident][2] == now[ident][2], "a note is gone"
            if now[ident][1] != left[ident][1]:
                assert after[ident][1] == now[ident][1], "words were changed"
    mine = {ident for ident in after if ident not in left}
    assert not mine & before.keys()


STORY = {
    "logs": st.lists(st.lists(_LINES, min_size=1, max_size=5), min_size=1, max_size=3),
    "first": st.lists(_EDIT, max_size=3),
    "since": st.lists(_EDIT, max_size=3),
}
PHASES = [Phase.explicit, Phase.generate]  # a story takes a second, so a failing one is shown as it is
SLOW = [HealthCheck.too_slow]


@pytest.mark.torture
@settings(max_examples=300, deadline=None, suppress_health_check=SLOW, phases=PHASES)
@given(**STORY)
def test_an_undo_takes_back_what_the_run_did_in_many_stories(logs: list[Log], first: Edits, since: Edits) -> None:
    one_story(logs, first, since)
