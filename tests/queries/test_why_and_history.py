"""`curate why`: beliefs lead back to words, a run and a commit, changes to who made them."""

from pathlib import Path

from pipelines import Memory as Opened
from pipelines.mcp import memory_why
from tests.conftest import Memory
from tests.queries.making import asked, ids, story


def test_why_leads_from_the_item_to_the_words_of_the_session(memory: Memory, tmp_path: Path) -> None:
    ident = story(memory, tmp_path)
    told = asked(memory, "why", ident[:5])
    assert (told["id"], told["document"], told["text"]) == (ident, "Areas/databases.md", "Orders go to Postgres 17.")
    (evidence,) = told["evidence"]
    assert "Decision: Orders go to Postgres 16." in evidence["quote"]
    assert evidence["path"] == "Logs/2026-03-10.md"
    record = evidence["record"]
    assert (record["role"], record["text"]) == ("user", "Decision: Orders go to Postgres 16.")
    assert (record["line"], record["time"]) == (2, "2026-03-10T09:01:00+00:00")
    assert told["by"] is None  # a person reworded it: the words are the owner's now
    brought = told["versions"][0]
    first = memory.git("rev-list", "--reverse", "--grep=^Run-Id", "HEAD").split()[0]
    assert (brought["commit"], brought["day"], brought["by"]) == (first, "2026-03-11", "run")
    assert brought["run"] == asked(memory, "runs")[-1]["run"]

    said = memory.curate("why", ident)
    assert "| Decision: Orders go to Postgres 16." in said
    assert f"said by the user, 2026-03-10T09:01:00+00:00, in {record['path']}:2" in said
    assert f"filed\n    run {brought['run']}, commit {first[:10]}" in said
    assert "written by a person" in said


def test_why_gives_the_models_reason(memory: Memory) -> None:
    memory.write(
        "Projects/alpha.md",
        "- Fact: The port is 8080. <!-- k111111111a since=2026-03-10 reason=clients%20need%20it -->\n",
    )
    said = memory.curate("why", "k111")
    assert "kept because: clients need it" in said
    assert asked(memory, "why", "k111")["reason"] == "clients need it"
    assert "kept because: clients need it" in memory.curate("history", "k111")
    assert asked(memory, "history", "k111")["versions"][0]["reason"] == "clients need it"
    assert "\n  kept because: clients need it\n" in memory_why(Opened(memory.root), "k111")


def test_a_transcript_that_is_gone_is_said(memory: Memory, tmp_path: Path) -> None:
    ident = story(memory, tmp_path)
    next((memory.root / "Sessions").rglob("*.jsonl")).unlink()
    assert "which cannot be read on this machine" in memory.curate("why", ident)


def test_words_of_others_steer_no_terminal(memory: Memory) -> None:
    memory.day("2026-03-10", "- Fact: The port is 8080. \x1b[2Jgone\n")
    (item,) = asked(memory, "items")
    assert "\x1b" not in memory.curate("why", item["id"])


def test_history_tells_every_wording_and_place_and_who_changed_it(memory: Memory, tmp_path: Path) -> None:
    ident = story(memory, tmp_path)
    told = asked(memory, "history", ident[:6])
    told_by = [(one["by"], one["document"], one["text"]) for one in told["versions"]]
    assert told_by[:2] == [
        ("run", "Projects/harbor.md", "Orders go to Postgres 16."),
        ("person", "Projects/harbor.md", "Orders go to Postgres 17."),
    ]
    assert ("person", "Areas/databases.md", "Orders go to Postgres 17.") in told_by
    changed = [one["changed"] for one in told["versions"]]
    assert changed[0] == ["filed"]
    assert changed[1] == ["reworded"]
    assert ["moved from Projects/harbor.md"] in changed
    assert [one["day"] for one in told["versions"]] == sorted(one["day"] for one in told["versions"])
    assert all(memory.git("cat-file", "-t", one["commit"]).strip() == "commit" for one in told["versions"])
    said = memory.curate("history", ident)
    assert "a person (" in said
    assert "Decision: Orders go to Postgres 17." in said


