"""The figures of `python -m benchmarks.month` are right, and the month that ships is sound."""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.month import WAYS, compare, main, runs_of
from benchmarks.month_gold import BadGold, read_month
from pipelines.errors import BadFile
from pipelines.night.episodes import ClosedDay, with_episodes
from pipelines.night.states import with_states
from pipelines.store.item import Evidence, Item, ItemType, Status, quote_digest, render_item
from pipelines.store.snapshot import read_documents

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.month_gold import Month
    from benchmarks.month_pages import Row

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/month"
TAUGHT = ("Done: ", "Todo done: ", "Resolved: ", "Dropped: ", "No longer: ", "Correction: ", "- [x] ", " - DONE")

# ------------------------------------------------------------------------------------------- a small month by hand

LOGS = {
    "2026-02-02": "# Monday\n\nproject: Kiln\n\n- The kiln fires at 1,200 degrees.\n- call Sven about clay\n"
    "- The lid may crack.\n- Glaze is kept dry.\n",
    "2026-02-03": "project: Kiln\n\n- it fires at 1,240 degrees now\n- Sven called, clay comes Friday\n"
    "- nothing else\n",
    "2026-02-04": "- glaze stays dry, as ever\n- Open on Sundays from March on.\n",
}
LATE = "Logs/partial/2026-02-02-shed.md"


def belief(key: str, kind: str, text: str, quote: str, day: str = "2026-02-02", **more: object) -> dict[str, object]:
    status = "open" if kind == "Todo" else "live"
    said = {"quotes": [{"day": day, "quote": quote}], "since": day, "status": status}
    return {"key": key, "type": kind, "text": text, "document": "Kiln", **said, **more}


