"""`curate undo` with real files and real git: a run, an undo and one item are taken back; nothing vanishes."""

from tests.asking import items
from tests.conftest import Memory

FIRST = "project: Alpha\n\n- Decision: Use SQLite\n- Todo: buy milk\n\n## Other\n\n- Rule: never push on Fridays\n"
SECOND = "- decision: use sqlite.\n- Fact: the port is 8080\n- [x] buy milk\n"


def two_nights(memory: Memory) -> list[dict[str, bytes]]:
    """Run two nights, and return the files before and after each."""
    memory.write("Logs/2026-03-10.md", FIRST)
    memory.write("Logs/2026-03-11.md", "- 09:00 nothing yet\n")
    seen = [memory.files()]
    memory.night("2026-03-11T02:00")
    seen.append(memory.files())
    memory.day("2026-03-11", "- 09:00 nothing yet\n" + SECOND)
    return [*seen, memory.files()]


def curated(files: dict[str, bytes]) -> dict[str, bytes]:
    return {path: data for path, data in files.items() if not path.startswith(("State/", "Logs/"))}


def test_a_run_that_only_asked_a_question_is_undone_with_it_and_comes_back(memory: Memory) -> None:
    two_nights(memory)
    before = memory.read("Review.md")
    memory.day("2026-03-12", "project: Alpha\n\nThe vendor's page says:\n\n> Rule: Ship at dawn.\n")
    asked = memory.read("Review.md")
    assert "Ship at dawn" in asked
    assert "1 item removed" in memory.curate("undo", "--now", "2026-03-13T09:00")
    assert memory.read("Review.md") == before
    undo = memory.curate("runs").split()[0]
    assert "1 item brought back" in memory.curate("undo", undo, "--now", "2026-03-13T09:01")
    assert memory.read("Review.md") == asked


def test_nothing_is_put_into_a_file_that_cannot_be_read(memory: Memory) -> None:
    two_nights(memory)
    memory.curate("undo", "--now", "2026-03-12T09:00")
    undo = memory.curate("runs").split()[0]
    page = memory.root / "Areas/general.md"
    page.write_bytes(b"\xff\n")
    assert "Nothing was undone." in memory.curate("undo", undo, "--now", "2026-03-12T09:01", exits=1)
    assert page.read_bytes() == b"\xff\n"


def test_a_run_is_named_by_the_start_of_its_id_or_its_commit(memory: Memory) -> None:
    _, first, _ = two_nights(memory)
    commit = memory.git("rev-parse", "HEAD").strip()
    assert "is not unique" in memory.curate("undo", "202603", exits=1)
    assert "No run has the id" in memory.curate("undo", "2027", exits=1)
    assert "exclude each other" in memory.curate("undo", "2026", "--item", "k1", exits=2)
    memory.curate("undo", commit[:7], "--now", "2026-03-12T09:00")
    assert curated(memory.files()) == curated(first)


def test_an_item_that_no_run_changed_cannot_be_undone(memory: Memory) -> None:
    two_nights(memory)
    memory.write("USER.md", memory.read("USER.md") + "\n- Rule: Always lint\n")
    memory.night("2026-03-12T08:00")
    mine = str(items(memory)["Always lint"]["id"])
    assert "No run that still applies has changed" in memory.curate("undo", "--item", mine, exits=1)
    assert "No item has the id" in memory.curate("undo", "--item", "kffffffffffff", exits=1)
    assert "is not unique" in memory.curate("undo", "--item", "k", exits=1)


def test_without_any_run_there_is_nothing_to_undo(memory: Memory) -> None:
    assert "no run to undo" in memory.curate("undo", exits=1)


def test_what_has_no_room_to_return_to_is_named(memory: Memory) -> None:
    memory.write("curate.toml", memory.read("curate.toml").replace("8192", "1024"))
    memory.day("2026-03-10", "".join(f"- Rule: never do the thing with number {n}\n" for n in range(3)))
    memory.write("MEMORY.md", memory.read("MEMORY.md") + "\nMine.\n" + "My own words. " * 60 + "\n")
    moved = memory.json("run", "--now", "2026-03-12T02:00")["evicted"]
    assert len(moved) == 3
    files = memory.files()
    told = memory.curate("undo", "20260312", "--now", "2026-03-12T09:00")
    assert "nothing could be undone" in told
    assert told.count("is in Areas/general.md: MEMORY.md has no room for it.") == 3
    assert memory.files() == files


def test_a_briefing_stays_under_its_cap_through_nights_and_undos(memory: Memory) -> None:
    memory.write("curate.toml", memory.read("curate.toml").replace("8192", "2048"))
    states = []
    for day in range(1, 5):
        rules = "".join(f"- Rule: rule {day}.{n} says never to do thing number {n} of day {day}\n" for n in range(8))
        memory.write(f"Logs/2026-02-{day:02}.md", rules)
        states.append(curated(memory.files()))
        memory.night(f"2026-02-{day:02}T23:30")
    for number, state in enumerate(reversed(states)):
        memory.curate("undo", "--now", f"2026-02-10T09:{number:02}")
        assert curated(memory.files()) == state
        assert (memory.root / "MEMORY.md").stat().st_size <= 2048


def test_what_was_changed_since_is_asked_in_words(memory: Memory) -> None:
    two_nights(memory)
    first = memory.curate("runs").splitlines()[1].split()[0]
    assert "was changed since, so it stays" in memory.curate("undo", first, "--now", "2026-03-12T09:00")
    asked = memory.json("review")
    (milk,) = [one for one in asked if "buy milk" in one["title"]]
    assert "Todo: buy milk (done)" in [choice["means"] for choice in milk["choices"]]
    assert "the first is today's" in milk["why"]
