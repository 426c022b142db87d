"""The figures of `python -m benchmarks.month` are right, and the month that ships is sound."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.month import main
from benchmarks.month_gold import BadGold, read_month
from pipelines.errors import BadFile
from pipelines.store.item import ItemType, Status

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/month"

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