def small() -> dict[str, Any]:
    """Return the gold of the small month."""
    old, new = "The kiln fires at 1,200 degrees.", "The kiln fires at 1,240 degrees."
    return {
        "arrives": {LATE: "2026-02-04"},
        "beliefs": [
            belief("old", "Fact", old, old, status="superseded"),
            belief("new", "Fact", new, "it fires at 1,240 degrees now", "2026-02-03"),
            belief("clay", "Todo", "Call Sven about clay.", "call Sven about clay", status="done"),
            belief("lid", "Risk", "The lid may crack.", "The lid may crack."),
            belief("glaze", "Rule", "Glaze is kept dry.", "Glaze is kept dry."),
            belief("shed", "Fact", "The shed has no lock.", "the shed has no lock"),
            belief(
                "sunday",
                "Decision",
                "The shop opens on Sundays.",
                "Open on Sundays from March on.",
                "2026-02-04",
                since="2026-03-01",
                document="General",
            ),
        ],
        "events": [
            {
                "day": "2026-02-03",
                "quote": "it fires at 1,240 degrees now",
                "operation": "supersede",
                "of": ["old"],
                "belief": "new",
            },
            {"day": "2026-02-03", "quote": "Sven called", "operation": "close", "how": "done", "of": ["clay"]},
            {"day": "2026-02-04", "quote": "glaze stays dry", "operation": "confirm", "of": ["glaze"]},
        ],
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the small month."""
    home = tmp_path / "small"
    (home / "Logs/partial").mkdir(parents=True)
    for day, text in LOGS.items():
        (home / f"Logs/{day}.md").write_text(text)
    (home / LATE).write_text("- the shed has no lock\n")
    (home / "gold.json").write_text(json.dumps(small()))
    return home


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    main([*map(str, arguments)])
    return capsys.readouterr().out


def refused(folder: Path) -> str:
    with pytest.raises(SystemExit) as fault:
        main([str(folder)])
    return str(fault.value)


# --------------------------------------------------------------------------------------------------- its shape


def test_faults_are_all_named_at_once(folder: Path) -> None:
    gold = small()
    beliefs, events = gold["beliefs"], gold["events"]
    beliefs[1]["quotes"][0]["quote"] = "It fires at 1,240 degrees now"
    beliefs[2]["status"] = "open"
    beliefs[3]["because"] = ["nowhere"]
    beliefs[4] |= {"key": "lid", "since": "2026-02-02"}
    beliefs[5]["text"] = "the LID may crack"
    events[0]["belief"] = "newer"
    events[1]["of"] = ["clay", "nobody"]
    events.append({"day": "2026-02-04", "quote": "ever", "operation": "close", "how": "resolved", "of": ["new"]})
    events.append({"day": "2026-02-05", "quote": "ever", "operation": "close", "of": ["new"]})
    gold["arrives"] = {LATE: "2026-02-01", "Logs/2026-02-09.md": "2026-02-09"}
    (folder / "gold.json").write_text(json.dumps(gold))
    said = refused(folder)
    for fault in (
        "new: the log of 2026-02-03 does not hold 'It fires at 1,240 degrees now'",
        "clay: its status is open, but by its events it is done",
        "lid: there is no belief 'nowhere'",
        "the key 'lid' stands 2 times",
        "shed: another belief has the same text",
        "events[0]: supersede and update name a `belief`",
        "events[1]: there is no belief 'nobody'",
        "events[2]: there is no belief 'glaze'",
        "events[3]: new is a Fact and cannot be resolved",
        "events[4]: there is no log of 2026-02-05",
        "events[4]: `how` belongs to close",
        "arrives: Logs/partial/2026-02-02-shed.md comes on 2026-02-01, before its day",
        "arrives: there is no Logs/2026-02-09.md",
    ):
        assert fault in said


def test_a_value_of_the_wrong_kind_is_named_with_its_place(folder: Path) -> None:
    gold = small()
    gold["beliefs"][0] |= {"type": "Idea", "since": "2026-02-30", "colour": "blue"}
    del gold["beliefs"][1]["text"]
    (folder / "gold.json").write_text(json.dumps(gold))
    said = refused(folder)
    for fault in ("beliefs[0].type", "2026-02-30", "YYYY-MM-DD", "beliefs[0].colour", "beliefs[1].text"):
        assert fault in said


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda home: (home / "gold.json").unlink(), "gold.json cannot be read"),
        (lambda home: (home / "gold.json").write_text("{"), "gold.json is no JSON"),
        (lambda home: (home / "gold.json").write_text("[]"), "gold.json holds no JSON object"),
        (lambda home: (home / "gold.json").write_bytes(b"\xff"), "gold.json is not UTF-8"),
        (lambda home: (home / "Logs").rename(home / "Journal"), "holds no log (Logs/YYYY-MM-DD.md)"),
    ],
)
def test_a_folder_of_another_shape_ends_with_1(folder: Path, spoil: Callable[[Path], object], sentence: str) -> None:
    spoil(folder)
    assert sentence in refused(folder)
    with pytest.raises((BadFile, BadGold)):
        read_month(folder)


# ------------------------------------------------------------------------------------------- its three ways to read


def test_logs_arrive_on_their_days_in_every_way(folder: Path) -> None:
    month = read_month(folder)
    first, second, third = (f"Logs/{day}.md" for day in LOGS)
    nights = [("2026-02-02", [first]), ("2026-02-03", [second]), ("2026-02-04", [third, LATE])]
    assert runs_of(month, "one-by-one") == nights
    assert runs_of(month, "5") == nights
    assert runs_of(month, "1") == [("2026-02-04", [first, second, third, LATE])]
    example = read_month(EXAMPLE)
    assert len(runs_of(example, "5")) == 5
    for way in WAYS:
        assert sorted(path for _, paths in runs_of(example, way) for path in paths) == sorted(example.logs)


def test_a_month_is_lived_and_scored_without_any_memory(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    said = json.loads(told(capsys, folder, "--provider", "rules", "--json"))
    assert (said["days"], said["beliefs"], said["events"]) == (3, 7, 3)
    assert {way: one["runs"] for way, one in said["ways"].items()} == {"one-by-one": 3, "5": 3, "1": 1}
    assert all(one["failures"] == [] and one["calls"] == 0 for one in said["ways"].values())
    assert sorted(folder.rglob("*")) == before
    shown = told(capsys, folder, "--provider", "rules", "--nights", "1", "--verbose").splitlines()
    assert shown[0].split("  ")[0] == "changed beliefs superseded"
    assert any(line.startswith("one run: 0 calls") for line in shown)
    assert any(line.startswith("  missing: ") for line in shown)


def test_what_was_dropped_is_shown_line_by_line(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    program = tmp_path / "wrong.py"
    wrong = {"type": "Fact", "text": "Ada.", "lines": [[90, 90]]}
    program.write_text(
        "import json, sys\nasked = json.load(sys.stdin)\n"
        f"print(json.dumps({{'items': [{wrong}], 'operations': []}} if asked['task'] == 'extract' else {{}}))\n"
    )
    run = ("--provider", f"exec:{sys.executable} {program}", "--nights", "1")
    noted = [line for line in told(capsys, folder, *run, "--verbose").splitlines() if line.startswith("  noted: Logs/")]
    assert len(noted) == 3
    assert all("1 proposed item was dropped" in line and "(line 90)" in line for line in noted)
    assert "noted" not in told(capsys, folder, *run)


# ------------------------------------------------------------------------------------------------- its scoreboard


class Memory:
    """A memory whose documents are written by hand, with the small month's logs in it."""

    def __init__(self, root: Path, month: Month) -> None:
        self.root, self.month = root, month
        self.items: dict[str, Item] = {}
        self.places = {one.key: one.document for one in month.gold.beliefs}
        (root / "Logs/partial").mkdir(parents=True)
        (root / "curate.toml").write_text("")
        for path, text in month.logs.items():
            (root / path).write_text(text)
        for number, one in enumerate(month.gold.beliefs):
            said = one.quotes[0]
            self.items[one.key] = Item(
                one.type,
                one.text,
                id=f"k00000000{number:02}",
                status=one.status,
                since=one.since,
                evidence=(self.evidence(said.day, said.quote),),
                seen=2 if one.key == "glaze" else 1,
                superseded_by="k0000000001" if one.status is Status.SUPERSEDED else "",
            )

    def evidence(self, day: str, quote: str) -> Evidence:
        for path, text in self.month.logs.items():
            for number, line in enumerate(text.split("\n"), 1):
                if day in path and quote in line:
                    return Evidence(path, number, number, quote_digest(line))
        raise AssertionError(quote)

    def score(self) -> dict[str, Row]:
        pages = {"Kiln": "Projects/kiln.md", "General": "Areas/general.md", "Wheel": "Projects/wheel.md"}
        for title, path in pages.items():
            (self.root / path).parent.mkdir(exist_ok=True)
            lines = [render_item(item) for key, item in self.items.items() if self.places[key] == title]
            (self.root / path).write_text("\n".join([f"# {title}", "", *lines, ""]))
        days = [ClosedDay(day, (), (), 0, 1) for day in self.month.arrivals()]
        for path, one in with_episodes(with_states(read_documents(self.root)), days, {}).items():
            (self.root / path).parent.mkdir(exist_ok=True)
            (self.root / path).write_text(one.text)
        return {row.key: row for row in compare(self.month, self.root)}

    def change(self, key: str, **values: Any) -> None:
        self.items[key] = replace(self.items[key], **values)


@pytest.fixture
def memory(folder: Path, tmp_path: Path) -> Memory:
    """Return a memory in which all is as the gold says."""
    return Memory(tmp_path / "memory", read_month(folder))


def faults(rows: dict[str, Row]) -> dict[str, int]:
    return {key: row.count for key, row in rows.items() if row.is_fault and row.count}


def short(rows: dict[str, Row]) -> dict[str, str]:
    return {key: row.told for key, row in rows.items() if row.of is not None and row.count != row.of}


def test_a_memory_that_is_as_the_gold_has_every_figure_full(memory: Memory) -> None:
    rows = memory.score()
    assert (faults(rows), short(rows)) == ({}, {})
    told = {key: row.told for key, row in rows.items() if row.of}
    assert told == {
        "supersede": "1 of 1",
        "done": "1 of 1",
        "confirmed": "1 of 1",
        "since": "1 of 1",
        "kept": "5 of 5",
        "filed": "7 of 7",
        "states": "1 of 1",
        "episodes": "3 of 3",
    }


def test_a_state_and_an_episode_without_what_they_must_tell_are_counted(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.benchmarks.test_month.with_states", dict)
    monkeypatch.setattr("tests.benchmarks.test_month.with_episodes", lambda documents, *_: documents)
    rows = memory.score()
    assert short(rows) == {"states": "0 of 1", "episodes": "0 of 3"}
    assert rows["states"].wrong == ("Kiln (an open risk is not in its State)",)


def test_what_was_changed_or_finished_and_still_stands_is_stale(memory: Memory) -> None:
    memory.change("old", status=Status.LIVE, superseded_by="")
    memory.change("clay", status=Status.OPEN)
    rows = memory.score()
    assert faults(rows) == {"stale": 2}
    assert short(rows) == {"supersede": "0 of 1", "done": "0 of 1"}
    assert rows["done"].wrong == ("Call Sven about clay. (is open, should be done)",)


def test_what_was_struck_though_it_holds_is_counted(memory: Memory) -> None:
    memory.change("lid", status=Status.RESOLVED)
    memory.change("glaze", status=Status.SUPERSEDED, superseded_by="k0000000001")
    rows = memory.score()
    assert faults(rows) == {"struck_wrongly": 2}
    assert short(rows) == {"kept": "3 of 5", "states": "0 of 1"}


def test_a_change_without_what_takes_its_place_is_none(memory: Memory) -> None:
    del memory.items["new"]
    rows = memory.score()
    assert faults(rows) == {"missing": 1}
    assert short(rows) == {"supersede": "0 of 1", "kept": "4 of 5"}


def test_missing_extra_and_doubled_are_told_apart(memory: Memory) -> None:
    del memory.items["shed"]
    line = memory.evidence("2026-02-03", "nothing else")
    memory.items["more"] = Item(ItemType.FACT, "Nothing else.", id="k0000000091", evidence=(line,))
    memory.items["twice"] = Item(ItemType.RISK, "the lid may crack", id="k0000000092")
    memory.items["struck"] = Item(
        ItemType.FACT, "Gone again.", id="k0000000093", status=Status.MERGED, merged_into="k1"
    )
    memory.places |= dict.fromkeys(("more", "twice", "struck"), "Kiln")
    rows = memory.score()
    assert faults(rows) == {"missing": 1, "doubled": 1, "extra": 1}
    assert rows["missing"].wrong == ("The shed has no lock.",)
    assert rows["extra"].wrong == ("Nothing else. (in Kiln)",)


def test_an_item_in_another_document_is_misfiled(memory: Memory) -> None:
    memory.places |= {"lid": "Wheel", "glaze": "General"}
    rows = memory.score()
    assert (faults(rows), short(rows)) == ({}, {"filed": "5 of 7"})
    assert "The lid may crack. (is in Wheel, should be in Kiln)" in rows["filed"].wrong


def test_words_of_a_models_own_count_by_the_lines_that_they_rest_on(memory: Memory) -> None:
    memory.change("new", text="Firing happens at 1,240 degrees, the kiln's new heat.")
    memory.change("sunday", text="From March on we open on Sundays.", since="2026-02-04")
    memory.change("glaze", text="Glaze is always kept dry.", type=ItemType.FACT)
    memory.change("shed", text="There is no lock on the door.", evidence=())
    rows = memory.score()
    assert faults(rows) == {"missing": 1, "extra": 1}  # nothing ties the last to the gold
    assert short(rows) == {"since": "0 of 1", "kept": "4 of 5"}


def test_a_part_that_did_not_survive_makes_no_update(memory: Memory) -> None:
    event = memory.month.gold.events[0].model_copy(update={"operation": "update"})
    gold = memory.month.gold.model_copy(update={"events": (event, *memory.month.gold.events[1:])})
    memory.month = memory.month.model_copy(update={"gold": gold})
    assert memory.score()["update"].told == "1 of 1"
    memory.change("new", text="Degrees: 1,240.")
    assert memory.score()["update"].wrong == (
        "The kiln fires at 1,200 degrees. (of it, too little is in: Degrees: 1,240.)",
    )


# ---------------------------------------------------------------------------------------- the month that ships


def test_the_example_is_sound_and_holds_what_it_promises() -> None:
    month = read_month(EXAMPLE)  # every quote stands letter by letter, every key resolves
    beliefs, events = month.beliefs, month.gold.events
    statuses = Counter((one.type, one.status) for one in beliefs.values())
    by_operation = Counter(one.operation for one in events)
    replaced = [key for key, _ in month.targets("supersede")]
    successors = {one.belief for one in events if one.operation == "supersede"}
    assert len(month.logs) >= 26
    assert len(replaced) >= 12
    assert by_operation["update"] >= 3
    assert any(len(one.of) == 2 for one in events if one.operation == "supersede")
    assert len(successors & set(replaced)) >= 2
    assert statuses[ItemType.TODO, Status.DONE] >= 12
    assert statuses[ItemType.TODO, Status.DROPPED] >= 3
    assert statuses[ItemType.RISK, Status.RESOLVED] >= 4
    assert statuses[ItemType.RISK, Status.OCCURRED] >= 2
    assert statuses[ItemType.FACT, Status.ANSWERED] >= 2
    assert sum(one.status is Status.ENDED for one in beliefs.values()) >= 2
    assert by_operation["retract"] >= 2
    assert by_operation["confirm"] >= 5
    assert any(one.confidence == "speculative" and one.because for one in beliefs.values())
    assert any(one.since > one.quotes[0].day for one in beliefs.values())
    assert sum(bool(one.because) for one in beliefs.values()) >= 3
    assert len(month.gold.arrives) >= 2
    assert {one.document for one in beliefs.values()} == {"Ferrywake", "Hopyard", "Lanternbook", "User"}
    assert 30 <= sum(one.active for one in beliefs.values()) <= 60


def test_half_of_the_example_is_noise_and_every_taught_form_is_in_it() -> None:
    month = read_month(EXAMPLE)
    quotes = [said.quote for one in month.beliefs.values() for said in one.quotes]
    quotes += [one.quote for one in month.gold.events]
    lines = [line for text in month.logs.values() for line in text.split("\n")]
    said = [line for line in lines if line.strip() and not line.startswith(("#", "project:"))]
    assert sum(any(quote in line for quote in quotes) for line in said) <= len(said) / 2
    forms = {form: sum(form in line for line in said) for form in TAUGHT}
    assert all(forms.values())
    assert sum(forms.values()) >= 8
