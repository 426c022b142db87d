"""What a search finds, and in which order."""

from pathlib import Path

import pytest

from tests.conftest import Memory, Once
from tests.contract.story import (
    ALPHA,
    DAY,
    MARA,
    NEXT,
    PORT,
    THIRD,
    asked,
    found,
    held,
    night,
    reline,
    session,
)  # fmt: skip

LATER = (
    "Fact: The office dog is called Biscuit.", "Decision: Fares are stored in öre, as integers.",
    "Fact: Odile prefers calls before noon.", "Rule: Deploys need two approvals.", "Todo: Renew the TLS certificate",
)  # fmt: skip


def second_night(memory: Memory) -> None:
    night(memory, NEXT, *LATER, project="Harbor")


@pytest.fixture
def told(told: Memory, once: Once) -> Memory:  # noqa: ARG001  it comes before
    """Return a memory that has two nights behind it."""
    return once(second_night)


def test_an_item_hides_no_other_words_of_its_turn(memory: Memory, tmp_path: Path) -> None:
    turn = "My name is Ines. The shop is built with SvelteKit, and next week we set up a test runner for it."
    memory.curate("capture", str(session(tmp_path / "s.jsonl", ("user", turn))), "--now", f"{DAY}T12:00")
    night(memory, DAY)
    assert held(memory) == {"My name is Ines."}
    assert "test runner" in found(memory, "test runner")[0]["text"]
    assert found(memory, "Ines")[0]["text"].endswith("My name is Ines.")


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        ("which port does the gateway use", PORT), ("gateway port", PORT), ("GATEWAY LISTENS", PORT), ("8080", PORT),
        ("what is the dog's name", "The office dog is called Biscuit."), ("dogs", "The office dog is called Biscuit."),
        ("how are fares stored", "Fares are stored in öre, as integers."),
        ("öre", "Fares are stored in öre, as integers."),
        ("when does Odile like to be called", "Odile prefers calls before noon."),
        ("approvals for a deploy", "Deploys need two approvals."), ("tls cert", "Renew the TLS certificate"),
    ],
)  # fmt: skip
def test_the_first_hit_answers(told: Memory, words: str, answer: str) -> None:
    assert answer.rstrip(".") in found(told, words)[0]["text"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("Fact: The street is Straße des Friedens.", "strasse friedens"), ("Fact: Ring the café at noon.", "cafe"),
        ("Fact: 会議は毎週月曜日の朝です。", "月曜日"),
        ("Fact: The parser lives in parseConfigFile.", "config file parser"),
        ("Fact: 서울 사무실은 강남에 있다.", "\u1100\u1161\u11bc\u1102\u1161\u11b7"),
        ("Fact: Das Handbuch liegt im Büro.", "handbuch büro"), ("Fact: Запуск в понедельник.", "ЗАПУСК"),
    ],
)  # fmt: skip
def test_words_are_found_in_any_script_and_spelling(told: Memory, line: str, words: str) -> None:
    night(told, THIRD, line)
    assert line.partition(": ")[2].rstrip(".。") in found(told, words)[0]["text"]


def test_what_holds_stands_before_what_no_longer_does(told: Memory) -> None:
    told.curate("correct", "8080", "The gateway listens on port 9090.", "--now", "2026-03-12T09:00")
    texts = [hit["text"] for hit in found(told, "gateway port")]
    new, old = (next(n for n, text in enumerate(texts) if port in text) for port in ("9090", "8080"))
    assert new < old


def test_a_todo_that_is_done_stands_below_an_open_one(told: Memory) -> None:
    night(told, THIRD, "Todo: Tell Mara about the kettle", f"Done: {MARA}")
    texts = [hit["text"] for hit in found(told, "tell Mara")]
    assert "kettle" in texts[0]


def test_the_item_stands_before_the_line_that_it_came_from(told: Memory) -> None:
    hits = found(told, "gateway listens port 8080")
    assert hits[0]["path"] == ALPHA


def test_the_newer_of_two_equals_is_first(memory: Memory) -> None:
    night(memory, DAY, "Fact: Lunch on the first floor was soup.")
    night(memory, THIRD, "Fact: Lunch on the second floor was soup.")
    assert "second" in found(memory, "lunch soup")[0]["text"]


def test_nothing_is_kept_back_that_has_the_words(told: Memory) -> None:
    assert any("Biscuit" in hit["text"] for hit in found(told, "the colour of Biscuit the parrot"))


