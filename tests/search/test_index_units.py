"""Units know what they are: an item by its comment, a log entry by its day, prose by its document."""

from pipelines.search.chunks import Unit, read_units
from tests.making import split_rows

PROJECT = """---
title: Alpha
updated: 2026-03-02
trust: self
confidence: medium
tags: [infra, cloud]
---
# Alpha

## Goals
<!-- What is it for? -->

Move the servers. <!-- by June --> #urgent

## Decisions

- Decision: Use Terraform, not Pulumi. <!-- k7f3a9c2b10 since=2026-02-11 trust=owner confidence=low -->
  - because its state handling is proven
- [x] Todo: Ask legal. <!-- k55b01aa07c since=2026-03-18 trust=self confidence=high -->

## History

- ~~Fact: The office is in Bern.~~ <!-- k1c02d9e441 until=2026-03-01 superseded-by=k9d1c02d9e4 -->
"""


def one(units: tuple[Unit, ...], word: str) -> Unit:
    (found,) = [unit for unit in units if word in unit.text]
    return found


def test_an_item_is_shown_as_label_and_sentence_with_its_notes() -> None:
    unit = one(read_units("Projects/alpha.md", *split_rows(PROJECT)), "Terraform")
    assert unit.text == "Decision: Use Terraform, not Pulumi. (unsure)\n- because its state handling is proven"
    assert (unit.start_line, unit.end_line, unit.headings) == (17, 18, ("Alpha", "Decisions"))
    assert (unit.types, unit.date, unit.trust, unit.confidence) == (("Decision",), "2026-02-11", "owner", "low")
    assert (unit.status, unit.item, unit.project, unit.hidden) == ("live", "k7f3a9c2b10", "Alpha", False)


def test_a_log_unit_has_its_day_its_project_its_types_and_its_lines() -> None:
    text = "# 2026-03-18\n\n## Call\nproject: Alpha\n\n- 10:00 Decision: we go #fast\n- other\n\n## Lunch with Bob\n"
    units = read_units("Logs/2026-03-18.md", text)
    first = one(units, "we go")
    assert (first.start_line, first.date, first.project, first.trust) == (6, "2026-03-18", "Alpha", "self")
    assert (first.headings, first.tags, first.confidence) == (("2026-03-18", "Call"), ("fast",), "")
    assert one(read_units("Logs/2026-03-18.md", "- Decision: yes\n"), "yes").types == ("Decision",)
    assert [(unit.start_line, unit.text) for unit in units] == [
        (6, "- 10:00 Decision: we go #fast"),
        (7, "- other"),
    ]


def test_what_begins_with_a_hash_is_text_unless_it_is_a_heading() -> None:
    script = "".join(f"# step {number} of the script\n" for number in range(1000))
    text = f"# Notes\n\n#1 is the quay.\n\n## Bare\n\n#crane stands here.\n\n```sh\n{script}```\n\n## Last\n"
    units = read_units("Areas/notes.md", text)
    assert [(unit.start_line, unit.text) for unit in units[:2]] == [(3, "#1 is the quay."), (7, "#crane stands here.")]
    assert [(unit.start_line, unit.end_line) for unit in units[2:]][-1][1] == 1010
    assert "".join(unit.text + "\n" for unit in units[2:]) == f"```sh\n{script}```\n"
