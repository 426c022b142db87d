"""How a language model reads a day, whoever it is: the pieces, the prompt, the question, the checked answer."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.memory.items import fold
from pipelines.models.extraction import Extraction
from pipelines.models.pieces import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pipelines.models.extraction import Candidate, DocumentChoice, ExtractionRequest
    from pipelines.models.pieces import Piece
    from pipelines.models.prompts import Prompt, Rendered

    Ask = Callable[[Rendered, dict[str, Any]], "Answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The text that a provider gave for one call, and the tokens it counted."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reader:
    """What turns one provider's call into an extractor.

    Args:
        name: the extractor's, as an item's `by` records it.
        provider: who is named when it fails.
        prompt: the extraction prompt.
        input_tokens: the most log text in one call.
        ask: makes the call: a rendered prompt and a JSON schema in, an `Answer` out, or `ModelFailed`.
    """

    name: str
    provider: str
    prompt: Prompt
    input_tokens: int
    ask: Ask

    def read(self, request: ExtractionRequest) -> Extraction:
        """Return the candidates of a day, from as many calls as its length needs; a day without entries needs none.

        Raises:
            ModelFailed: a call failed or its answer cannot be used. Nothing of the day is returned then: it stays
                pending as a whole.
        """
        documents = [choice.id for choice in request.documents]
        answers: list[Answer] = []
        candidates: list[Candidate] = []
        dropped: Counter[str] = Counter()
        pieces = cut(request.entries, self.input_tokens)
        for piece in pieces:
            answer = self.ask(self._rendered(piece, request), _schema())
            found, faults = self._checked(answer, piece, documents)
            answers.append(answer)
            candidates += found
            dropped += faults
        return Extraction(
            tuple(sorted(candidates, key=lambda one: (one.entry.path, one.start_line, one.end_line))),
            calls=len(answers),
            input_tokens=sum(answer.input_tokens for answer in answers),
            output_tokens=sum(answer.output_tokens for answer in answers),
            notes=_notes(request.day, pieces, dropped),
        )

    def _rendered(self, piece: Piece, request: ExtractionRequest) -> Rendered:
        documents = [{"id": one.id, "kind": one.kind, "title": fold(one.title)} for one in request.documents]
        code = nonce(piece.text, request.day, request.documents)
        return self.prompt.render({"day": request.day, "documents": documents, "log": piece.text, "nonce": code})

    def _checked(
        self, answer: Answer, piece: Piece, documents: Sequence[str]
    ) -> tuple[tuple[Candidate, ...], Counter[str]]:
        from pipelines.models.reply import BadReply, candidates_of, read_items  # noqa: PLC0415  brings in pydantic

        try:
            items = read_items(answer.text)
        except BadReply as fault:
            raise ModelFailed(self.provider, str(fault)) from None
        return candidates_of(items, piece.entries, documents, self.name)


def nonce(log: str, day: str, documents: Sequence[DocumentChoice]) -> str:
    """Return the code of the marker lines around the log.

    It is a hash of everything between and before them, so a log cannot hold its own code, and the same day gives the
    same prompt on every machine.
    """
    titles = "\x1f".join(f"{choice.id}\x1e{choice.title}" for choice in documents)
    return hashlib.sha256(f"{day}\x1d{titles}\x1d{log}".encode(errors="surrogatepass")).hexdigest()[:20]


def _schema() -> dict[str, Any]:
    from pipelines.models.reply import reply_schema  # noqa: PLC0415  brings in pydantic

    return reply_schema()


def _notes(day: str, pieces: Sequence[Piece], dropped: Counter[str]) -> tuple[str, ...]:
    notes = [f"{day}: {count} proposed {_items(count)} dropped: {why}" for why, count in sorted(dropped.items())]
    if shortened := sum(piece.shortened for piece in pieces):
        notes.append(f"{day}: {shortened} overlong {'entry was' if shortened == 1 else 'entries were'} read in part")
    return tuple(notes)


def _items(count: int) -> str:
    return "item was" if count == 1 else "items were"
