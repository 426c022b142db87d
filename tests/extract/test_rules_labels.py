"""What a label says, in all the ways in which people write labels: each is one item of confidence high."""

import pytest

from tests.extract.reading import extract


def said(text: str) -> list[tuple[str, str]]:
    return [(one.type.value, one.text) for one in extract(text) if one.confidence == "high"]


@pytest.mark.parametrize("word", ["Decision", "DECISION", "decision"])
@pytest.mark.parametrize(
    "form",
    [
        "{}: paint it blue",
        "- {}: paint it blue",
        "* **{}:** paint it blue",
        "**{}**: paint it blue",
        "**{}: paint it blue**",
        "***{}: paint it blue***",
        "__{}:__ paint it blue",
        "> {}: paint it blue",
        "> - *{}:* paint it blue",
        "### {}: paint it blue",
        "### 4.2. {}: paint it blue",
        "{} (2026-03-18): paint it blue",
        "{} #3: paint it blue",
        "- 14:05 {}: paint it blue",
        "- [14:05] {}: paint it blue",
        "- **14:05** {}: paint it blue",
        "2026-03-18 14:05 - {}: paint it blue",
        "1. {}: paint it blue",
        "anna: {}: paint it blue",
        "**Anna Berg:** {}: paint it blue",
        "[Tue 10:06]\t<anna>\t{}: paint it blue",
        "[10:16am] anna: {}: paint it blue",
        "16:45:11 <scribe_> anna: {}: paint it blue",
        "[2024-05-01, 10:15] Anna: {}: paint it blue",
    ],
)
def test_typed_lines(form: str, word: str) -> None:
    assert said(form.format(word) + "\n") == [("Decision", "paint it blue")]


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        ("- 09:00 [project: Alpha] Fact: the office is in Bern.", "Fact", "the office is in Bern."),
        ("- 09:00 Fact: the office is in Bern [project: Alpha]", "Fact", "the office is in Bern"),
        ("- 09:00 #office #home/b Fact: the office is in Bern #office", "Fact", "the office is in Bern #office"),
        ("- [ ] [project: Alpha] move in", "Todo", "move in"),
        ("Fact: the office is in Bern", "Fact", "the office is in Bern"),
        ("Rule: two eyes on each release", "Rule", "two eyes on each release"),
        ("Todo: ask legal", "Todo", "ask legal"),
        ("Risk: the lease ends", "Risk", "the lease ends"),
        ("DECISION - keep the name", "Decision", "keep the name"),
        ("Decided: keep the name", "Decision", "keep the name"),
        ("- Agreed: keep the name", "Decision", "keep the name"),
        ("AGREED: keep the name", "Decision", "keep the name"),
        ("RESOLVED: keep the name", "Decision", "keep the name"),
        ("RESOLUTION: keep the name", "Decision", "keep the name"),
        ("> ***Resolution #2: keep the *old* name***", "Decision", "keep the old name"),
        ("manu: RESOLVED: keep the name", "Decision", "keep the name"),
        ("[10:00] <x> #agreed keep the name", "Decision", "keep the name"),
        ("ACTION: bob to fix X", "Todo", "bob to fix X"),
        ("action: bob to fix X", "Todo", "bob to fix X"),
        ("Action item: bob to fix X", "Todo", "bob to fix X"),
        ("- Action: bob to fix X", "Todo", "bob to fix X"),
        ("**Action needed:** fix X", "Todo", "fix X"),
        ("Action #3: bob to fix X", "Todo", "bob to fix X"),
        ("ACTION-123: bob to fix X", "Todo", "bob to fix X"),
        ("**ACTION** bob to fix X", "Todo", "bob to fix X"),
        ("… ACTION: bob will fix X", "Todo", "bob will fix X"),
        ("[10:00] <x> #action bob to fix X", "Todo", "bob to fix X"),
        ("TODO fix the gate", "Todo", "fix the gate"),
        ("To-do: fix the gate", "Todo", "fix the gate"),
        ("TODO(bob): fix the gate", "Todo", "fix the gate (bob)"),
        ("FIXME: fix the gate", "Todo", "fix the gate"),
        ("- [ ] fix the gate", "Todo", "fix the gate"),
        ("- 16:20 - [ ] fix the gate", "Todo", "fix the gate"),
        ("- 16:20 [ ] fix the gate", "Todo", "fix the gate"),
        ("- [ ] **Bob:** fix the gate", "Todo", "Bob: fix the gate"),
        ("- [ ] TODO: fix the gate", "Todo", "fix the gate"),
        ("Follow-up: fix the gate", "Todo", "fix the gate"),
        ("WARNING: the disk is full", "Risk", "the disk is full"),
        ("Caution: wet paint", "Risk", "wet paint"),
        ("> [!WARNING]\n> the disk is full", "Risk", "the disk is full"),
        (
            "Decision: see [the plan](https://x.y/z) for `a*b*c`",
            "Decision",
            "see [the plan](https://x.y/z) for `a*b*c`",
        ),
        ("Decision: [https://x.y](https://x.y) it is", "Decision", "https://x.y it is"),
        ("Decision: use snake_case_names and 2 * 3", "Decision", "use snake_case_names and 2 * 3"),
    ],
)
def test_the_labels_of_the_field(line: str, kind: str, text: str) -> None:
    assert said(line + "\n") == [(kind, text)]


