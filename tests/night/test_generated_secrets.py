"""What a run makes itself never holds a secret, and what would hold one does not keep the rest from being written."""

from pathlib import Path

from pipelines.store.secrets.find import find_secrets
from tests.conftest import Memory
from tests.extract.programs import exec_reader, said

NAMED, RANDOM = "The staging token belongs to the gate", "qwErTyUi7OpAsDf9GhJkLz is how the deploy is named"
DAY = f"project: Kestrel\n\n- Fact: {NAMED}.\n- Fact: {RANDOM}.\n- Decision: The fence is green.\n"
LEAK = "password: Kes7rel!9x"


def written(memory: Memory) -> str:
    """Return all that git holds now, after looking for secrets in it."""
    texts = [memory.git("show", f"HEAD:{path}") for path in memory.git("ls-files").splitlines()]
    assert not any(find_secrets(text.encode()) for text in texts)
    assert memory.git("status", "--porcelain") == ""
    return "\n".join(texts)


def test_two_harmless_lines_that_read_as_a_secret_in_one_sentence_do_not_stop_the_night(memory: Memory) -> None:
    memory.day("2026-03-17", DAY)
    text = written(memory)
    assert all(f"Fact: {words}." in text for words in (NAMED, RANDOM))
    assert "Decided: The fence is green." in text
    files = memory.files()
    memory.night("2026-03-18T03:00")
    assert memory.files() == files, "nothing new changes no byte"


def test_states_and_rows_are_left_out_too_and_no_command_stops(memory: Memory) -> None:
    rows = "".join(f"- Todo: {words}.\n" for words in (NAMED, RANDOM))
    rows += "".join(f"- Fact: Board {number} of the fence is cut.\n" for number in range(12))
    memory.day("2026-03-17", f"project: Kestrel\n\n{rows}")
    items = {one["text"]: one["id"] for one in memory.json("items")}
    assert {f"{NAMED}.", f"{RANDOM}."} <= items.keys()
    memory.curate("pin", items[f"{RANDOM}."], "--now", "2026-03-18T08:00")
    memory.curate("add", "Fact", "The yard is paved.", "--now", "2026-03-18T08:01")
    written(memory)
    memory.curate("undo", "--now", "2026-03-18T08:02")
    memory.curate("undo", "--now", "2026-03-18T08:03")
    written(memory)


def test_a_secret_that_only_two_sentences_make_is_not_looked_for_from_then_on(memory: Memory) -> None:
    memory.day("2026-03-17", DAY)
    memory.day("2026-03-18", f"project: Kestrel\n\n- Fact: Again, {RANDOM}.\n")
    assert "[redacted:" not in written(memory)


def test_an_item_in_which_a_model_writes_a_secret_is_left_out_and_the_rest_is_filed(
    memory: Memory, tmp_path: Path
) -> None:
    memory.write("Logs/2026-03-17.md", "- We chose brass for the hinge.\n- The staging gate got a new lock.\n")
    items = [
        said(1, "Decision", "Brass is used for the hinge."),
        said(2, "Fact", "The staging gate got a new lock.", LEAK),
        said(2, "Fact", f"The staging gate got a new lock: {LEAK}."),
    ]
    provider = exec_reader(tmp_path, {"items": items, "operations": []})
    told = memory.curate("run", "--provider", provider, "--now", "2026-03-18T02:00")
    text = written(memory)
    assert "Decision: Brass is used for the hinge." in text
    assert "Kes7rel" not in text
    assert "dropped: it would hold a secret" in told
