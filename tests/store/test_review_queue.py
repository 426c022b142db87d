"""Review.md: the first questions are shown, the others wait folded, and an answer lets the next one come forward."""

from __future__ import annotations

from pipelines.store.document import Document
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import MOST_SHOWN, read_queue, with_entry, without_answered


def _queue(count: int) -> Document:
    documents = {REVIEW: Document(REVIEW, "# Review\n\nWhat a person wrote.\n")}
    for number in range(count):
        documents = with_entry(documents, "quarantine", "2026-03-12", f"q{number}", "Why.", ("keep: a", "drop: b"))
    return documents[REVIEW]


def test_the_first_questions_are_shown_and_the_others_folded() -> None:
    assert "<details>" not in _queue(MOST_SHOWN).text
    document = _queue(MOST_SHOWN + 2)
    shown, _, folded = document.text.partition("<details><summary>2 more questions</summary>")
    assert [f"## q{number} " in shown for number in range(MOST_SHOWN + 2)] == [True] * MOST_SHOWN + [False] * 2
    assert folded.count("## q") == 2
    assert folded.rstrip().endswith("</details> <!-- review folded -->")
    assert len(read_queue(document)) - MOST_SHOWN == 2


def test_an_answer_lets_the_next_question_come_forward_and_leaves_nothing_of_the_fold() -> None:
    document = _queue(MOST_SHOWN + 1)
    entries = read_queue(document)
    assert [entry.title for entry in entries] == [f"q{number}" for number in range(MOST_SHOWN + 1)]
    assert all(entry.why == ("Why.",) for entry in entries)
    after = without_answered(document, [(entries[0], [])])
    assert [entry.title for entry in read_queue(after)] == [f"q{number}" for number in range(1, MOST_SHOWN + 1)]
    assert "folded" not in after.text
    assert after.text.startswith("# Review\n\nWhat a person wrote.\n")
    assert without_answered(after, [(entry, []) for entry in read_queue(after)]).text.strip() == (
        "# Review\n\nWhat a person wrote."
    )


def test_a_queue_without_an_entry_is_empty() -> None:
    assert read_queue(None) == read_queue(Document(REVIEW, "")) == read_queue(Document(REVIEW, "# Review\n")) == ()