def test_a_ticked_box_is_no_item() -> None:
    assert said("- [x] pay\n- [X] rest\n- [ ] eat\n- TODO (done): sleep\n") == [("Todo", "eat")]


def test_a_label_alone_takes_the_list_or_the_paragraph_below() -> None:
    both = [("Decision", "one"), ("Decision", "two")]
    for text in (
        "Decisions:\n- one\n- two\n\nother\n",
        "**Decisions:**\n\n* one\n* two\n",
        "- Decisions:\n  - one\n  - two\n- other\n",
        "### Decisions\n\n- one\n- two\n\n## Other\n- three\n",
        "## 📝 Key decisions (today)\n1. one\n2. two\n",
    ):
        assert said(text) == both, text
    assert said("### Decision\n\nWe move out.\n\nMore on it.\n") == [("Decision", "We move out.")]
    assert said("Decision:\n\nWe move out.\n\nMore on it.\n") == [("Decision", "We move out.")]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Action items", "Todo"),
        ("Jason's To-Do (from today)", "Todo"),
        ("Risks", "Risk"),
        ("Rules", "Rule"),
        ("5. Resolutions", "Decision"),
    ],
)
def test_sections(heading: str, kind: str) -> None:
    assert said(f"## {heading}\n\n- Bob: mend the gate\n- ~~dropped~~\n- TBD\n") == [(kind, "Bob: mend the gate")]


# ---------------------------------------------------------------- any sentence, and the forms that close


@pytest.mark.parametrize("label", ["Decision", "**Decision**", "DECISION", "decision"])
@pytest.mark.parametrize(
    "before",
    [
        "Met Bea.",
        "- Met Bea.",
        "- 14:05 Met Bea.",
        "- 14:05 Bea: Did we meet?",
        "**Bea:** We met!",
        "1. [14:05] We met. Then lunch.",
        "- Fact: the gate is open.",
    ],
)
def test_a_label_counts_at_the_start_of_any_sentence(before: str, label: str) -> None:
    line = f"{before} {label}: paint it blue. Risk: the paint may peel."
    assert said(line + "\n")[-2:] == [("Decision", "paint it blue."), ("Risk", "the paint may peel.")]
    places = [place for one in extract(line + "\n") for place in one.places]
    assert all(place.lines and place.end_line == 1 for place in places)
    assert [place.quote for place in places[-2:]] == [f"{label}: paint it blue.", "Risk: the paint may peel."]


@pytest.mark.parametrize(
    "line",
    [
        '- Bea wrote "we met. Decision: paint it blue".',
        "- Use `x. Decision: paint it blue` as a form.",
        "- We met about the decision: paint it blue.",
        "- We met. No decision: nobody came.",
    ],
)
def test_a_label_within_a_sentence_or_a_quote_counts_for_nothing(line: str) -> None:
    assert said(line + "\n") == []


def test_a_list_goes_on_behind_a_closing_form() -> None:
    forms = "- Done: call Anders\n- Correction: it is 7\n- pay rent - DONE\n"
    for text in (f"Todos:\n{forms}- ask Bea\n", f"## Todos\n\n{forms}- ask Bea\n"):
        assert said(text) == [("Todo", "ask Bea")]


def filed(text: str) -> list[tuple[str, str, str]]:
    found = extract(text)
    assert {(one.type, one.confidence) for one in found} <= {("Fact", "high")}
    return [(one.page_section, one.name, one.text) for one in found]


