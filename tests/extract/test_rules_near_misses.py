"""What looks like a decision and is none, and what is said twice and counts once."""

import pytest

from pipelines.extract.extraction import Candidate, ExtractionRequest
from pipelines.extract.rules import RulesExtractor
from pipelines.store.log import parse_entries


def extract(text: str) -> tuple[Candidate, ...]:
    day = "2026-03-18"
    return RulesExtractor().extract(ExtractionRequest(day, parse_entries(f"Logs/{day}.md", day, text))).candidates


def texts(text: str) -> list[str]:
    return [one.text for one in extract(text)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("PROPOSED: close the gate", id="proposed"),
        pytest.param("[10:00] <a> PROPOSAL: close the gate", id="proposal"),
        pytest.param("PROPOSAL 2a: close the gate", id="numbered proposal"),
        pytest.param("> **Proposed resolution: close the gate** *(Anna)*", id="proposed resolution"),
        pytest.param("PROPOSED RESOLUTION: close the gate", id="shouted"),
        pytest.param("Proposed Resolution 4: close the gate", id="proposed and numbered"),
        pytest.param("PROPOSED: RESOLVED: close the gate", id="both labels"),
        pytest.param("Draft resolution: close the gate", id="draft"),
        pytest.param("Decision (proposed): close the gate", id="proposed in brackets"),
        pytest.param("RESOLVED? close the gate", id="asked"),
        pytest.param("RESOLVED: close the gate?", id="asked at the end"),
        pytest.param("STRAWPOLL: close the gate", id="straw poll"),
        pytest.param("FAILED RESOLUTION: close the gate", id="failed"),
        pytest.param("NOT RESOLVED: close the gate", id="not resolved"),
        pytest.param("- Warnings: trusted_proxies_missing (N/A)", id="what a scan printed"),
        pytest.param('1. **Question:** "What is the admin password?"', id="a quoted question"),
        pytest.param("- ✅ Rules: six quick templates", id="a ticked list of what was seen"),
        pytest.param("```tasks\n- TODO close the gate\n```", id="a query"),
        pytest.param("Decision: not yet decided", id="not yet decided"),
        pytest.param("Decision: TBD", id="to be decided"),
        pytest.param("Decision: none", id="none"),
        pytest.param("Decision:", id="nothing"),
        pytest.param("RESOLVED: ^", id="only a mark"),
        pytest.param("- ~~Decision: close the gate~~", id="struck through"),
        pytest.param("~~RESOLVED: close the gate~~", id="struck paragraph"),
        pytest.param("```\nDecision: close the gate\n```", id="fence"),
        pytest.param("- example\n  ~~~\n  TODO: close the gate\n  ~~~", id="fence in an item"),
        pytest.param("    Decision: close the gate", id="indented code"),
        pytest.param("`Decision: close the gate`", id="inline code"),
        pytest.param("e.g. write `Decision: close the gate`", id="example in code"),
        pytest.param('"RESOLVED: close the gate" is how we mark it', id="in quotation marks"),
        pytest.param("Example: Decision: close the gate", id="example label"),
        pytest.param("Write decisions like this:\n\n> Decision: close the gate", id="example follows"),
        pytest.param("## Template\n\n- Decision: close the gate", id="under a heading of examples"),
        pytest.param("<!-- Decision: close the gate -->", id="comment"),
        pytest.param("text <!-- x\nDecision: close the gate\n--> text", id="comment within"),
        pytest.param("* [Resolution #1](#r1): close the gate", id="contents"),
        pytest.param("* [Resolution #1: close the gate](#r1)", id="contents, whole link"),
        pytest.param("## Action Items\n\n* [Action #1](#action1): close the gate", id="contents in a section"),
        pytest.param("10:00:01 <trackbot> Created ACTION-12 - Close the gate [on Bob].", id="tracker"),
        pytest.param("10:00:01 <a> s/RESOLVED: open/RESOLVED: close the gate/", id="correction"),
        pytest.param("- [ ] TODO", id="empty box"),
        pytest.param("**Impact:** all down\n**Resolution:** Restarted the pods", id="how a fault was mended"),
        pytest.param("- **Action:** Restarted the pods", id="what was done"),
        pytest.param("- **Action:** Sent an alert to Bob", id="what was done, in an irregular verb"),
        pytest.param("### Actions\n\n- Restarted the pods", id="what was done, under a heading"),
        pytest.param("**Actions**:\n1. Restarted the pods\n2. Sent an alert to Bob", id="what was done, in a list"),
        pytest.param("Decision-makers: Anna and Bob", id="another word"),
        pytest.param("Rules of thumb: none here", id="not at the end of the label"),
        pytest.param("**Anna:** Agreed: that looks wrong to me as well", id="an answer in a meeting"),
        pytest.param("src/a.c:12: warning: unused", id="a compiler speaks"),
        pytest.param("## Examples\n- [ ] close the gate", id="an example box"),
    ],
)
def test_is_no_item(text: str) -> None:
    assert texts(text + "\n") == []


def test_what_a_summary_repeats_is_one_item_where_it_was_really_said() -> None:
    text = (
        "## Contents\n* [Resolution #1](#r1): close *the* gate\n\n## Summary of resolutions\n1. Close the gate\n\n"
        "## Talk\n\n> ***Resolution #1: close *the* gate***\n\n## Resolutions\n\n- Close the gate.\n"
    )
    assert [(one.text, one.places[0].start_line) for one in extract(text)] == [("close the gate", 9)]


def test_a_number_a_name_or_a_negation_makes_another_item() -> None:
    text = "Decision: keep 3 nodes\n\nDecision: keep 4 nodes\n\nDecision: do not keep 4 nodes\n"
    assert len(texts(text)) == 3


def test_a_resolution_in_small_letters_is_none() -> None:
    """`Resolution:` is what the mending of a fault is called, too; shouted, or numbered, it can mean one thing only."""
    assert texts("Resolution: close the gate\n") == []
    assert [one.confidence for one in extract("[10:00] <a> RESOLVED: close the gate\n")] == ["high"]


def test_an_unclosed_fence_hides_no_later_decision() -> None:
    assert texts("```sh\nrm x\n\n- Decision: close the gate\n") == ["close the gate"]


def test_a_decision_behind_a_check_mark_is_one() -> None:
    assert texts("- ✅ We decided to use Postgres.") == ["✅ We decided to use Postgres."]
