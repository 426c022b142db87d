"""`curate search` and `curate index` as a person and as a program use them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pipelines.cli import search_command as search
from pipelines.search.hits import CLOSE, OPEN, WIDTH, snippets
from tests.conftest import Memory


@pytest.fixture(name="root")
def memory(tmp_path: Path) -> Path:
    (tmp_path / "curate.toml").write_text("", encoding="utf-8")
    (tmp_path / "Logs").mkdir()
    text = "".join(f"- note {number} on the lake\n" for number in range(150))
    (tmp_path / "Logs/2026-01-01.md").write_text(f"- Decision: we sail\n{text}", encoding="utf-8")
    return tmp_path


def run_search(root: Path, *arguments: str, stdin: bytes = b"") -> Result:
    result = CliRunner().invoke(search.curate_search, [*arguments, "--memory", str(root)], input=stdin)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def objects(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_query_prints_one_object(root: Path) -> None:
    (single,) = objects(run_search(root, "who", "sails", "--json"))
    hit = single["results"][0]
    assert hit.items() >= {"start_line": 1, "end_line": 1, "date": "2026-01-01", "types": ["Decision"]}.items()
    assert hit["text"] == "- Decision: we sail"


def test_the_limit_is_kept_and_checked(root: Path) -> None:
    (answer,) = objects(run_search(root, "lake", "--json", "--limit", "3"))
    assert len(answer["results"]) == 3
    for wrong in ("0", "-1", "many", "1001"):
        assert run_search(root, "lake", "--limit", wrong).exit_code == 2
    assert run_search(root).exit_code == 2


def test_a_person_sees_place_date_type_trust_and_no_escape_codes(root: Path) -> None:
    (root / "Logs/2026-01-02.md").write_text("- wild \x1b[31mred\x1b[0m berries\n", encoding="utf-8")
    shown = run_search(root, "sail").stdout
    assert shown.startswith("Logs/2026-01-01.md:1  2026-01-01  Decision, trust self\n    - Decision: we sail\n")
    assert run_search(root, "lake").stdout.count("Logs/") == 10
    assert "\x1b" not in run_search(root, "berries").stdout
    assert run_search(root, "zebra").stdout == "Nothing was found.\n"


def test_a_snippet_marks_what_matched_and_stays_short() -> None:
    marked, long, none = snippets("sailing 東京", ["We sailed to\n東京 there", f"{'x ' * 400}sails{' y' * 400}", "no"])
    assert marked == f"We {OPEN}sailed{CLOSE} to {OPEN}東京{CLOSE} there"
    assert f"{OPEN}sails{CLOSE}" in long
    assert len(long) < WIDTH + 10
    assert none == "no"
    assert snippets("Lambdas", ["AWSのLambdaを使う"]) == [f"AWSの{OPEN}Lambda{CLOSE}を使う"]


def test_index_tells_what_it_did(root: Path) -> None:
    runner = CliRunner()
    (root / "Logs/2026-01-03.md").write_bytes(b"\xff")
    first = runner.invoke(search.curate_index, ["--memory", str(root)]).stdout
    line = r"Index: 1 file, 2 new, 0 changed, 151 units, 1 not read in full .* s\n  Logs/2026-01-03\.md is not .*\.\n"
    assert re.fullmatch(line, first)
    report = json.loads(runner.invoke(search.curate_index, ["--full", "--json", "--memory", str(root)]).stdout)
    assert report | {"seconds": 0} == {
        "files": 1,
        "added": 0,
        "changed": 0,
        "removed": 0,
        "units": 151,
        "skipped": [{"path": "Logs/2026-01-03.md", "reason": "is not UTF-8 (byte 0)"}],
        "seconds": 0,
    }


def test_a_line_of_a_list_is_shown_under_what_introduces_it(memory: Memory) -> None:
    memory.write(
        "Resources/permissions.md",
        "# Permissions\n\n## Harbour\n\n**Not allowed:**\n\n- Merge pull requests\n- Delete branches\n\nAsk first.\n",
    )
    memory.write("Areas/boats.md", "# Boats\n\n## Open questions\n\n- Who paints the ferry?\n")
    memory.curate("run", "--provider", "rules", "--now", "2026-03-10T02:00")
    assert memory.curate("search", "merge pull requests").splitlines()[1:3] == [
        "    Permissions > Harbour > Not allowed:",
        "    - Merge pull requests",
    ]
    assert "Not allowed" not in memory.curate("search", "ask first", "--limit", "1")
    assert "    Question: Who paints the ferry?\n" in memory.curate("search", "who paints the ferry")


def test_what_introduces_one_list_says_nothing_of_the_next(memory: Memory) -> None:
    memory.write(
        "Resources/permissions.md",
        "# Rules\n\n## Work\n\nNot allowed:\n\n- Merge pull requests\n\n## Free\n\n- Restart the staging server\n\n"
        "Bob wrote:\n\n---\n\n- Order the paint\n\n" + "As was said at length " * 9 + "so:\n\n- Sweep the quay\n",
    )
    for words, above in (
        ("restart staging server", "Rules > Free"),
        ("order the paint", "Rules > Free"),
        ("sweep the quay", "Rules > Free"),
        ("merge pull requests", "Rules > Work > Not allowed:"),
    ):
        assert memory.curate("search", words, "--limit", "1").splitlines()[1] == f"    {above}"


def test_a_review_that_cannot_be_read_costs_no_answer(memory: Memory) -> None:
    memory.write("Areas/boats.md", "# Boats\n\n- Fact: The ferry is blue.\n")
    (memory.root / "Review.md").unlink()
    (memory.root / "Review.md").mkdir()
    assert "The ferry is blue." in memory.curate("search", "ferry")
