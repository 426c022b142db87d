"""Secrets and private parts that a night finds in logs and documents: what it commits, leaves alone, and says."""

import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines.errors import HoldsSecret
from pipelines.extract.extraction import Extraction, ExtractionRequest
from pipelines.extract.llm.call import load_prompt
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.search.embed import vector_of
from pipelines.store.edits import commit_edits, find_edits
from pipelines.store.git import Author, Git
from pipelines.store.secrets import known, redact
from pipelines.store.secrets.find import Span, find_secrets
from pipelines.store.secrets.redact import TranscriptCleaner, load_redactor
from pipelines.store.secrets.scan import without_secret_files
from pipelines.store.snapshot import read_documents, read_snapshot
from tests.conftest import Memory
from tests.night.test_nightly import night
from tests.planting import Planter

SECRET = f"ghp_{Planter(7).of('abcdef0123', 36)}"
OTHER = Planter(8).password()


def history(memory: Memory) -> str:
    """Return everything that any commit holds."""
    return memory.git("log", "--all", "-p", "--format=%B")


def test_a_log_is_redacted_in_place_before_its_first_commit_and_the_report_says_so(memory: Memory) -> None:
    log = f"# 2026-03-18\n\n- 09:00 Decision: Deploy with {SECRET}.\n- 09:30 Fact: The port is 8080.\n"
    memory.write("Logs/2026-03-18.md", log)
    memory.write("Logs/partial/2026-03-18-phone.md", f"- 10:00 password: {OTHER}\n")
    report = night(memory)
    assert (report.exit_code, report.logs["redacted"]) == (
        0, {"Logs/2026-03-18.md": 1, "Logs/partial/2026-03-18-phone.md": 1},
    )  # fmt: skip
    assert "Logs/2026-03-18.md: 1 secret (github-token) redacted." in report.warnings
    text = memory.read("Logs/2026-03-18.md")
    assert "Deploy with [redacted:github-token:" in text
    assert SECRET not in history(memory)
    assert OTHER not in history(memory)
    assert any("[redacted:github-token:" in placed.item.text for one in read_documents(memory.root).values()
               for placed in one.items)  # fmt: skip
    assert night(memory, "2026-03-21T02:00+00:00").commit is None
    assert memory.git("status", "--porcelain") == ""


