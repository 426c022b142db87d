"""The night as a whole: what is read, kept, left alone and reported, with real files and real git."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from pipelines.errors import ChangedUnderRun, ModelFailed
from pipelines.extract.extraction import Extraction
from pipelines.extract.rules import RulesExtractor
from pipelines.night.plan import Night, plan_night
from pipelines.night.report import Watch
from pipelines.night.run_night import curate_night
from pipelines.settings import load_settings
from pipelines.store.git import Git
from pipelines.store.item import ItemType
from pipelines.store.snapshot import read_documents
from tests.conftest import Memory

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.extract.extraction import Candidate, ExtractionRequest, Place
    from pipelines.night.report import RunReport


def night(memory: Memory, now: str = "2026-03-20T02:00+00:00", extractor: object = None) -> RunReport:
    chosen = extractor or RulesExtractor()
    settings = load_settings(memory.root)
    moment = datetime.fromisoformat(now)
    return curate_night(Night(memory.root, settings, chosen, moment), Watch())  # type: ignore[arg-type]  # test doubles


def texts(memory: Memory) -> set[str]:
    return {placed.item.text for document in read_documents(memory.root).values() for placed in document.items}


def test_a_night_keeps_what_was_labelled_and_commits_it(memory: Memory) -> None:
    memory.write(
        "Logs/2026-03-18.md",
        "# 2026-03-18\n\nproject: Alpha\n\n- 09:00 Decision: Use SQLite for the cache.\n- 09:30 had coffee\n",
    )
    report = night(memory)
    assert report.items["by_type"] == {"Decision": 1}
    assert report.items["by_document"] == {"Projects/alpha.md": 1}
    assert report.documents_made == ("Projects/alpha.md",)
    assert report.commit == Git(memory.root).head()
    assert "Use SQLite for the cache." in memory.read("Projects/alpha.md")
    body = memory.git("log", "-1", "--format=%B")
    assert body.startswith("Curated 2026-03-18: 1 item added\n\n- Projects/alpha.md: 1 added\n\nRun-Id: ")
    trailers = memory.git("log", "-1", "--format=%(trailers:only,unfold)").splitlines()
    assert [line.partition(":")[0] for line in trailers if line] == [
        "Run-Id",
        "Items-Added",
        "Items-Changed",
        "Extractor",
    ]
    assert memory.git("status", "--porcelain") == ""


def test_running_again_changes_no_byte_and_makes_no_commit(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- Rule: never push on Fridays\n- Anna prefers mornings.\n")
    night(memory)
    files, head = memory.files(), memory.git("rev-parse", "HEAD")
    for now in ("2026-03-20T02:00+00:00", "2026-03-21T02:00+00:00", "2026-09-01T02:00+00:00"):
        report = night(memory, now)
        assert (report.commit, report.entries["read"], report.candidates) == (None, 0, 0)
    assert memory.files() == files
    assert memory.git("rev-parse", "HEAD") == head


def test_a_replay_comes_to_the_same_bytes_and_commits(memory: Memory, tmp_path: Path) -> None:
    twin = Memory(tmp_path / "twin", memory._capsys)
    memory.git("clone", "--quiet", ".", str(twin.root))
    for one in (memory, twin):
        one.write("Logs/2026-03-18.md", "- Decision: Use SQLite\n- Todo: buy milk\n- Fact: the port is 8080\n")
        night(one)
        one.write("Logs/2026-03-19.md", "- decision: use sqlite.\n- Risk: the disk may fill\n")
        night(one, "2026-03-21T02:00+00:00")
    assert memory.git("rev-parse", "HEAD") == twin.git("rev-parse", "HEAD")


def test_only_what_is_new_is_read(memory: Memory) -> None:
    asked: list[str] = []

    class Listening(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            asked.extend(entry.text for entry in request.entries)
            return super().extract(request)

    memory.write("Logs/2026-03-18.md", "- one\n- two\n")
    night(memory, extractor=Listening())
    memory.write("Logs/2026-03-18.md", "- one\n- two\n- three, late\n")
    memory.write("Logs/2026-03-20.md", "- today\n")
    night(memory, extractor=Listening())
    memory.write("Logs/2026-03-20.md", "- today\n- later today\n")
    night(memory, extractor=Listening())
    night(memory, "2026-03-25T02:00+00:00", extractor=Listening())
    assert asked == ["- one", "- two", "- three, late", "- today", "- later today"]


def test_logs_after_the_moment_are_not_read(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- Decision: now\n")
    memory.write("Logs/2026-03-22.md", "- Decision: in days to come\n")
    night(memory)
    assert texts(memory) == {"now"}
    night(memory, "2026-03-22T23:00+00:00")
    assert texts(memory) == {"now", "in days to come"}


def test_a_failing_model_harms_nothing_and_the_next_night_picks_it_up(memory: Memory) -> None:
    class Failing(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            if request.day >= "2026-03-18":
                raise ModelFailed("test", "was down")
            return super().extract(request)

    for day in (17, 18, 19):
        memory.write(f"Logs/2026-03-{day}.md", f"- Decision: number {day}\n")
    report = night(memory, extractor=Failing())
    assert (report.exit_code, report.entries["pending"], report.failure) == (1, 2, "test was down.")
    assert texts(memory) == {"number 17"}
    report = night(memory)
    assert (report.exit_code, report.entries["read"]) == (0, 2)
    assert texts(memory) == {"number 17", "number 18", "number 19"}


def _invented(one: Candidate) -> Place:
    return replace(one.places[0], quote="never said")


def test_an_item_without_its_quote_is_dropped_and_counted(memory: Memory) -> None:
    class Inventing(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            found = super().extract(request).candidates
            return Extraction((*found, *(replace(one, text="Invented", places=(_invented(one),)) for one in found)))

    memory.write("Logs/2026-03-18.md", "- Decision: real\n")
    report = night(memory, extractor=Inventing())
    assert (report.ungrounded, report.added) == (1, 1)
    assert texts(memory) == {"real"}


def test_peoples_edits_are_committed_first_and_apart(memory: Memory) -> None:
    memory.git("config", "user.name", "Mara")
    memory.git("config", "user.email", "mara@example.org")
    memory.write("SOUL.md", "# Mine\n")
    memory.write("Logs/2026-03-18.md", "- Decision: x y z\n")
    report = night(memory)
    subjects = memory.git("log", "-2", "--format=%an|%s").splitlines()
    assert subjects[0].startswith("memcurate|Curated")
    assert subjects[1] == "Mara|Edits since the last run"
    assert report.edits_commit == memory.git("rev-parse", "HEAD~1").strip()


def test_what_the_owner_staged_is_staged_still(memory: Memory) -> None:
    (memory.root / "other.txt").write_text("mine")
    memory.git("add", "other.txt")
    memory.write("Logs/2026-03-18.md", "- Decision: x y z\n")
    night(memory)
    assert memory.git("status", "--porcelain") == "A  other.txt\n"


def test_a_file_changed_under_the_run_is_planned_anew(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- Decision: first\n- Todo: second\n")

    class Editing(RulesExtractor):
        asked = 0

        def extract(self, request: ExtractionRequest) -> Extraction:
            self.asked += 1
            memory.write("MEMORY.md", "# Memory\n\nMy own words, written during the run.\n")
            memory.write("Areas/general.md", "# General\n\nMine.\n")
            return super().extract(request)

    extractor = Editing()
    report = night(memory, extractor=extractor)
    assert report.commit
    assert extractor.asked == 1
    assert "My own words, written during the run." in memory.read("MEMORY.md")
    assert "Mine." in memory.read("Areas/general.md")
    assert texts(memory) == {"first", "second"}


def test_files_that_never_rest_stop_the_run_and_nothing_is_written(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.write("Logs/2026-03-18.md", "- Decision: first\n")
    count = iter(range(10**6))

    def restless(*arguments: object) -> object:
        plan = plan_night(*arguments)  # type: ignore[arg-type]  # passed on
        memory.write("Areas/general.md", f"# General {next(count)}\n")
        return plan

    monkeypatch.setattr("pipelines.night.run_night.plan_night", restless)
    with pytest.raises(ChangedUnderRun):
        night(memory)
    assert texts(memory) == set()
    assert not (memory.root / ".curate" / "pending").exists()


def test_a_line_by_hand_gets_an_id_once(memory: Memory) -> None:
    memory.write("Projects/p.md", "# P\n\n- **Decision**: mine alone\n")
    night(memory)
    first = memory.read("Projects/p.md")
    assert first.startswith("# P\n\n- **Decision**: mine alone <!-- k")
    night(memory)
    assert memory.read("Projects/p.md") == first


def test_a_ticked_box_in_the_log_closes_the_todo(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- [ ] renew the certificate\n")
    night(memory, "2026-03-18T23:00+00:00")
    assert "- [ ] Todo: renew the certificate" in memory.read("Areas/general.md")
    memory.write("Logs/2026-03-19.md", "- [x] Renew the certificate.\n")
    report = night(memory)
    assert (report.items["confirmed"], report.items["closed"]) == (0, 1)
    assert "- [x] Todo: renew the certificate" in memory.read("Areas/general.md")


def test_what_the_template_has_and_the_memory_lacks_is_added(memory: Memory) -> None:
    for path in ("USER.md", "MEMORY.md", "Review.md"):
        (memory.root / path).unlink()
    memory.write("Logs/2026-03-18.md", "- Rule: never push on Fridays\n")
    night(memory)
    assert "never push on Fridays" in memory.read("MEMORY.md")
    assert memory.read("Review.md").startswith("# Review")


def test_the_briefing_is_under_its_cap_after_each_of_many_nights(memory: Memory) -> None:
    toml = memory.read("curate.toml").replace("8192", "2048").replace("65536", "8192")
    memory.write("curate.toml", toml)
    added = 0
    for day in range(1, 29):
        rules = "".join(
            f"- Rule: rule {day}.{n} says never to do thing number {n} on day {day} of the month\n" for n in range(8)
        )
        memory.write(f"Logs/2026-02-{day:02}.md", rules)
        report = night(memory, f"2026-02-{day:02}T23:30+00:00")
        added += report.added
        assert (memory.root / "MEMORY.md").stat().st_size <= 2048
        assert report.briefing["bytes"] == (memory.root / "MEMORY.md").stat().st_size
    assert added == 28 * 8
    assert len(texts(memory)) == added
    assert all(file.stat().st_size <= 8192 for file in memory.root.glob("A*/*.md"))


def test_the_report_is_kept_for_the_status(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- Decision: x y z\n")
    report = night(memory)
    kept = json.loads((memory.root / ".curate" / "runs" / f"{report.run}.json").read_text())
    assert kept["commit"] == report.commit
    assert set(kept["seconds"]) == {
        "capture",
        "extract",
        "review",
        "verify",
        "promote",
        "brief",
        "prune",
        "commit",
        "reindex",
        "embed",
    }


def test_a_repeat_confirms_the_item_that_says_it(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", "- Decision: Use SQLite\n")
    memory.write("Logs/2026-03-18.md", "- **DECISION:** use sqlite!\n")
    memory.write("Logs/2026-03-19.md", "- decision: Use SQLite\n")
    report = night(memory)
    assert (report.added, report.verdicts) == (1, {"add": 1, "confirm": 2})
    [item] = [p.item for d in read_documents(memory.root).values() for p in d.items]
    assert (item.since, item.confirmed, item.seen) == ("2026-03-17", "2026-03-19", 3)
    assert [evidence.path for evidence in item.evidence] == ["Logs/2026-03-17.md", "Logs/2026-03-19.md"]


def test_a_model_cannot_choose_a_document_that_was_not_offered(memory: Memory) -> None:
    class Escaping(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            found: tuple[Candidate, ...] = super().extract(request).candidates
            return Extraction(tuple(replace(one, document="../../outside", type=ItemType.TODO) for one in found))

    memory.write("Logs/2026-03-18.md", "- Decision: x y z\n")
    report = night(memory, extractor=Escaping())
    assert report.items["by_document"] == {"Areas/general.md": 1}
    assert not (memory.root.parent.parent / "outside.md").exists()


def test_a_run_that_failed_leaves_a_record(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ChangedUnderRun(["Areas/a.md"])

    monkeypatch.setattr("pipelines.night.run_night.plan_night", broken)
    with pytest.raises(ChangedUnderRun):
        night(memory)
    [kept] = (memory.root / ".curate" / "runs").glob("*.json")
    record = json.loads(kept.read_text())
    assert record["exit_code"] == 1
    assert "Areas/a.md" in record["error"]["sentence"]