@pytest.mark.parametrize(
    ("label", "section"),
    [
        ("Goal", "goals"),
        ("GOAL", "goals"),
        ("Question", "questions"),
        ("Open question", "questions"),
        ("How to", "howto"),
        ("Howto", "howto"),
        ("how-to", "howto"),
    ],
)
@pytest.mark.parametrize("form", ["{}: {}", "- **{}:** {}", "- **{}**: {}", "- 14:05 [project: Alpha] {}: {}"])
def test_a_label_names_the_section_of_its_line(form: str, label: str, section: str) -> None:
    assert filed(form.format(label, "maybe paint the gate") + "\n") == [(section, "", "maybe paint the gate")]


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        ("Bea Lind, DPO, bea@sundlink.example", "Bea Lind"),
        ("Bea Lind (DPO)", "Bea Lind"),
        ("Bea Lind: bea@sundlink.example", "Bea Lind"),
        ("Bea Lind bea@sundlink.example", "Bea Lind"),
        ("Bea Lind – DPO of Sundlink", "Bea Lind"),
        ("Bea is the one to ask about refunds", "Bea"),
        ("Åsa van den Berg", "Åsa van den Berg"),
        ("the desk, 08-123 45 67", ""),
        ("invoices go to money@sundlink.example", ""),
    ],
)
def test_a_contact_is_a_line_with_a_person_or_an_address(contact: str, name: str) -> None:
    assert filed(f"- Contact: {contact}\n") == [("contacts", name, contact)]
    assert filed(f"## Contacts\n\n- {contact}\n") == [("contacts", name, contact)]


@pytest.mark.parametrize(
    "text",
    [
        "- Contact: report findings to Capital\n",
        "- Contact: Review `DEPLOYMENT.md`\n",
        "> Goal: a view for the app\n",
        "### How to deploy: run make\nand wait\n",
        "**How to deploy:**\n- run make\n",
        "Goals: scoring, planning\n",
        "Questions:\n- Is it the right thing?\n",
        "Anna: Goal: win it\n",
        "[10:15] <anna> Question: who pays?\n",
        "Q: who pays?\n",
        "Goal - win it\n",
        "## Goals for today\n- win it\n",
        "## Questions\n- who pays?\n",
        "- Question: who pays? Answer: Anders.\n",
        "- Question: who pays?\n  - Answer: Anders.\n",
        "- **Question:** who pays?\n- **A:** Anders.\n",
        "- [x] Question: who pays?\n",
        "## Open questions\n- [x] Who pays?\n",
    ],
)
def test_what_only_looks_like_such_a_label_files_nothing(text: str) -> None:
    assert extract(text) == ()


def test_an_answer_takes_back_the_question_above_it_alone() -> None:
    asked = "- Question: who pays?\n- Question: who signs?\n- Answer: Anders.\n"
    assert filed(asked) == [("questions", "", "who pays?")]
    assert filed("- Question: who pays?\n\nWe met.\n\n- A: Anders.\n") == [("questions", "", "who pays?")]


def test_a_question_is_no_fact_with_the_same_words() -> None:
    found = filed("- Question: the office is in Bern?\n- Fact: the office is in Bern\n")
    assert found == [("questions", "", "the office is in Bern?"), ("", "", "the office is in Bern")]


def test_what_only_leads_to_a_list_is_no_item_unless_a_label_says_what_it_is() -> None:
    assert said("- Decision: Replace the importer:\n  - by a queue\n") == [("Decision", "Replace the importer")]
    assert said("## Facts\n\n- How the cluster recovers:\n  1. Stop it.\n- The port is 9098.\n") == [
        ("Fact", "The port is 9098.")
    ]
    assert said("- Important: the name is misleading.\n") == []


@pytest.mark.parametrize(
    ("end", "due"),
    [
        ("by 2026-05-04", "2026-05-04"),
        ("(due 2026-05-04)", "2026-05-04"),
        ("by 12 May", "2026-05-12"),
        ("by May 12th, 2027", "2027-05-12"),
        ("by 3 January", "2027-01-03"),
        ("due tomorrow", "2026-03-19"),
        ("by Friday", "2026-03-20"),
        ("by Wednesday", ""),  # said on a Wednesday
        ("by 31 February", ""),
        ("by 12 people", ""),
        ("by Friday if it rains", ""),
    ],
)
def test_a_due_day_at_a_todos_end(end: str, due: str) -> None:
    (one,) = extract(f"- Todo: Send Bea the contract {end}.\n")
    assert one.due == due
    assert one.text.rstrip(".") == ("Send Bea the contract" if "(" in end else f"Send Bea the contract {end}")


@pytest.mark.parametrize("text", ["- Todo: pay the bill\n  -\n", "- Todo: pay the bill\n\t- \n\t\t- for May\n"])
def test_an_empty_bullet_is_no_part_of_the_item_above(text: str) -> None:
    assert [one.text for one in extract(text)] == ["pay the bill"]
