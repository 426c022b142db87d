"""What people ask for is found, by the words they use; what no longer holds is not."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.searching import search
from pipelines.search import build as fresh_module
from pipelines.search.build import freshen, update_index
from pipelines.search.filters import Filters
from pipelines.search.query import SearchRequest
from pipelines.search.schema import writer_lock
from tests.making import plant

LOG = """# 2023-05-08

## 13:56 session 1

- **Ann:** I painted the lake at sunrise.
- **Bob:** Lovely! Which colours?
- **Ann:** Mostly ochre.

## Later

- We agreed to release v1.2.3 on Monday. #release
- 今日は東京でラーメンを食べた
- See alpha-notes.md for the rest.
"""
FROM = "from=Logs/2026-02-11.md#L42~9c1e55aa reason=the%20platform"
PROJECT = f"""---
title: Alpha Station
---
## Decisions

- Decision: Use Terraform for the servers. <!-- k7f3a9c2b10 since=2026-02-11 trust=self confidence=medium {FROM} -->
- [ ] Todo: Ask legal about the servers. <!-- k55b01aa07c since=2026-03-18 trust=owner confidence=high -->

## History

- ~~Decision: Use Pulumi for the servers.~~ <!-- k1c02d9e441 until=2026-02-11 superseded-by=k7f3a9c2b10 -->
"""


@pytest.fixture(name="root")
def filled(root: Path) -> Path:
    for path, text in {"Logs/2023-05-08.md": LOG, "Projects/alpha-notes.md": PROJECT}.items():
        plant(root, path, text)
    update_index(root)
    return root


def found(root: Path, query: str, limit: int = 20) -> list[str]:
    return [f"{hit.path.partition('/')[0]}:{hit.start_line}" for hit in search(root, query, limit)]


@pytest.mark.parametrize("query", ["PostgreSQL", "databases postgresql", "使用PostgreSQL", "py3.11", "2024"])
def test_a_word_is_found_where_no_blank_parts_it_from_another_script(root: Path, query: str) -> None:
    plant(root, "Projects/beta.md", "開発\n\n- 決定使用PostgreSQL而不是、py3.11版、2024年\n")
    update_index(root)
    assert found(root, query)[:1] == ["Projects:3"]


def test_a_day_is_found_as_people_say_it(root: Path) -> None:
    assert set(found(root, "What happened in May?")) == {f"Logs:{line}" for line in (5, 6, 7, 11, 12, 13)}
    assert found(root, "June") == []


def test_a_file_name_finds_its_units_and_who_names_it(root: Path) -> None:
    assert set(found(root, "alpha-notes.md")) == {"Logs:13", "Logs:12", "Projects:6", "Projects:7"}


def test_a_part_of_a_file_name_without_blanks_finds_its_units(root: Path) -> None:
    plant(root, "Areas/資料庫設計AWS.md", "Nothing else says it.\n")
    update_index(root)
    assert found(root, "資料庫") == found(root, "設計") == found(root, "AWS") == ["Areas:1"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(max_size=60) | st.text(alphabet='"*()^:+-#k7f3 ', max_size=30))
def test_any_text_is_answered(root: Path, query: str) -> None:
    assert len(search(root, query, 3)) <= 3


def test_what_cannot_be_indexed_now_is_left_out_and_said(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh_module, "FRESH_PATIENCE", 0.0)
    plant(root, "Logs/2023-05-08.md", "- kiwi\n")
    with writer_lock(root, 0.0):
        fresh = freshen(root)
    assert fresh.stale == {"Logs/2023-05-08.md"}
    assert fresh.notes[0].startswith("1 file changed and is left out of this answer.")
    assert search(root, "lake", 5, fresh.stale) == []
    monkeypatch.setattr(fresh_module, "CHEAP_BYTES", 1)
    assert "`curate index`" in freshen(root).notes[0]


def test_a_turn_is_left_to_the_logs_line_only_where_that_line_may_be_found(root: Path) -> None:
    turns = [("user", "the crane is mine"), ("assistant", "the crane is noted")]
    at = '"timestamp": "2026-03-02T10:00:00Z"'
    told = [f'{{"role": "{role}", "content": "{text}", {at}}}\n' for role, text in turns]
    (root / "Sessions").mkdir()
    plant(root, "Sessions/s.jsonl", "".join(told))
    logged = [f"- {text} <!-- Sessions/s.jsonl#L{line}~0badcafe -->\n" for line, (_, text) in enumerate(turns, 1)]
    plant(root, "Logs/2026-03-02.md", "".join(logged))
    update_index(root)

    def places(filters: Filters | None = None, stale: tuple[str, ...] = ()) -> set[str]:
        hits = search(root, "crane", 9, stale, SearchRequest(filters=filters or Filters()))
        return {f"{hit.path.partition('/')[0]}:{hit.start_line}" for hit in hits}

    assert places() == places(Filters(trusts=("self",))) == {"Logs:1", "Logs:2"}
    assert places(Filters(sources=("log", "session"))) == {"Logs:1", "Logs:2"}
    assert places(Filters(sources=("session",))) == {"Sessions:1", "Sessions:2"}
    assert places(Filters(trusts=("owner",))) == {"Sessions:1"}
    assert places(stale=("Logs/2026-03-02.md",)) == {"Sessions:1", "Sessions:2"}


TASKS = """\
# Beta

## Next

- [ ] Todo: Paint the boat. <!-- k00000000a1 since=2026-02-01 trust=owner -->
- [ ] Todo: Sell the boat. <!-- k00000000a2 since=2026-03-01 trust=owner -->
- Rule: Never sail the boat at night. <!-- k00000000a3 since=2026-03-02 trust=owner -->
"""


@pytest.mark.parametrize(
    ("query", "lines"),
    [
        ("the boat type:todo", {"beta:5", "beta:6"}),
        ("boat type:TODO type:rule", {"beta:5", "beta:6", "beta:7"}),
        ("boat project:beta", {"beta:5", "beta:6", "beta:7"}),
        ('servers project:"Alpha Station"', {"alpha-notes:6", "alpha-notes:7"}),
        ("servers project:beta", set()),
        ("legal type:chore", {"alpha-notes:7"}),
        ("legal project:gamma", {"alpha-notes:7"}),
    ],
)
def test_type_and_project_in_a_question_filter_unless_there_is_none(root: Path, query: str, lines: set[str]) -> None:
    plant(root, "Projects/beta.md", TASKS)
    update_index(root)
    hits = search(root, query, 20)
    assert {f"{hit.path.removeprefix('Projects/').removesuffix('.md')}:{hit.start_line}" for hit in hits} == lines


@pytest.mark.parametrize("query", ["type:todo", "the type:todo"])
def test_a_question_that_only_filters_lists_the_newest_first(root: Path, query: str) -> None:
    old = "".join(f"- [ ] Todo: Oil hinge {at}. <!-- k0000000{at:03} since=2025-01-01 -->\n" for at in range(150))
    plant(root, "Projects/beta.md", f"{TASKS}{old}")
    plant(root, "Logs/2026-03-02.md", "- Todo: Buy tar.\n")
    update_index(root)
    days = [hit.date for hit in search(root, query, 10)]
    assert days == ["2026-03-18", "2026-03-02", "2026-03-01", "2026-02-01", *["2025-01-01"] * 6]
    assert [hit.date for hit in search(root, query, 1)] == days[:1]
