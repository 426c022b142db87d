"""Review.md: a question goes once it is answered, and leaves nothing but what a person wrote."""

from pipelines.store.document import Document
from pipelines.store.layout import REVIEW
from pipelines.store.review_queue import read_queue, with_entry, without_answered


def _queue(count: int) -> Document:
    documents = {REVIEW: Document(REVIEW, "# Review\n\nWhat a person wrote.\n")}
    for number in range(count):
        documents = with_entry(documents, "quarantine", "2026-03-12", f"q{number}", "Why.", ("keep: a", "drop: b"))
    return documents[REVIEW]


def test_an_answer_takes_its_question_away_and_nothing_else() -> None:
    document = _queue(3)
    entries = read_queue(document)
    assert [entry.title for entry in entries] == [f"q{number}" for number in range(3)]
    assert all(entry.why == ("Why.",) for entry in entries)
    after = without_answered(document, [(entries[0], [])])
    assert [entry.title for entry in read_queue(after)] == [f"q{number}" for number in range(1, 3)]
    assert after.text.startswith("# Review\n\nWhat a person wrote.\n")
    assert without_answered(after, [(entry, []) for entry in read_queue(after)]).text.strip() == (
        "# Review\n\nWhat a person wrote."
    )


def test_a_queue_without_an_entry_is_empty() -> None:
    assert read_queue(None) == read_queue(Document(REVIEW, "")) == read_queue(Document(REVIEW, "# Review\n")) == ()
