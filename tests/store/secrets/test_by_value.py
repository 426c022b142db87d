"""A value that was found once is redacted wherever it occurs from then on, and no word is erased by that."""

import json
import re
from pathlib import Path

import pytest

from pipelines.queries.startup.fast import log_quickly
from pipelines.store.secrets.redact import load_redactor, without_secrets
from tests.conftest import Memory

VALUE = "q9Zk3LmP0xTr7Vw2"
DAY = "2026-03-18"
NOW = ("--now", f"{DAY}T23:00")


def test_a_value_goes_wherever_it_stands_before_and_after_what_told_of_it(tmp_path: Path) -> None:
    redactor = load_redactor(tmp_path)
    text = redactor.redact(f"said {VALUE} at first\nAPI_TOKEN={VALUE}\nand ({VALUE}), `{VALUE}` again").text
    assert VALUE not in text
    assert text.count("[redacted:token:") == 4
    hidden = f"{VALUE[:8]}\u200b{VALUE[8:]}"
    for later in (f"see {VALUE}.", f"https://example.org/?t={VALUE}&a=1", f'"{VALUE}"', f"see {hidden}"):
        again = load_redactor(tmp_path).redact(later).text
        assert VALUE[:8] not in again
        assert VALUE not in without_secrets(later)
    record = redactor.redact_record(json.dumps({"text": f"one\n{VALUE}\ntwo"}).encode())
    assert VALUE.encode() not in record
    assert VALUE not in (tmp_path / ".curate/secrets.jsonl").read_text()


def test_a_value_that_was_told_with_its_name_is_found_without_it(tmp_path: Path) -> None:
    text = load_redactor(tmp_path).redact(f"the key is `{VALUE}`\n- Token: `HARBOR_API_TOKEN={VALUE}`\n").text
    assert VALUE not in text


def test_a_value_that_was_kept_without_its_start_is_found_too(tmp_path: Path) -> None:
    load_redactor(tmp_path).redact(f"API_TOKEN={VALUE}")
    kept = tmp_path / ".curate/secrets.jsonl"
    kept.write_text(re.sub(r'"start": "[0-9a-f]+", ', "", kept.read_text()))
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert '"start"' not in (moved / ".curate/secrets.jsonl").read_text()
    assert VALUE not in load_redactor(moved).redact(f"see {VALUE}.").text


@pytest.mark.parametrize(
    ("assignment", "word"),
    [
        ("DB_PASSWORD=postgres", "postgres"),
        ("password: 'HarborMigration'", "HarborMigration"),
        ("client_secret = 'orders-2024-staging'", "orders-2024-staging"),
        ("API_TOKEN=[redacted:token:1f3a]", "[redacted:token:1f3a]"),
        ("PASSWORD=ab1!ab1!ab1!ab1!", "ab1!ab1!ab1!ab1!"),
    ],
)
def test_no_word_or_name_is_erased(tmp_path: Path, assignment: str, word: str) -> None:
    redactor = load_redactor(tmp_path)
    redactor.redact(assignment)
    assert redactor.redact(f"The {word} is what we use.").text == f"The {word} is what we use."


def test_a_short_value_that_no_word_looks_like_goes_too(tmp_path: Path) -> None:
    redactor = load_redactor(tmp_path)
    redactor.redact("password: 'kT4!mQ9z', password: 'hunter22', password: 'Summer2024'")
    text = redactor.redact("| backup.enc | `kT4!mQ9z` |, the hunter22 of Summer2024").text
    assert "kT4!mQ9z" not in text
    assert "the hunter22 of Summer2024" in text


def test_a_night_leaves_a_value_nowhere_and_a_sentence_without_its_value_is_no_item(memory: Memory) -> None:
    memory.write("Logs/2026-03-17.md", f"# 2026-03-17\n\n- 09:00 Fact: the gate opens with {VALUE} on Mondays.\n")
    text = f"- 09:00 API_TOKEN={VALUE}\n- 09:01 Fact: The password is kestrel-7-orders-9\n- Fact: 密码：Kestrel7!x\n"
    memory.write(f"Logs/{DAY}.md", f"# {DAY}\n\n{text}")
    memory.write("Areas/notes.md", f"# Notes\n\nI typed {VALUE} today.\n")
    memory.curate("index")
    memory.write("Resources/log-in.md", f"# Log in\n\nWith {VALUE}.\n")
    memory.curate("run", *NOW, exits=1)  # the person's own document is named, and left alone
    memory.write("Areas/notes.md", "# Notes\n\nI typed it today.\n")
    assert "Resources/log-in.md contains 1 secret" in memory.curate("run", *NOW)
    assert "Resources/log-in.md contains 1 secret" in memory.curate("status", *NOW)
    memory.write("Areas/notes.md", f"# Notes\n\nI typed {VALUE} today.\n")
    (memory.root / "Resources/log-in.md").unlink()
    for file in memory.root.rglob("*"):
        if file.is_file() and file.name != "notes.md":
            assert VALUE.encode() not in file.read_bytes(), file
    shown = memory.curate("items")
    assert "gate opens" in shown
    assert "The password is" not in shown
    assert "密码" not in shown


def test_what_git_holds_of_a_value_is_named_with_the_commands_that_purge_it(memory: Memory) -> None:
    memory.write("Areas/notes.md", f"# Notes\n\nI typed {VALUE} today.\n")
    memory.curate("run", *NOW)
    memory.curate("log", f"API_TOKEN={VALUE}", *NOW)
    said = memory.curate("secrets", "--history", exits=1)
    assert "Areas/notes.md:3" in said
    assert "filter-repo" in said
    assert VALUE not in said


def test_a_value_is_taken_back_by_its_tag(memory: Memory) -> None:
    memory.curate("log", f"the gate: API_TOKEN={VALUE}", *NOW)
    tag = memory.read(f"Logs/{DAY}.md").partition("[redacted:token:")[2][:4]
    memory.curate("secrets", "allow", tag)
    memory.curate("log", f"it is {VALUE} again, and API_TOKEN={VALUE}", *NOW)
    assert memory.read(f"Logs/{DAY}.md").count(VALUE) == 2
    memory.curate("secrets", "allow", "abcd", exits=2)


def test_a_quick_line_is_looked_through_for_values(memory: Memory) -> None:
    memory.curate("log", f"API_TOKEN={VALUE}", *NOW)
    assert log_quickly(f"said {VALUE} aloud", "", str(memory.root)) is None  # the verb proper has to look
