"""What nobody expects to be asked or to find on the disk: a clear answer each time, and never a traceback."""

import json
from pathlib import Path

import pytest

from pipelines.search import embed as meaning
from pipelines.search import read_files as reading
from pipelines.store.files import read_bytes
from tests.conftest import Memory
from tests.making import plant
from tests.search.bag import Bag

THEN = ("--now", "2026-02-01T12:00")
LOG = """- the boat sank 🎉
- 今日は東京でラーメンを食べた
- 我们同意下周发布新版本
- 내일 서울에서 만나요
- the C++ "quoted" (bracketed) AND* NEAR word^2
"""


@pytest.fixture(name="filled", params=["words", "vectors"])
def with_a_log(memory: Memory, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Memory:
    embedder = Bag() if request.param == "vectors" else None
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (embedder, "as the test says"))
    memory.write("Logs/2026-02-01.md", LOG)
    memory.write("Projects/alpha.md", "---\ntitle: Überbau Alpha\n---\nproject notes on the boat\n")
    memory.curate("index")
    return memory


def lines(said: str) -> list[str]:
    answer = next(line for line in said.splitlines() if line.startswith("{"))
    return [f"{hit['path']}:{hit['start_line']}" for hit in json.loads(answer)["results"]]


@pytest.mark.parametrize(
    "query",
    [
        "boat " * 2_000,
        "x" * 10_000,
        "?!…,;:",
        '"',
        'AND OR NOT NEAR( "unclosed',
        "boat^2 * {a b} : col:term -boat +boat",
        "' OR 1=1; DROP TABLE units; --",
        "🎉🎉🎉",
        "",
        "   ",
        "\t\n",
        "\u202e\u200b",
        "東京" * 5_000,
    ],
)
def test_any_query_is_answered(filled: Memory, query: str) -> None:
    assert isinstance(lines(filled.curate("search", "--json", query)), list)
    assert filled.curate("search", query)


@pytest.mark.parametrize("left", ["vanished", "a folder", "a link"])
def test_a_file_that_goes_while_it_is_read(
    filled: Memory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, left: str
) -> None:
    gone = filled.write("Areas/gone.md", "the boat is a secret\n")
    plant(tmp_path, "outside.md", "the boat outside\n")

    def read(root: Path, path: str) -> bytes | None:
        if path == "Areas/gone.md" and gone.is_file() and not gone.is_symlink():
            gone.unlink()
            if left == "a folder":
                gone.mkdir()
            elif left == "a link":
                gone.symlink_to(tmp_path / "outside.md")
        return read_bytes(root, path)

    monkeypatch.setattr(reading, "read_bytes", read)
    for _ in range(2):
        said = filled.curate("search", "boat", "--json")
        assert not [place for place in lines(said) if "gone" in place]
    assert "outside" not in filled.curate("search", "outside", "--json").partition('"results"')[2]
    filled.curate("index")


def test_a_link_out_of_the_memory_is_named_and_never_read(filled: Memory, tmp_path: Path) -> None:
    plant(tmp_path, "outside.md", "the boat outside\n")
    (filled.root / "Areas/link.md").symlink_to(tmp_path / "outside.md")
    (filled.root / "Areas/folder").symlink_to(tmp_path)
    assert "Areas/link.md is a symbolic link, which is never followed." in filled.curate("index")
    assert "outside" not in filled.curate("search", "boat outside", "--json").partition('"results"')[2]


def test_as_of_in_an_empty_memory(memory: Memory) -> None:
    assert memory.curate("search", "boat", "--as-of", "2020-01-01").startswith("Nothing was found.")


@pytest.mark.parametrize("name", ["Überbau Alpha", "überbau alpha", "ÜBERBAU ALPHA", "alpha", "Alpha"])
def test_a_project_is_meant_by_its_title_or_its_file_in_any_case(filled: Memory, name: str) -> None:
    filled.write("Logs/2026-02-02.md", "project: alpha\n\n- the boat is ours\n")
    filled.write("Logs/2026-02-03.md", "project: Überbau Alpha\n\n- the boat is theirs\n")
    filled.write("Logs/2026-02-04.md", "project: Beta\n\n- the boat of others\n")
    found = lines(filled.curate("search", "boat", "--project", name, "--json"))
    assert set(found) == {"Logs/2026-02-02.md:3", "Logs/2026-02-03.md:3", "Projects/alpha.md:4"}


def test_a_project_that_is_not_there_is_said_with_the_nearest_name(filled: Memory) -> None:
    for asked in (["boat project:alpah"], ["boat", "--project", "alpah"]):
        said = filled.curate("search", *asked)
        assert "There is no project alpah. Did you mean alpha?" in said
        assert ("the boat sank" in said) == (len(asked) == 1)
    assert "no project" not in filled.curate("search", "boat project:alpha") + filled.curate("search", "boat")
    assert filled.curate("search", "project:zzz").startswith(("Nothing was found.", "Little was found"))


def test_vectors_of_another_model_are_not_used(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.write("Logs/2026-02-01.md", LOG)
    bag = Bag()
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, "a bag"))
    memory.curate("index")
    bag.dimension = 32
    said = memory.curate("search", "boat")
    assert "uses words" in said