def test_a_search_narrows_by_type_status_project_and_day(told: Memory) -> None:
    only = ("--project", "harbor", "--source", "document")
    assert {hit["path"] for hit in found(told, "the", *only)} == {"Projects/harbor.md"}
    assert {tuple(hit["types"]) for hit in found(told, "the", "--type", "todo")} == {("Todo",)}
    assert {hit["date"] for hit in found(told, "the", "--since", NEXT, "--source", "log")} == {NEXT}


def test_a_session_is_found_by_what_was_said_in_it(told: Memory) -> None:
    turns = [("user", "Why is the lighthouse dark?"), ("assistant", "The lamp's fuse blew at nine.")]
    told.curate("capture", str(session(told.root.parent / "s.jsonl", *turns, day=THIRD)), "--now", f"{THIRD}T12:00")
    assert any("fuse blew" in hit["text"] for hit in found(told, "lamp fuse lighthouse"))


def test_notes_at_any_place_are_found(told: Memory) -> None:
    told.write("notes/idea.md", "# Idea\n\nA lighthouse that tweets.\n")
    told.write("Resources/manual.txt", "The winch takes grade 46 oil.\n")
    told.write("Resources/chart.png.md", "A chart of the tides at Brest.\n")
    (told.root / "Resources/chart.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    told.curate("index")
    for words, path in (("lighthouse tweets", "notes/idea.md"), ("winch oil", "Resources/manual.txt"),
                        ("tides Brest", "Resources/chart.png")):  # fmt: skip
        assert path in found(told, words)[0]["path"]


def test_the_index_may_be_thrown_away(told: Memory) -> None:
    def answers() -> list[tuple[str, int]]:
        return [(hit["path"], hit["start_line"]) for hit in found(told, "gateway port")]

    before = answers()
    for path in (told.root / ".curate").glob("*"):
        if path.is_file() and path.suffix in {".db", ".npy", ".bin"}:
            path.unlink()
    assert answers() == before
    (told.root / ".curate/index.db").write_bytes(b"no database")
    told.curate("index")
    assert answers() == before


def test_a_full_build_equals_the_grown_index(told: Memory) -> None:
    def all_hits() -> list[tuple[str, str]]:
        return [(hit["path"], hit["text"]) for words in ("gateway", "Odile", "deploy") for hit in found(told, words)]

    told.write("notes/idea.md", "# Idea\n\nOdile wants a gateway.\n")
    told.curate("index")
    reline(told, PORT, lambda line: line.replace("8080", "9090"))
    told.curate("index")
    grown = all_hits()
    told.curate("index", "--full")
    assert all_hits() == grown


def test_what_was_held_on_a_day_is_asked_by_that_day(told: Memory) -> None:
    night(told, THIRD, "Correction: the gateway listens on port 9090, not 8080")
    assert PORT in told.curate("items", "--as-of", NEXT)
    assert PORT not in held(told)


def test_search_says_so_when_nothing_has_any_of_the_words(told: Memory) -> None:
    assert asked(told, "search", "xylophone")["results"] == []


def test_a_search_narrows_by_whose_word_it_is(told: Memory) -> None:
    told.curate("add", "Fact", "The gateway is grey.", "--now", "2026-03-12T09:00")
    hits = found(told, "gateway", "--trust", "owner")
    assert [hit["text"] for hit in hits if "gateway" in hit["text"]]
    assert not any("8080" in hit["text"] for hit in hits)


def test_a_search_as_of_a_day_shows_what_held_on_it_alone(told: Memory) -> None:
    night(told, THIRD, "Correction: the gateway listens on port 9090, not 8080")
    only = ("gateway port", "--source", "document", "--as-of")
    assert ["8080" in hit["text"] for hit in found(told, *only, NEXT)][:1] == [True]
    assert not any("8080" in hit["text"] for hit in found(told, *only, "2026-03-13"))


def test_what_git_ignores_is_not_searched(told: Memory) -> None:
    told.write("notes/.gitignore", "private/\n")
    told.write("notes/private/x.md", "The winch is stolen.\n")
    told.write("notes/open.md", "The winch is rented.\n")
    told.curate("index")
    texts = [hit["text"] for hit in found(told, "winch")]
    assert any("rented" in text for text in texts)
    assert not any("stolen" in text for text in texts)
