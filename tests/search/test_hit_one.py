"""What comes first: what answers, is live, has the words itself and is newer."""

import json
import shutil
from pathlib import Path

import pytest

from pipelines.search import embed as meaning
from tests.conftest import Memory
from tests.search.bag import Bag

PAGE = "Projects/alpha.md"
WEEK = Path(__file__).parents[2] / "examples/sample_week/Logs"


def item(number: int, text: str, *fields: str, box: str = "") -> str:
    return f"- {box}{text} <!-- {' '.join((f'k{number:010x}', 'since=2026-03-01', 'trust=self', *fields))} -->"


def page(memory: Memory, *lines: str, path: str = PAGE) -> None:
    memory.write(path, "\n".join(("# Alpha", "", *lines, "")))


def found(memory: Memory, query: str, *options: str) -> list[str]:
    said = memory.curate("search", query, "--json", *options)
    answer = json.loads(next(line for line in said.splitlines() if line.startswith("{")))
    return [hit["text"].partition("\n")[0] for hit in answer["results"]]


@pytest.fixture(name="bag")
def embedder(monkeypatch: pytest.MonkeyPatch) -> Bag:
    bag = Bag()
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, "a bag"))
    return bag


def test_live_comes_before_quiet_and_quiet_before_over(memory: Memory) -> None:
    page(
        memory,
        item(1, "Todo: Paint the crane green.", "until=2026-03-04", box="[x] "),
        item(2, "Todo: Paint the crane blue.", "quiet=2026-03-05", box="[ ] "),
        item(3, "Todo: Paint the crane, and then its hook and chain, too.", box="[ ] "),
    )
    hits = found(memory, "paint the crane")
    assert [hit.rsplit(maxsplit=1)[-1] for hit in hits] == ["too.", "blue.", "green."]
    then = found(memory, "paint the crane", "--as-of", "2026-03-02")
    assert "green." in then[0]
    assert "Todo, open" in memory.curate("search", "paint the crane green", "--as-of", "2026-03-02")
    assert "open" in next(one for one in memory.curate("items", "--as-of", "2026-03-02").splitlines() if "green" in one)
    assert "Todo, quiet" in memory.curate("search", "paint the crane blue")


def test_an_episode_comes_last(memory: Memory) -> None:
    memory.day("2026-03-02", "project: Alpha\n\n- Todo: Tar the boat.\n- Fact: The quay opens at nine.\n")
    said = memory.json("search", "tar the boat, the quay opens")["results"]
    assert [hit["kind"] for hit in said] == ["document", "document", "episode"]


def test_a_line_that_has_the_words_comes_before_the_one_beside_it(memory: Memory) -> None:
    shutil.copytree(WEEK, memory.root / "Logs", dirs_exist_ok=True)
    first, *_, last = found(memory, "why did the site move from Jekyll", "--before", "2026-03-10", "--limit", "2")
    assert first.endswith("since the Ruby setup breaks on every new laptop.")
    assert last.startswith("- 13:40 Built the site: 212 pages")


@pytest.mark.parametrize("end", ["phone:", "**phone**：", "_phone:_ "])
def test_a_line_that_announces_comes_after_what_it_announces(memory: Memory, end: str) -> None:
    lines = ("rain all day", f"Tove asked by {end}", "a plan for May as one page", "herring for lunch")
    memory.write("Logs/2026-03-02.md", "\n\n".join(("# Monday", *lines, "")))
    memory.write("Logs/2026-03-01.md", "# Sunday\n\nwind\n\nno mail\n\nran ls\n")
    assert found(memory, "the plan that Tove asked by phone")[0] == "a plan for May as one page"
    assert found(memory, "asked by phone")[0].startswith("Tove asked")


def test_of_rivals_on_a_page_the_newer_is_first(memory: Memory) -> None:
    rest = "in each of our packages, on every machine that builds one of them, and before each release of the site"
    older, newer = (item(n, f"Decision: We test with {what}, {rest}.") for n, what in ((1, "Jest"), (2, "Vitest, too")))
    page(memory, older, newer.replace("03-01", "03-09"))
    memory.write(
        "Logs/2026-03-02.md", "".join(f"- {line}\n" for line in ("wind", "rain", "no mail", "herring", "ran ls"))
    )
    assert "Vitest" in found(memory, "what do we test with")[0]
    page(memory, older.replace("03-01", "03-19"), newer.replace("03-01", "03-09"))
    assert "Jest" in found(memory, "what do we test with")[0]


@pytest.mark.parametrize(("embedder", "first"), [("local:all-MiniLM-L6-v2", "연락선"), ("test:bag", "vessel")])
def test_the_pinned_model_does_not_rank_what_it_cannot_read(
    memory: Memory, bag: Bag, embedder: str, first: str
) -> None:
    bag.name = embedder
    memory.write("Logs/2026-03-02.md", "- 연락선 in the harbour, and many other things that we saw on a long day\n")
    memory.write("Logs/2026-03-03.md", "- a vessel, a ship, a boat\n")
    memory.curate("index")
    hits = found(memory, "boat 연락선")
    assert first in hits[0]
    assert len(hits) == 2