def test_what_is_known_as_secret_only_while_the_day_is_read_is_taken_out_of_its_log_too(memory: Memory) -> None:
    value = "8501247164:AAHASOr-"
    memory.write("Logs/2026-03-18.md", f"- 09:00 password: {OTHER}\n- 09:10 `BOT_TOKEN` = `{value}...` works.\n")

    class Learning(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            load_redactor(memory.root).find(f"BOT_TOKEN={value}".encode())
            return super().extract(request)

    report = night(memory, extractor=Learning())
    assert report.commit
    assert value not in memory.read("Logs/2026-03-18.md")
    assert value not in history(memory)
    assert "Logs/2026-03-18.md: 1 secret (token) redacted." in report.warnings


def test_a_log_that_was_committed_already_is_redacted_all_the_same_and_it_is_said(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", f"- 09:00 password: {OTHER}\n")
    memory.git("add", "Logs")
    memory.git("commit", "--quiet", "-m", "by hand")
    report = night(memory)
    assert any("Git history still has a copy: `curate secrets --history`" in told for told in report.warnings)
    assert OTHER not in memory.read("Logs/2026-03-18.md")
    assert OTHER not in memory.git("show", "HEAD:Logs/2026-03-18.md")


def test_a_secret_that_comes_under_the_run_waits_uncommitted_for_the_next_one(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", "- 09:00 Decision: One.\n")

    class Telling(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            with (memory.root / "Logs/2026-03-18.md").open("a") as log:
                log.write(f"- 10:00 password: {OTHER}\n")
            return super().extract(request)

    night(memory, extractor=Telling())
    assert OTHER not in history(memory)
    report = night(memory, "2026-03-21T02:00+00:00")
    assert OTHER not in memory.read("Logs/2026-03-18.md")
    assert OTHER not in history(memory)
    assert report.exit_code == 0


@pytest.mark.parametrize("path", ["MEMORY.md", "Resources/notes.txt"])
def test_a_persons_own_document_stays_as_it_is_uncommitted_and_named(memory: Memory, path: str) -> None:
    memory.write("Logs/2026-03-17.md", "project: Alpha\n\n- Decision: Use SQLite for the cache.\n")
    night(memory)
    before = memory.read(path) if (memory.root / path).exists() else ""
    memory.write(path, f"{before}\nThe password is {OTHER}\n")
    text = memory.read(path)
    memory.write("Logs/2026-03-18.md", "project: Alpha\n\n- Rule: Never push on Fridays.\n- Fact: Alpha is blue.\n")
    for now in ("2026-03-20T02:00+00:00", "2026-03-21T02:00+00:00"):
        report = night(memory, now)
        assert report.exit_code == 1
        (told,) = [told for told in report.warnings if told.startswith(f"{path} contains")]
        line = text.count("\n")
        assert f"1 secret (password), line {line}; the file was not changed and is not committed" in told
        assert memory.read(path) == text
    assert OTHER not in history(memory)
    assert report.people["retracted"] == report.people["asked"] == 0
    marked = text.replace(OTHER, f"{OTHER} <!-- allow-secret -->")
    memory.write(path, marked)
    assert night(memory, "2026-03-22T02:00+00:00").exit_code == 0
    assert OTHER in history(memory)


def test_a_secret_that_looks_like_a_note_of_ours_is_found_in_a_document(memory: Memory) -> None:
    memory.write("Areas/b.md", f"# B\n\ntoken = by=rules@{Planter(9).of('Kxfq23456789', 18)}\n")
    found = without_secret_files(read_snapshot(memory.root))
    assert "Areas/b.md" not in found.documents
    assert [told.path for told in found.warnings] == ["Areas/b.md"]


def test_what_is_saved_between_the_look_and_the_commit_waits(memory: Memory) -> None:
    memory.write("Projects/p.md", "# P\n\nnothing yet\n")
    git = Git(memory.root)
    found = find_edits(git)
    memory.write("Projects/p.md", f"# P\n\npassword: {OTHER}\n")
    commit_edits(git, "edits\n", Author("A", "a@example.org", datetime.now(UTC)), found)
    assert OTHER not in history(memory)
    assert memory.git("show", "HEAD:Projects/p.md") == "# P\n\nnothing yet\n"


def test_what_an_extractor_makes_of_a_line_is_looked_through_too(memory: Memory) -> None:
    class Joining(RulesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            found = super().extract(request)
            return replace(found, candidates=tuple(replace(one, text=f"password: {OTHER}") for one in found.candidates))

    memory.write("Logs/2026-03-18.md", "- 09:00 Decision: One.\n")
    assert night(memory, extractor=Joining()).added == 1
    assert OTHER not in history(memory)


def test_neither_the_index_nor_an_embedder_gets_a_secret(memory: Memory) -> None:
    asked: list[str] = []

    class Listening:
        name, dimension = "test", 2

        def embed_query(self, text: str) -> None:
            asked.append(text)

    memory.write("Logs/2026-03-18.md", f"- 09:00 password: {OTHER}\n")
    memory.write("Projects/p.md", f"# P\n\npassword: {OTHER}\n")
    memory.curate("index")
    assert not any(OTHER.encode() in file.read_bytes() for file in (memory.root / ".curate").glob("index.db*"))
    vector_of(Listening(), f"password: {OTHER}")  # type: ignore[arg-type]  # a double
    assert asked
    assert OTHER not in asked[0]


def test_a_prompt_is_the_last_net() -> None:
    values = {"day": "2026-03-18", "weekday": "Wednesday", "calendar": [], "open": [], "near": [], "documents": [], "log": f"1| password: {OTHER}", "nonce": "0", "faulty": []}  # fmt: skip  # noqa: E501  one prompt
    rendered = load_prompt("extract").call(values, {})
    assert OTHER not in rendered.user
    assert "1| password: [redacted:password:" in rendered.user


def test_what_was_said_is_looked_through_once_more_when_it_is_told(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TranscriptCleaner, "record", lambda _, line: line)
    record = {"role": "user", "content": f"password: {OTHER} <private>x", "timestamp": "2026-03-18T08:00:00Z"}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(record)}\n")
    memory.curate("capture", str(tmp_path / "a.jsonl"), "--now", "2026-03-18T12:00")
    assert "[private] <!--" in memory.read("Logs/2026-03-18.md")
    assert OTHER not in memory.read("Logs/2026-03-18.md")


def test_what_a_person_adds_or_logs_is_redacted_and_said(memory: Memory) -> None:
    said = memory.curate("log", f"a token {SECRET}", "--now", "2026-03-18T09:00")
    assert said.endswith("curate log: 1 secret (github-token) redacted before it was written.\n")
    assert SECRET not in said
    assert "[redacted:github-token:" in memory.read("Logs/2026-03-18.md")
    said = memory.curate("add", "Fact", f"The gate opens with {SECRET}", "--now", "2026-03-18T09:00")
    assert "1 secret (github-token) redacted" in said
    assert SECRET not in history(memory)
    memory.curate("log", "lunch with <private>Mara and her doctor", "--now", "2026-03-18T10:00")
    assert memory.read("Logs/2026-03-18.md").endswith("- 10:00 lunch with [private]\n")


def test_nothing_with_a_secret_is_written_by_a_change_asked_for_at_once(memory: Memory) -> None:
    memory.write("Areas/general.md", f"# General\n\n- password: {OTHER}\n")
    said = memory.curate("add", "Fact", "The port is 8080.", "--document", "Areas/general.md", exits=2)
    assert OTHER not in said
    assert OTHER not in history(memory)
    assert str(HoldsSecret(["x"])).endswith("and run again.")


def test_private_parts_are_never_extracted_indexed_or_committed(memory: Memory) -> None:
    memory.write(
        "Logs/2026-03-18.md",
        "- 09:00 Decision: Keep this.\n- 09:10 <private>Decision: Forget walnut.</private>\n"
        "- 09:20 Fact: The doctor <private> said walnut\n  and more walnut\n- 09:30 Fact: Harbor opens at nine.\n",
    )
    memory.curate("index")
    assert "walnut" not in memory.curate("search", "walnut doctor harbor")
    report = night(memory)
    assert report.added >= 2
    assert "walnut" not in history(memory)
    assert "walnut" not in "".join(data.decode() for data in memory.files().values())


def test_a_line_whose_words_are_all_private_makes_no_item(memory: Memory) -> None:
    hidden = "<private>the new owner</private>"
    said = f"Decision: {hidden}", f"**Fact:** {hidden}, {hidden}.", f"[ ] {hidden}", f"Rule: call {hidden} first"
    memory.write("Logs/2026-03-18.md", "".join(f"- {line}\n" for line in said))
    memory.curate("log", f"Decision: {hidden}", "--now", "2026-03-18T09:00")
    night(memory)
    assert [one["text"] for one in memory.json("items")] == ["call [private] first"]


def test_private_parts_of_a_session_are_neither_kept_nor_told(memory: Memory, tmp_path: Path) -> None:
    records = [
        {
            "role": "user",
            "content": "Rule: call <private>Dr. Walnut</private> first",
            "timestamp": "2026-03-18T08:00:00Z",
        },
        {"role": "assistant", "content": "ok <private>walnut", "timestamp": "2026-03-18T08:01:00Z"},
    ]
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
    memory.curate("capture", str(tmp_path / "a.jsonl"), "--now", "2026-03-18T12:00")
    kept = "".join(data.decode() for data in memory.files().values())
    assert "alnut" not in kept
    assert "call [private] first" in memory.read("Logs/2026-03-18.md")
    assert "ok [private]" in memory.read("Logs/2026-03-18.md")


def test_a_rehearsal_shows_no_secret(memory: Memory) -> None:
    memory.write("Logs/2026-03-18.md", f"- 09:00 password: {OTHER}\n- 10:00 <private>walnut</private>\n")
    said = memory.curate("run", "--dry-run", "--now", "2026-03-20T02:00")
    assert "+- 09:00 password: [redacted:password:" in said
    assert OTHER not in said
    assert "walnut" not in said


def test_what_goes_wrong_is_said_without_secrets(memory: Memory) -> None:
    said = memory.curate("search", "x", "--since", f"password={OTHER}", exits=2)
    assert OTHER not in said
    missing = memory.root / f"https:/ada:{OTHER}@host"
    assert find_secrets(f"https://ada:{OTHER}@host".encode())
    assert not missing.exists()


def test_what_is_created_is_its_owners_alone(memory: Memory, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        memory.write("Logs/2026-03-18.md", "- 09:00 Decision: One.\n- 10:00 password: kestrel-7-b\n")
        records = [{"role": "user", "content": "Rule: never", "timestamp": "2026-03-18T08:00:00Z"}]
        (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in records))
        memory.curate("capture", str(tmp_path / "a.jsonl"), "--now", "2026-03-18T12:00")
        memory.curate("index", "--full")
        memory.night("2026-03-19T02:00")
        memory.curate("log", "more", "--now", "2026-03-19T12:00")
        memory.night("2026-03-20T02:00")
        memory.curate("search", "never")
        memory.curate("context", "--now", "2026-03-20T03:00")
        memory.curate("secrets", "--history")
    finally:
        os.umask(before)
    walked = [
        path for name in (".curate", "Sessions") for path in (memory.root / name, *(memory.root / name).rglob("*"))
    ]
    assert {"index.db", "runs", "lock"} <= {path.name for path in walked}
    assert any(path.suffix == ".jsonl" for path in walked)
    assert [str(path) for path in walked if path.stat().st_mode & 0o077] == []


def test_a_folder_that_others_could_read_is_closed_again(memory: Memory) -> None:
    (memory.root / ".curate").chmod(0o755)
    memory.curate("log", "one")
    assert (memory.root / ".curate").stat().st_mode & 0o077 == 0


def test_a_document_that_was_clean_is_held_back_once_its_value_is_known(memory: Memory) -> None:
    value = "q9Zk3LmP0xTr7Vw2"
    memory.write("Areas/ops.md", f"# Ops\n\n- Fact: The pump answers to {value}.\n")
    snapshot = read_snapshot(memory.root)
    assert without_secret_files(snapshot).documents.keys() == snapshot.documents.keys()
    load_redactor(memory.root).redact(f"API_TOKEN={value}")
    assert "Areas/ops.md" not in without_secret_files(snapshot).documents
    values = load_redactor(memory.root).known
    assert values
    values.allow(next(iter(values.rules))[:4])
    assert "Areas/ops.md" in without_secret_files(snapshot).documents


def test_what_only_newer_rules_know_is_removed_from_every_log_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = f"- 09:00 Fact: The gate of the harbor takes {SECRET}.\n"
    memory.write("Logs/2026-03-17.md", f"# 2026-03-17\n\n{line}- 09:30 Fact: The port is 8080.\n")
    with monkeypatch.context() as patch:
        patch.setattr(redact, "find_secrets", lambda *_, **__: [])  # rules that know nothing
        patch.setattr(known, "RULES_VERSION", 0)
        night(memory)
    assert SECRET in memory.read("Logs/2026-03-17.md")
    report = night(memory, "2026-03-19T02:00+00:00")
    assert "[redacted:github-token:" in memory.read("Logs/2026-03-17.md")
    assert SECRET not in memory.git("show", "HEAD:Logs/2026-03-17.md")
    [said] = [one for one in report.warnings if one.startswith("Logs/2026-03-17.md: ")]
    assert said.endswith("redacted. Git history still has a copy: `curate secrets --history` shows how to purge it.")
    asked: list[bytes] = []

    def told(data: bytes, **_: object) -> list[Span]:
        asked.append(data)
        return []

    monkeypatch.setattr(redact, "find_secrets", told)
    night(memory, "2026-03-20T02:00+00:00")
    assert asked
    assert not any(data.startswith(b"# 2026-03-17") for data in asked)
