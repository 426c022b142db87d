"""Only the same words repeat an item: nothing that is merely near one is merged, confirmed or hidden."""

from typing import Any

from tests.conftest import Memory
from tests.reviewing import Reader, curate

PAIRS = [
    ("Fact", "Invoices are sent to clients by email on the first", "Invoices are sent to clients by post on the first"),
    ("Fact", "The nightly deploy goes to the staging server", "The nightly deploy goes to the production server"),
    ("Fact", "The backups are checked by hand every week", "The backups are checked automatically every week"),
    ("Decision", "We use Jest for the tests of the web client", "We use Vitest for the tests of the web client"),
    ("Fact", "The office in Bern is closed", "The office in Bern is closed on Mondays"),
    ("Fact", "Support answers by phone in the morning", "Support answers by phone"),
    ("Rule", "Deploy with the blue pipeline", "Deploy only with the blue pipeline"),
    ("Fact", "The API limit is 100 requests", "The API limit is now 100 requests"),
    ("Fact", "Anna reviews what Bruno writes", "Bruno reviews what Anna writes"),
    ("Fact", "The cache is cleared on release", "The cache is not cleared on release"),
    ("Rule", "Merge to main after the review", "Merge to main before the review"),
    ("Fact", "The retry waits .5 seconds", "The retry waits 5 seconds"),
    ("Decision", "Write the driver in C", "Write the driver in C++"),
    ("Fact", "The manual is [on our site](Areas/site.md)", "The manual is [on our site](Areas/wiki.md)"),
    ("Fact", "Rechnungen gehen per E-Mail an die Kunden", "Rechnungen gehen per Post an die Kunden"),
    ("Fact", "Die Sicherung läuft jede Nacht automatisch", "Die Sicherung läuft jede Nacht von Hand"),
    ("Fact", "Der Testserver steht bei Hetzner", "Der Produktionsserver steht bei Hetzner"),
    ("Fact", "Die Kundin zahlt im Voraus", "Die Kundin zahlt im Voraus, ab Mai"),
    ("Fact", "As faturas são enviadas por e-mail aos clientes", "As faturas são enviadas pelo correio aos clientes"),
    ("Fact", "O relatório é feito manualmente", "O relatório é feito automaticamente"),
    ("Decision", "O servidor de testes fica em Lisboa", "O servidor de produção fica em Lisboa"),
    ("Fact", "A loja abre sempre ao domingo", "A loja nunca abre ao domingo"),
]  # fmt: skip


def told(memory: Memory, *arguments: str) -> Any:
    return memory.json(*arguments)


def write(memory: Memory, day: int, *lines: str) -> None:
    memory.write(f"Logs/2026-03-{day}.md", "".join(f"- {line}\n" for line in lines))


def texts(memory: Memory) -> list[str]:
    """Return the sentences that hold, and those that a person is asked about."""
    waiting = [one["text"] for question in told(memory, "review") for one in question["items"]]
    return [*(one["text"] for one in told(memory, "items") if one["status"] in {"live", "open"}), *waiting]


def test_a_changed_fact_is_neither_merged_nor_confirmed_nor_hidden(memory: Memory) -> None:
    for day, side in ((11, 1), (12, 2)):
        write(memory, day, *(f"{pair[0]}: {pair[side]} [project: Number {at}]" for at, pair in enumerate(PAIRS)))
        night = told(memory, "run", "--now", f"2026-03-{day + 1}T02:00")
        assert night["items"]["confirmed"] == 0
    held = texts(memory)
    assert [text for pair in PAIRS for text in pair[1:] if text not in held] == []
    for _, _, new in PAIRS[:5]:
        hits = told(memory, "search", new)["results"]
        assert any(new in hit["text"] for hit in hits), new


def test_both_sides_of_a_day_are_kept(memory: Memory) -> None:
    bills = "Fact: Invoices are sent to customers by email", "We decided to send invoices to customers by post."
    write(memory, 11, *bills, "Decision: Write the driver in C", "Decision: Write the driver in C++")
    memory.night("2026-03-12T02:00")
    held = " | ".join(texts(memory))
    assert all(words in held for words in ("by email", "by post", "in C |", "in C++"))


def test_a_todo_said_again_with_another_day_is_owed_on_that_day(memory: Memory) -> None:
    for day, due in ((11, "2026-03-20"), (12, "2026-03-27"), (13, "")):
        write(memory, day, f"Todo: Send Ida the report{f' (due {due})' * bool(due)}")
        memory.night(f"2026-03-{day + 1}T02:00")
    assert [one["due"] for one in told(memory, "items") if one["status"] == "open"] == ["2026-03-27"]


def test_what_is_said_again_on_a_later_day_than_it_ended_is_new(memory: Memory) -> None:
    first, second, risk = "We use Jest for the tests", "We use Vitest for the tests", "The disk fills up"
    days = [
        (f"Decision: {first}", f"Risk: {risk}"),
        (f"Correction: {second}, not Jest", f"Resolved: {risk}"),
        (f"Decision: {first}", f"Risk: {risk}"),
    ]
    for day, said in enumerate(days, 11):
        write(memory, day, *said)
        memory.night(f"2026-03-{day + 1}T02:00")
        held = texts(memory)
        assert (first in held, risk in held) == (day != 12, day != 12), day
    ident = next(one["id"] for one in told(memory, "items") if one["text"] == risk)
    memory.curate("close", ident, "--as", "resolved", "--now", "2026-03-14T09:00")
    write(memory, 15, f"Risk: {risk}")
    memory.night("2026-03-16T02:00")
    assert risk in texts(memory), "it may come again, whoever resolved it"
    assert any("Vitest" in one for one in held), "which of them holds is not for the rules to say"
    assert [one["kind"] for one in told(memory, "review")] == ["pair"]


def test_a_model_that_only_repeats_what_ended_brings_nothing_back(memory: Memory) -> None:
    first = "We use Jest for the tests"
    for day, said in ((11, f"Decision: {first}"), (12, f"No longer: {first}")):
        write(memory, day, said)
        memory.night(f"2026-03-{day + 1}T02:00")
    write(memory, 13, f"Decision: {first}")
    curate(memory, Reader(), "2026-03-14T02:00+00:00")
    assert first not in texts(memory)


def test_what_a_model_says_again_after_its_successor_is_compared_with_that(memory: Memory) -> None:
    """Who goes back to an earlier decision has it back, though the model was not shown what had replaced it."""
    first, then = (f"Invoices of the harbour are approved by {who} before noon" for who in ("Ida", "Runa"))
    for day, said in ((11, f"Decision: {first}"), (12, f"Correction: {then}, not Ida")):
        write(memory, day, said)
        memory.night(f"2026-03-{day + 1}T02:00")
    write(memory, 13, f"Decision: {first}")
    judge = Reader(verifies=lambda one: "replaces" if one["kind"] == "pair" else "supported")
    curate(memory, judge, "2026-03-14T02:00+00:00")
    assert texts(memory) == [first]
