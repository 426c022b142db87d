"""What is fed with random inputs, and what must hold of whatever comes out."""

import io
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from unittest.mock import patch

from pipelines.errors import BadSettings, CurateError, ModelFailed
from pipelines.extract.claims import Claim, Verdict
from pipelines.extract.extraction import DocumentChoice, ExtractionRequest
from pipelines.extract.grounding import Shown
from pipelines.extract.llm.call import BadReply
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_briefer import ModelBriefer
from pipelines.extract.llm.reply_schema import PARTS, Asked, extraction_of, read_reply
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.night.answers import apply_answers
from pipelines.night.reconcile import Reconciled
from pipelines.review.trust import made_inert
from pipelines.search.hits import snippets
from pipelines.settings import load_settings
from pipelines.store.document import Block, Document, edited, with_front_matter, with_marks
from pipelines.store.item import Item, ItemType, parse_item, render_item, row_of
from pipelines.store.layout import NOTES_FILE
from pipelines.store.log import parse_entries
from pipelines.store.markdown import read_front_matter, split_lines
from pipelines.store.secrets.redact import Redactor, log_without_private, record_without_private
from pipelines.store.state import read_progress, read_tombstones, render_progress, render_tombstones
from pipelines.store.transcripts.reader import Transcript
from pipelines.store.user_layout import layout_of
from pipelines.usage import Tally
from pipelines.user_settings import load_user_settings
from tests.extract.fakes import Scripted, Still
from tests.fuzz import seeds

_DAY: Final = "2026-03-18"
_LOG: Final = f"Logs/{_DAY}.md"
_NEW: Final = Item(ItemType.FACT, "one more", id="k0000000001")
_ENTRIES: Final = parse_entries(_LOG, _DAY, seeds.LOG[0].decode())
_SHOWN: Final = Item(ItemType.TODO, "Ask Bob about the index.", id="k7f3a9c2b10")
_CLAIMS: Final = tuple(Claim(kind, _SHOWN.text, ("Ask Bob.",)) for kind in ("item", "pair"))


@dataclass(frozen=True)
class Target:
    """One reader.

    Args:
        name: what `--target` calls it.
        seeds: where its inputs begin.
        feed: reads one input and asserts what must hold; it is given a scratch folder, too.
        share: how many of a thousand inputs it gets.
        refuses: the errors by which it may say that it cannot read something.
    """

    name: str
    seeds: tuple[bytes, ...]
    feed: Callable[[bytes, Path], object]
    share: int
    refuses: tuple[type[Exception], ...] = ()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _item(data: bytes, _folder: Path) -> None:
    for line in _text(data).split("\n"):
        if item := parse_item(line):
            assert parse_item(render_item(item), row_of(item)) == item
            assert "\n" not in render_item(item)


def _document(data: bytes, _folder: Path) -> None:
    document = Document("Projects/harbour.md", _text(data))
    assert edited(document).text == document.text
    assert all((document.title is not None, document.kind, document.size >= 0, document.front.faults is not None))
    grown = edited(document, add=[Block(_NEW)])
    kept = [placed.item for placed in document.items]
    left = edited(grown, remove=[_NEW.id])
    if _NEW.id not in {item.id for item in kept}:
        assert [placed.item for placed in left.items] == kept
    with_marks(document, {placed.line: placed.item for placed in document.items})


def _front_matter(data: bytes, _folder: Path) -> None:
    lines = split_lines(_text(data))
    assert "".join(lines) == _text(data)
    front = read_front_matter(lines)
    if front.lines and not front.faults:
        after = with_front_matter(Document("Areas/a.md", _text(data)), {"trust": "self", "new": "one"}).front
        assert (after.get("trust"), after.get("new")) == ("self", "one")
    with_front_matter(Document("Areas/a.md", _text(data)), {"updated": _DAY})


def _log(data: bytes, _folder: Path) -> None:
    text = _text(data)
    entries = parse_entries(_LOG, _DAY, text)
    count = text.count("\n") + 1
    assert all(1 <= entry.start_line <= count and entry.key for entry in entries)
    log_without_private(text)


def _rules(data: bytes, _folder: Path) -> None:
    entries = parse_entries(_LOG, _DAY, _text(data))
    RulesExtractor().extract(ExtractionRequest(_DAY, entries))


def _gate(data: bytes, _folder: Path) -> None:
    made_inert(_text(data))


def _transcript(data: bytes, _folder: Path) -> None:
    transcript = Transcript(io.BytesIO(data))
    lines = data.count(b"\n") + 1
    assert all(1 <= turn.line <= lines and turn.text.encode() for turn in transcript)
    assert bool(transcript.unread) == bool(transcript.broken)


def _private(data: bytes, _folder: Path) -> None:
    for line in data.splitlines(keepends=True):
        record_without_private(line)


def _settings(data: bytes, folder: Path) -> None:
    (folder / "curate.toml").write_bytes(data)
    assert load_settings(folder).author