def test_history_goes_on_to_what_is_not_committed_and_to_what_was_deleted(memory: Memory) -> None:
    memory.day("2026-03-10", "- Fact: The port is 8080.\n- Fact: The host is kiel.\n")
    known, path = ids(memory), asked(memory, "items")[0]["document"]
    before = memory.read(path)
    memory.write(path, before.replace("8080", "9090"))
    last = asked(memory, "history", known["The port is 8080."])["versions"][-1]
    assert (last["commit"], last["by"], last["text"]) == (None, "person", "The port is 9090.")
    reworded = before.replace("8080", "9090").splitlines(keepends=True)
    memory.write(path, "".join(line for line in reworded if "kiel" not in line))
    memory.night("2026-03-12T02:00")
    changed = [one["changed"] for one in asked(memory, "history", known["The port is 8080."])["versions"]]
    assert any("trust self to owner" in one for one in changed)
    gone = known["The host is kiel."]
    told = asked(memory, "history", gone)
    assert told["gone"] == {"day": "2026-03-12", "reason": "deleted"}
    assert [(one["changed"], one["commit"] is None) for one in told["versions"]] == [
        (["filed"], False), (["removed"], False),
    ]  # fmt: skip
    assert "It is gone: it was deleted on 2026-03-12." in memory.curate("history", gone)
    assert Opened(memory.root).why(gone).holding is None


def test_a_forgotten_item_keeps_its_words_to_itself(memory: Memory) -> None:
    memory.day("2026-03-10", "- Fact: Her name is Undine.\n")
    (item,) = asked(memory, "items")
    text = memory.read(item["document"])
    line = next(row for row in text.splitlines(keepends=True) if item["id"] in row)
    memory.write(item["document"], text.replace(line, ""))
    memory.night("2026-03-12T02:00")
    stones = memory.read("State/tombstones.jsonl").replace('"deleted"', '"forgotten"')
    memory.write("State/tombstones.jsonl", stones)
    for told in (memory.curate("history", item["id"]), memory.curate("history", item["id"], "--json")):
        assert "Undine" not in told
        assert "forgotten" in told


def test_what_people_put_into_commits_and_attributes_blinds_no_history(memory: Memory) -> None:
    memory.write(".gitattributes", "*.md binary\n")
    memory.day("2026-03-10", "- Fact: The port is 8080.\n")
    (item,) = asked(memory, "items")
    path = item["document"]
    memory.write(path, memory.read(path).replace("8080", "9090") + "a\0b\n")
    memory.git("add", "-A")
    memory.git("-c", "user.name=A\x1fda", "-c", "user.email=a@localhost", "commit", "-qm", "more\x1fports")
    versions = asked(memory, "history", item["id"])["versions"]
    assert [one["changed"] for one in versions] == [["filed"], ["reworded"]]
    assert versions[1]["by"] == "person"


def test_history_follows_resets_and_merges(memory: Memory) -> None:
    memory.write("Projects/alpha.md", "# Alpha\n\n- Fact: The port is 8080. <!-- k1111111111 since=2026-03-10 -->\n")
    memory.night("2026-03-11T02:00")

    def told() -> list[str]:
        return [change for one in asked(memory, "history", "k111")["versions"] for change in one["changed"]]

    assert len(told()) == 1
    memory.curate("pin", "k111", "--now", "2026-03-11T09:00")
    assert told()[1:] == ["pinned"]
    memory.git("branch", "pinned")
    memory.git("reset", "--hard", "--quiet", "HEAD~1")
    assert len(told()) == 1
    memory.curate("correct", "k111", "The port is 8081.", "--now", "2026-03-11T10:00")
    memory.git("merge", "--quiet", "--strategy=ours", "--no-edit", "pinned")
    memory.curate("move", "k111", "MEMORY", "--now", "2026-03-11T11:00")
    assert "moved" in " ".join(told())


def test_an_edit_that_a_run_took_over_is_committed_though_its_page_changed_elsewhere_too(memory: Memory) -> None:
    memory.day("2026-03-10", "project: Alpha\n\n- Decision: Use Jest.\n")
    page = (
        memory.read("Projects/alpha.md")
        .replace("Jest", "Vitest")
        .replace("Decisions", "Decisions\n\n- Decision: Tabs.")
    )
    (memory.root / "Projects/alpha.md").write_text(page)
    memory.night("2026-03-12T02:00")
    versions = asked(memory, "history", "Vitest")["versions"]
    assert [bool(one["commit"]) for one in versions] == [True, True, True]
