"""The notes of batches, answers about logs that went on, sending and collecting with models that are scripts."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import BadFile, ModelFailed
from pipelines.failure_kinds import FailureKind
from pipelines.memory.entries import Entry
from pipelines.memory.layout import BATCHES
from pipelines.models.batching.collecting import Collector
from pipelines.models.batching.moved import moved
from pipelines.models.batching.notes import Ask, Note, Notes, State, _note
from pipelines.models.batching.sending import Outcome, Sender
from pipelines.models.batching.terms import Terms
from pipelines.models.batching.wire import Looked, Result, Sent, Stage
from pipelines.models.calling import Answer, Call
from pipelines.models.patience import Patience
from pipelines.models.reading import Question, together
from pipelines.models.replies import Replies
from pipelines.spending import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pipelines.models.batching.wire import Found

NOW = datetime(2026, 3, 20, 2, tzinfo=UTC)
ENTRIES = tuple(Entry("Logs/2026-03-12.md", at, at + 1, f"- plan {at}\n  more", ("Day",)) for at in (3, 5, 9))


def ask(entries: Sequence[Entry] = ENTRIES, **changes: Any) -> Ask:
    shown = tuple((entry.key, entry.start_line, entry.end_line) for entry in entries)
    return replace(Ask(f"{'0' * 32}-0", "2026-03-12", "d" * 64, "extract", "extract", 1, shown), **changes)


def note(ident: str = "0", **changes: Any) -> Note:
    who = ("anthropic:m", "anthropic:m", "")
    at = NOW.isoformat(timespec="seconds")
    return replace(Note(ident * 32, State.SENT, *who, at, "2026-03-20", (ask(),), "b1"), **changes)


@dataclass
class Script:
    """A provider that does what was written down; the last for good."""

    sent: list[Sent] = field(default_factory=lambda: [Sent("b1")])
    looked: list[Looked | ModelFailed] = field(default_factory=lambda: [Looked(Stage.OPEN)])
    done: list[str] = field(default_factory=list)
    provider, name, source, base_url = "anthropic", "anthropic:m", "anthropic:m", ""
    output_tokens, retries, most_calls, most_bytes = 100, 2, 10, 10_000

    def submit(self, mark: str, calls: Sequence[tuple[str, Call]]) -> Sent:
        assert all(ident.startswith(f"{mark}-") for ident, _ in calls)
        self.done.append("submit")
        return self.sent.pop(0) if len(self.sent) > 1 else self.sent[0]

    def look(self, ident: str) -> Looked:
        self.done.append(f"look {ident}")
        looked = self.looked.pop(0) if len(self.looked) > 1 else self.looked[0]
        if isinstance(looked, ModelFailed):
            raise looked
        return looked

    def find(self, *_: object) -> Found:
        raise NotImplementedError

    def cancel(self, ident: str) -> None:
        self.done.append(f"cancel {ident}")


# ---------------------------------------------------------------- notes

WORDS = st.text(max_size=12)
ASKS = st.builds(
    Ask, WORDS, WORDS, WORDS, WORDS, WORDS, st.integers(),
    st.lists(st.tuples(WORDS, st.integers(), st.integers()), max_size=3).map(tuple),
    WORDS, st.integers(), st.floats(allow_nan=False, allow_infinity=False), WORDS, WORDS,
)  # fmt: skip
NOTES = st.builds(
    Note, st.from_regex(r"[0-9a-f]{32}", fullmatch=True), st.sampled_from(State), WORDS, WORDS, WORDS,
    st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat), WORDS,
    st.lists(ASKS, max_size=3).map(tuple), WORDS, st.integers(0, 9), st.builds(Usage, st.integers(0, 9)),
    st.none() | st.floats(0, 9), st.lists(st.tuples(WORDS, st.integers(0, 9)), max_size=2).map(tuple),
)  # fmt: skip


@given(NOTES)
def test_a_note_comes_back_as_it_was(one: Note) -> None:
    from dataclasses import asdict

    assert _note(json.loads(json.dumps({"form": 1, **asdict(one)}))) == one


def test_an_address_loses_its_user_and_password_where_it_is_read_back(tmp_path: Path) -> None:
    notes, secret = Notes(tmp_path), "http://me:hun%40ter2@localhost:1/v1"
    notes.save(note(source=f"anthropic:m {secret}", base_url=secret))  # as earlier versions wrote it
    (one,) = notes.all()
    assert (one.source, one.base_url) == ("anthropic:m http://localhost:1/v1", "http://localhost:1/v1")


def test_notes_are_their_owners_alone_and_come_oldest_first(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    assert (notes.all(), notes.odd()) == ([], [])
    younger = note("a", at="2026-03-21T02:00:00+00:00")
    for one in (younger, note("b")):
        notes.save(one)
    assert notes.all() == [note("b"), younger]
    folder = tmp_path / BATCHES
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}
    assert {place.stat().st_mode & 0o777 for place in (folder, folder.parent)} == {0o700}
    notes.drop(younger)
    assert notes.all() == [note("b")]


def test_no_note_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / ".curate").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / BATCHES).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadFile):
        Notes(tmp_path).save(note())
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (tmp_path / "elsewhere" / "x.json").write_text("{}")
    assert (Notes(tmp_path).all(), Notes(tmp_path).odd()) == ([], [])


def test_a_note_under_another_name_is_none(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.save(note("a"))
    (tmp_path / BATCHES / f"{'a' * 32}.json").rename(tmp_path / BATCHES / f"{'b' * 32}.json")
    assert (notes.all(), notes.odd()) == ([], [f"{BATCHES}/{'b' * 32}.json"])


@pytest.mark.parametrize(
    ("key", "value"),
    [("at", "yesterday"), ("at", "2026-03-20T02:00:00"), ("state", "lost"), ("asks", 3), ("asks", [{}]), ("form", 2),
     ("usage", None), ("failures", [1]), ("more", 1), ("id", "x")],
)  # fmt: skip
def test_a_note_that_somebody_changed_is_none(tmp_path: Path, key: str, value: object) -> None:
    notes = Notes(tmp_path)
    notes.save(note("a"))
    file = tmp_path / BATCHES / f"{'a' * 32}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    assert (notes.all(), notes.odd()) == ([], [f"{BATCHES}/{file.name}"])


# ---------------------------------------------------------------- logs that went on


@given(st.lists(st.integers(0, 40), min_size=3, max_size=3), st.sets(st.integers(0, 2)))
def test_an_answer_is_told_of_lines_as_they_stand(shifts: list[int], gone: set[int]) -> None:
    now = [
        replace(entry, start_line=entry.start_line + shift, end_line=entry.end_line + shift)
        for at, (entry, shift) in enumerate(zip(ENTRIES, shifts, strict=True))
        if at not in gone
    ]
    items = [{"start_line": entry.start_line, "end_line": entry.end_line, "at": at} for at, entry in enumerate(ENTRIES)]
    told = json.loads(moved(json.dumps({"items": items}), ask(), now))["items"]
    assert [(one["at"], one["start_line"], one["end_line"]) for one in told] == [
        (at, entry.start_line + shifts[at], entry.end_line + shifts[at])
        for at, entry in enumerate(ENTRIES)
        if at not in gone
    ]


@pytest.mark.parametrize(
    "item", [3, None, {}, {"start_line": "3"}, {"start_line": 3}, {"start_line": 90, "end_line": 91}]
)
def test_what_is_no_right_item_stays_for_the_check_of_items(item: object) -> None:
    text = json.dumps({"items": [item]})
    assert json.loads(moved(text, ask(), ENTRIES[1:])) == {"items": [item]}


def test_an_answer_stays_to_the_byte_where_nothing_moved() -> None:
    assert moved('{ "items":[]} ', ask(), ENTRIES) == '{ "items":[]} '


@given(st.lists(st.frozensets(st.sampled_from([entry.key for entry in ENTRIES])), max_size=4))
def test_every_entry_is_asked_about_once_however_it_was_grouped(groups: list[frozenset[str]]) -> None:
    parts = together(ENTRIES, groups)
    assert sorted((entry for part in parts for entry in part), key=lambda one: one.start_line) == list(ENTRIES)
    assert () not in parts


# ---------------------------------------------------------------- sending and collecting


def sender(tmp_path: Path, script: Script, pauses: list[float]) -> Sender:
    patience = Patience(sleep=pauses.append, jitter=lambda: 0.0)
    return Sender(Notes(tmp_path), [script], Terms(NOW, "2026-03-20", patience=patience))


def questions(count: int) -> list[tuple[str, Question]]:
    call = Call("extract", "extract", 1, "s", "u", {}, place=("2026-03-12", 0))
    return [("2026-03-12", Question(call, ENTRIES))] * count


def refused(kind: FailureKind, retry_after: float | None = None) -> Sent:
    return Sent(refused=ModelFailed("anthropic", "was " + kind, kind, retry_after=retry_after))


@pytest.mark.parametrize(
    ("said", "tries", "pauses"),
    [
        ([refused(FailureKind.RATE_LIMITED, 7.0), Sent("b1")], 2, [7.0]),
        ([refused(FailureKind.DOWN), refused(FailureKind.DOWN), Sent("b1")], 3, [1.0, 2.0]),
        ([refused(FailureKind.DOWN)], 3, [1.0, 2.0]),
        ([refused(FailureKind.UNAUTHORISED)], 1, []),
        ([refused(FailureKind.RATE_LIMITED, 3600.0)], 1, []),
        ([Sent(unsure=ModelFailed("anthropic", "x", FailureKind.CUT_OFF))], 1, []),
    ],
)
def test_a_batch_is_sent_again_only_where_it_was_surely_refused(
    tmp_path: Path, said: list[Sent], tries: int, pauses: list[float]
) -> None:
    script, paused, done = Script(list(said)), list[float](), Outcome()
    sender(tmp_path, script, paused).send(questions(2), done)
    assert (len(script.done), paused) == (tries, pauses)
    left = [one.state for one in Notes(tmp_path).all()]
    last = said[-1]
    assert left == ([State.SENT] if last.ident else [State.SENDING] if last.unsure else [])
    assert bool(done.stuck) is not bool(last.ident)


def test_after_a_doubt_nothing_more_is_sent(tmp_path: Path) -> None:
    script, done = Script([Sent(unsure=ModelFailed("anthropic", "x"))]), Outcome()
    sender(tmp_path, script, []).send(questions(25), done)
    assert (script.done, [len(one.asks) for one in Notes(tmp_path).all()]) == (["submit"], [10])


def collector(tmp_path: Path, script: Script, now: datetime = NOW) -> Collector:
    return Collector(Notes(tmp_path), [script], Replies(tmp_path / "replies", now), Terms(now, "2026-03-20"))


def test_a_provider_that_is_down_is_asked_for_one_batch_only(tmp_path: Path) -> None:
    for ident in "abc":
        Notes(tmp_path).save(note(ident))
    script = Script(looked=[ModelFailed("anthropic", "could not be reached", FailureKind.DOWN)])
    found = collector(tmp_path, script).collect()
    assert (script.done, len(found.failures), len(found.notes)) == (["look b1"], 1, 3)


def test_a_disk_that_takes_no_reply_leaves_the_batch_to_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Notes(tmp_path).save(note())
    answer = Answer('{"items": []}', "anthropic:m", Usage(10, 1))
    script = Script(looked=[Looked(Stage.ENDED, (Result(ask().id, answer),))])
    with monkeypatch.context() as patch:
        patch.setattr(Replies, "_write", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        found = collector(tmp_path, script).collect()
    assert [fault.sentence for fault in found.failures] == ["anthropic gave replies that the disk did not take."]
    assert [one.state for one in Notes(tmp_path).all()] == [State.SENT]
    [one] = collector(tmp_path, script).collect().notes
    assert (one.state, one.calls, one.usage, bool(one.asks[0].reply)) == (State.ENDED, 1, Usage(10, 1), True)


def test_results_that_never_all_come_are_taken_as_they_are_in_the_end(tmp_path: Path) -> None:
    Notes(tmp_path).save(note())
    script = Script(looked=[Looked(Stage.ENDED)])
    found = collector(tmp_path, script).collect()
    assert ([fault.kind for fault in found.failures], found.notes[0].state) == ([FailureKind.CUT_OFF], State.SENT)
    [one] = collector(tmp_path, script, NOW + timedelta(hours=24)).collect().notes
    assert (one.state, one.asks[0].fault) == (State.ENDED, "expired")


def test_a_provider_that_is_down_for_a_day_is_given_up(tmp_path: Path) -> None:
    Notes(tmp_path).save(note())
    script = Script(looked=[ModelFailed("anthropic", "could not be reached", FailureKind.DOWN)])
    [one] = collector(tmp_path, script, NOW + timedelta(hours=24)).collect().notes
    assert (one.state, one.is_open, one.asks[0].fault) == (State.LATE, False, "expired")
    assert collector(tmp_path, script, NOW + timedelta(hours=48)).collect().notes == []
