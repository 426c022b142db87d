"""What comes first: what answers, is live, has the words itself and is newer; and what each setting moves."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipelines import clock
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


def rank(memory: Memory, **keys: object) -> None:
    memory.write("curate.toml", "[search]\n" + "".join(f"{key} = {json.dumps(keys[key])}\n" for key in keys))


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


def test_a_few_words_are_not_an_answer_because_they_are_near(memory: Memory, bag: Bag) -> None:
    memory.write("Logs/2026-03-02.md", "- vessel\n")
    memory.write("Logs/2026-03-03.md", "- a ship sailed from here\n")
    assert bag.name in memory.curate("index")
    assert found(memory, "boat") == ["- a ship sailed from here", "- vessel"]


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


@pytest.mark.parametrize("share", [0.1, 0.9])
def test_the_share_of_meaning_moves_a_hit(memory: Memory, bag: Bag, share: float) -> None:
    assert bag.name
    memory.write("Logs/2026-03-02.md", "- the boat was here for the whole of the long day and nobody saw it at all\n")
    memory.write("Logs/2026-03-03.md", "- vessel or ship: a vessel, a ship\n")
    memory.curate("index")
    rank(memory, vector_weight=share)
    assert ("boat" in found(memory, "boat weather")[0]) == (share < 0.5)
    assert "boat" in found(memory, "boat")[0]  # one word is a name: what has it is first


def test_ranks_can_be_fused_instead_of_scores(memory: Memory, bag: Bag) -> None:
    assert bag.name
    # The first has most of the words, and the others are hardly worse in meaning; by ranks, the second is best.
    memory.write("Logs/2026-03-02.md", "- kelp and tar, and much else that was said of other things\n")
    memory.write("Logs/2026-03-03.md", "- the kelp is on the vessel and the ship\n")
    memory.write("Logs/2026-03-04.md", "- a vessel, a ship\n- herring\n")
    memory.curate("index")
    hits = {}
    for fusion in ("weighted", "rrf"):
        rank(memory, fusion=fusion, vector_weight=0.2)
        hits[fusion] = found(memory, "kelp tar boat")
    assert "much else" in hits["weighted"][0]
    assert "much else" not in hits["rrf"][0]
    assert {*hits["weighted"]} == {*hits["rrf"]}


def test_diversity_brings_what_is_unlike_up(memory: Memory) -> None:
    for day in ("2026-03-02", "2026-03-03"):
        memory.write(f"Logs/{day}.md", f"# {day}\n\n- the boat leaks and we bail it\n")
    memory.write("Logs/2026-03-04.md", "- a boat was painted red by Mara in the yard on Friday afternoon, with oil\n")
    assert "red" in found(memory, "boat leaks")[2]
    rank(memory, mmr=0.5)
    assert "red" in found(memory, "boat leaks")[1]
    assert len(found(memory, "boat leaks")) == 3


def test_what_is_old_fades_in_dated_files_alone(memory: Memory) -> None:
    memory.write("Logs/2026-01-02.md", "- the boat leaks\n")
    memory.write("Logs/2026-03-04.md", "- the boat leaks, says Mara, who saw it\n")
    page(memory, "The boat, which leaks, was built for the harbour before any of us was there to see it.")
    assert "Mara" not in found(memory, "boat leaks")[0]
    rank(memory, half_life_days=7)
    hits = found(memory, "boat leaks")
    assert "Mara" in hits[0]
    assert hits[2] == "- the boat leaks"
    assert found(memory, "boat leaks", "--as-of", "2026-01-03") == ["- the boat leaks"]


def test_what_was_found_before_comes_first_until_that_fades(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for day, line in enumerate(
        ("the boat leaks, says Mara", "the windows were closed", "the boat leaks", "herring"), 2
    ):
        memory.write(f"Logs/2026-03-0{day}.md", f"- {line}\n")
    found(memory, "Mara says what?")
    assert not (memory.root / ".curate/found").exists()
    assert "Mara" not in found(memory, "boat leaks")[0]

    def on(day: str) -> None:
        now = datetime.fromisoformat(day).replace(tzinfo=UTC)
        monkeypatch.setattr(clock, "moment", lambda *_: now)

    rank(memory, access=0.9)
    on("2026-03-05")
    for _ in range(3):
        found(memory, "Mara says what?", "--limit", "1")
    assert "Mara" in found(memory, "boat leaks", "--limit", "1")[0]
    on("2027-03-05")
    for _ in range(2):
        found(memory, "herring", "--limit", "1")
    assert "Mara" not in found(memory, "boat leaks")[0]
    assert set(memory.git("status", "--porcelain").split()) == {"??", "M", "Logs/", "curate.toml"}


def test_what_was_found_is_kept_in_little_room(memory: Memory) -> None:
    memory.write("Logs/2026-03-02.md", "- the boat leaks\n")
    rank(memory, access=0.1)
    kept = memory.root / ".curate/found"
    found(memory, "boat")
    kept.write_bytes(b"2026-03-01 k0000000001 k0000000002\n" * 2000)
    found(memory, "boat")
    assert 0 < kept.stat().st_size <= 32_768
    kept.unlink()
    kept.symlink_to(memory.write("elsewhere", "mine"))
    assert found(memory, "boat") == ["- the boat leaks"]
    assert memory.read("elsewhere") == "mine"


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("fusion", "maybe", "it should be 'weighted' or 'rrf'"),
        ("vector_weight", 7, "less than or equal to 1"),
        ("mmr", -1, "greater than or equal to 0"),
        ("half_life_days", -3, "greater than or equal to 0"),
        ("access", "much", "a valid number"),
    ],
)
def test_a_bad_setting_is_named_with_what_would_be_right(memory: Memory, key: str, value: object, said: str) -> None:
    rank(memory, **{key: value})
    told = " ".join(memory.curate("search", "boat", exits=1).split())
    assert f"search.{key}: " in told
    assert said in told