def _layout(data: bytes, folder: Path) -> None:
    (folder / NOTES_FILE).write_bytes(data)
    layout = layout_of(folder / "Curated")
    for path in (_LOG, "../../x.md", "../.git/config", "../a/../../x.md", "../Curated/MEMORY.md"):
        assert not layout.has(path)


def _user_settings(data: bytes, folder: Path) -> None:
    file = folder / "config.toml"
    file.write_bytes(data)
    with patch.dict(os.environ, {"CURATE_CONFIG": str(file), "KEY": "k", "HOME": str(folder)}, clear=True):
        load_user_settings()


def _review(data: bytes, _folder: Path) -> None:
    review = Document("Review.md", _text(data))
    home = Document("Projects/a.md", "# A\n\n## Facts\n\n- Fact: x <!-- k1c02d9e441 since=2026-01-01 -->\n")
    answered = Reconciled({review.path: review, home.path: home}, _DAY)
    apply_answers(answered)
    assert all(document.text.encode() for document in answered.documents.values() if document.text)


def _reply(data: bytes, _folder: Path) -> None:
    text = _text(data)
    documents = (DocumentChoice("harbour", "Harbour", "project", "Projects/harbour"),)
    request, shown = ExtractionRequest(_DAY, _ENTRIES, documents), {_SHOWN.id: _SHOWN}
    with suppress(BadReply):
        reply = read_reply(text) or {key: [] for key in PARTS}
        own = {f"n{at}": f"own{at}" for at in range(len(reply["items"]))}
        seen = Shown.of([*(one.text for one in _ENTRIES), _SHOWN.text])
        found, _ = extraction_of(reply, Asked(request, "x@1", shown, seen, own))
        ids = {_SHOWN.id, *own.values()}
        parts = (found.candidates, found.operations, found.open_lists, found.episode)
        places = [one.places for some in parts for one in some]
        assert all(some and all(place.lines for place in some) for some in places)
        assert all(one.document in {"", "Projects/harbour"} for one in found.candidates)
        assert all({*one.replaces, *(ident for _, ident in one.links)} <= ids for one in found.candidates)
        assert all(one.ids and {*one.ids} <= ids for one in found.operations)
        assert {*found.seen} <= {_SHOWN.id}
    chain = Chain((Scripted("x:1", [text]),), pause=Still().retry)
    verified = ModelVerifier(chain).verify(_CLAIMS)
    assert len(verified.verdicts) == (0 if verified.failure else len(_CLAIMS))
    assert Verdict.SUPPORTED not in verified.verdicts[1:]
    now: dict[str, object] = {"before": [], "episodes": [], "items": [], "waits": []}
    asked: dict[str, object] = {"day": _DAY, "weekday": "Wed", "calendar": [], "now": now, "pages": []}
    with suppress(ModelFailed):
        briefed = ModelBriefer(chain).write(asked, [], Tally())
        for one in (*briefed.now, *(sentence for some in briefed.states.values() for sentence in some)):
            assert one.text == " ".join(one.text.split())


def _state(data: bytes, _folder: Path) -> None:
    progress, stones = read_progress(data), read_tombstones(data)
    assert render_progress(read_progress(render_progress(progress))) == render_progress(progress)
    assert read_tombstones(render_tombstones(stones)) == stones


def _secret(data: bytes, _folder: Path) -> None:
    redactor = Redactor(lambda: b"k" * 32)
    bare, _ = redactor.redact_bytes(data)
    assert bare.count(b"\n") == data.count(b"\n")
    for line in data.splitlines():
        redactor.redact_record(line)


def _query(data: bytes, _folder: Path) -> None:
    text = _text(data)
    snippets(text[:500], [text])


TARGETS: Final = (
    Target("items", seeds.ITEM, _item, 150),
    Target("documents", (*seeds.DOCUMENT, *seeds.ITEM), _document, 100),
    Target("front-matter", seeds.DOCUMENT, _front_matter, 60),
    Target("logs", seeds.LOG, _log, 100),
    Target("rules", seeds.LOG, _rules, 20),
    Target("gate", seeds.LOG, _gate, 20),
    Target("transcripts", seeds.TRANSCRIPT, _transcript, 130),
    Target("private", seeds.TRANSCRIPT, _private, 40),
    Target("curate.toml", seeds.SETTINGS, _settings, 60, (BadSettings,)),
    Target("layout", seeds.LAYOUT, _layout, 50, (BadSettings,)),
    Target("config.toml", seeds.USER_SETTINGS, _user_settings, 50, (CurateError,)),
    Target("review", seeds.REVIEW, _review, 60),
    Target("replies", seeds.REPLY, _reply, 70),
    Target("state", seeds.STATE, _state, 50),
    Target("secrets", seeds.SECRET, _secret, 20),
    Target("queries", seeds.QUERY, _query, 10),
)
