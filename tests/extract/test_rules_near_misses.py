"""What looks like a decision and is none, and what is said twice and counts once."""

import pytest

from tests.extract.reading import extract


def texts(text: str) -> list[str]:
    return [one.text for one in extract(text)]


@pytest.mark.parametrize(
    "text",
    [
        "PROPOSED: close the gate",  # proposed
        "[10:00] <a> PROPOSAL: close the gate",  # proposal
        "PROPOSAL 2a: close the gate",  # numbered proposal
        "> **Proposed resolution: close the gate** *(Anna)*",  # proposed resolution
        "PROPOSED RESOLUTION: close the gate",  # shouted
        "Proposed Resolution 4: close the gate",  # proposed and numbered
        "PROPOSED: RESOLVED: close the gate",  # both labels
        "Draft resolution: close the gate",  # draft
        "Decision (proposed): close the gate",  # proposed in brackets
        "RESOLVED? close the gate",  # asked
        "RESOLVED: close the gate?",  # asked at the end
        "STRAWPOLL: close the gate",  # straw poll
        "FAILED RESOLUTION: close the gate",  # failed
        "NOT RESOLVED: close the gate",  # not resolved
        "- Warnings: trusted_proxies_missing (N/A)",  # what a scan printed
        '1. **Question:** "What is the admin password?"',  # a quoted question
        "- ✅ Rules: six quick templates",  # a ticked list of what was seen
        "```tasks\n- TODO close the gate\n```",  # a query
        "Decision: not yet decided",  # not yet decided
        "Decision: TBD",  # to be decided
        "Decision: none",  # none
        "Decision:",  # nothing
        "RESOLVED: ^",  # only a mark
        "- ~~Decision: close the gate~~",  # struck through
        "~~RESOLVED: close the gate~~",  # struck paragraph
        "```\nDecision: close the gate\n```",  # fence
        "- example\n  ~~~\n  TODO: close the gate\n  ~~~",  # fence in an item
        "    Decision: close the gate",  # indented code
        "`Decision: close the gate`",  # inline code
        "e.g. write `Decision: close the gate`",  # example in code
        '"RESOLVED: close the gate" is how we mark it',  # in quotation marks
        "Example: Decision: close the gate",  # example label
        "Write decisions like this:\n\n> Decision: close the gate",  # example follows
        "## Template\n\n- Decision: close the gate",  # under a heading of examples
        "<!-- Decision: close the gate -->",  # comment
        "text <!-- x\nDecision: close the gate\n--> text",  # comment within
        "* [Resolution #1](#r1): close the gate",  # contents
        "* [Resolution #1: close the gate](#r1)",  # contents, whole link
        "## Action Items\n\n* [Action #1](#action1): close the gate",  # contents in a section
        "10:00:01 <trackbot> Created ACTION-12 - Close the gate [on Bob].",  # tracker
        "10:00:01 <a> s/RESOLVED: open/RESOLVED: close the gate/",  # correction
        "- [ ] TODO",  # empty box
        "**Impact:** all down\n**Resolution:** Restarted the pods",  # how a fault was mended
        "- **Action:** Restarted the pods",  # what was done
        "- **Action:** Sent an alert to Bob",  # what was done, in an irregular verb
        "### Actions\n\n- Restarted the pods",  # what was done, under a heading
        "**Actions**:\n1. Restarted the pods\n2. Sent an alert to Bob",  # what was done, in a list
        "Decision-makers: Anna and Bob",  # another word
        "Rules of thumb: none here",  # not at the end of the label
        "**Anna:** Agreed: that looks wrong to me as well",  # an answer in a meeting
        "src/a.c:12: warning: unused",  # a compiler speaks
        "## Examples\n- [ ] close the gate",  # an example box
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
