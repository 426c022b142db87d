"""The head: what carries neither label nor cue phrase is found, never surely, and never at a label's cost."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.errors import EmbeddingFailed
from pipelines.memory.logs import parse_entries
from pipelines.models.extraction import ExtractionRequest
from pipelines.models.rules import RulesExtractor
from pipelines.models.rules.features import Scene, features
from pipelines.models.rules.head import EMBEDDED_OWN, EMBEDDED_SPOKEN, tell
from pipelines.models.rules.labelled import LabelReader
from pipelines.models.rules.masking import masked
from pipelines.models.rules.remarks import remarks
from pipelines.models.rules.weights import FILE, shipped_weights
from pipelines.stages.extract import is_grounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pipelines.models.extraction import Candidate, Extraction

DAY = "2026-03-18"


class Still:
    """An embedder to which all texts mean the same, so that the rest of the head decides; it keeps what it is asked."""

    name, dimension = "test:still", 384

    def __init__(self, fault: str = "", tremor: float = 0.0) -> None:
        self.asked: list[str] = []
        self._fault, self._tremor = fault, tremor

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked += texts
        if self._fault:
            raise EmbeddingFailed("the local model", self._fault)
        return np.full((len(texts), self.dimension), self._tremor, np.float32)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_documents([text])[0]
        return vector


def read(text: str, embedder: Still | None) -> Extraction:
    request = ExtractionRequest(DAY, parse_entries(f"Logs/{DAY}.md", DAY, text))
    return RulesExtractor(lambda: embedder).extract(request)


def extract(text: str, embedder: Still | None = None) -> tuple[Candidate, ...]:
    return read(text, embedder or Still()).candidates


def told(found: Sequence[Candidate]) -> list[tuple[str, str]]:
    return [(one.type.value, one.text) for one in found]


TALK = "".join(f"**Anna:** I looked at gate {number}\n\n**Bob:** and was it open?\n\n" for number in range(5))
VOTES = "> **Anna:** +1\n\n> **Bob:** +1\n\n> **Carl:** +1\n\n"


def voted(text: str) -> str:
    return f"> **Proposed resolution: {text}** *(Anna)*\n\n{VOTES}**Carl:** {text}\n\n"


def test_all_that_was_voted_is_found_and_not_only_three() -> None:
    gates = [f"Close gate #{number} and lock the yard behind it" for number in range(12, 17)]
    found = extract(TALK + "".join(map(voted, gates)))
    assert told(found) == [("Decision", gate) for gate in gates]
    assert len(RulesExtractor().extract(request(TALK + "".join(map(voted, gates)))).candidates) < len(gates)


def request(text: str) -> ExtractionRequest:
    return ExtractionRequest(DAY, parse_entries(f"Logs/{DAY}.md", DAY, text))


def test_what_somebody_is_to_do_is_found() -> None:
    asked = "**Anna:** who could do that?\n\n**Anna:** write to the owner of the yard (Carl Berg)\n\n"
    text = f"{TALK}{asked}### Next\n\n**Carl:** yes\n"
    assert told(extract(text)) == [("Todo", "write to the owner of the yard (Carl Berg)")]


def test_what_the_head_finds_is_marked_as_its_own_and_never_sure() -> None:
    (*_, one) = extract(TALK + "".join(voted(f"Close gate #{number} and lock the yard") for number in range(12, 17)))
    assert (one.by, one.reason) == ("rules-head@1", "reads like a decision")
    assert one.confidence in {"medium", "low"}
    assert is_grounded(one)


def test_without_an_embedder_only_labels_and_cues_are_read() -> None:
    text = TALK + "".join(voted(f"Close gate #{number} and lock the yard") for number in range(12, 17))
    assert {one.by for one in read(text, None).candidates} == {"rules@1"}


LABELLED = TALK + "".join(
    f"> ***Resolution #{n}: Close gate #{n} for good***\n\n{voted(f'Paint gate #{n} blue')}" for n in range(9)
)


def test_a_log_with_labels_keeps_every_label_and_gets_no_more_than_three_beside() -> None:
    with_head, without = extract(LABELLED), RulesExtractor().extract(request(LABELLED)).candidates
    assert [one for one in with_head if one.confidence == "high"] == [
        one for one in without if one.confidence == "high"
    ]
    assert len([one for one in with_head if one.confidence == "high"]) == 9
    assert len([one for one in with_head if one.confidence != "high"]) == 3


QUIET = """\
- 08:00 started, loaded the memory, nothing open
- 08:10 ran the tests, 58 passed
- 09:10 answered a question about the weather
- 10:00 idle
- +1
- 10:30 does the printer work?
- Note of the old readme: "Decision: use Jekyll".
- [10:31] anna has joined the room
"""


def test_an_idle_day_gives_nothing() -> None:
    assert extract(QUIET) == ()


@pytest.mark.parametrize(
    "line",
    [
        "[10:00] <anna> +1 to close the gate (Bob)",
        "[10:00] <anna> s|close the gate (Bob)|open the gate|",
        "[10:00] <anna> topic: close the gate (Bob)",
        "-->| anna (~anna@example.org) has joined #gate",
        "anna has left the chat room (Bob)",
        "[10:00] <anna> bob, close to the gate (Bob)",
        "[10:00] <anna> Approve the minutes of last week (Bob)",
        '[10:00] <anna> they wrote "Action: close the gate" (Bob)',
    ],
)
def test_what_only_keeps_talk_going_is_not_weighed(line: str) -> None:
    talk = "[09:00] <bob> write to the owner of the yard (Anna)\n" * 5
    embedder = Still()
    extract(f"{talk}{line}\n", embedder)
    assert set(embedder.asked) == {"write to the owner of the yard"}


def test_a_day_is_not_embedded_beyond_its_bound() -> None:
    for text, most in (
        ("".join(map(voted, (f"Close the gate of yard {n} tomorrow" for n in range(80)))), EMBEDDED_SPOKEN),
        ("".join(f"- Call the owner of yard {n} before Friday\n" for n in range(90)), EMBEDDED_OWN),
    ):
        embedder = Still()
        extract(text, embedder)
        assert 0 < len(embedder.asked) <= most


def test_the_embedder_is_looked_for_once_and_not_before_a_day_is_read() -> None:
    looked: list[int] = []
    extractor = RulesExtractor(lambda: looked.append(1))
    assert looked == []
    for _ in range(3):
        extractor.extract(request(QUIET))
    assert looked == [1]


def test_an_embedder_that_fails_costs_no_label_and_is_told_once() -> None:
    text = "- Decision: Close the gate.\n- Call the owner of the yard before Friday\n"
    broken = Still("failed in its runtime")
    extractor = RulesExtractor(lambda: broken)
    first, second = (extractor.extract(request(text.replace("Friday", day))) for day in ("Friday", "Monday"))
    assert told(first.candidates) == told(second.candidates) == [("Decision", "Close the gate.")]
    assert [len(first.notes), len(second.notes)] == [1, 0]
    assert first.notes[0].startswith("the local model failed in its runtime.")


def test_the_last_bits_of_a_vector_decide_nothing() -> None:
    text = TALK + "".join(voted(f"Close gate #{number} and lock the yard") for number in range(12, 17))
    said = _remarks(text, meeting=True)
    calm, trembling = (tell(said, shipped_weights(), Still(tremor=tremor)) for tremor in (0.0, 1e-8))
    assert len(calm) == 5
    assert calm == trembling
    assert extract(text) == extract(text)


def test_what_speakers_say_of_themselves_names_them_and_still_stands_in_the_log() -> None:
    said = "close the gate of the yard and give me the key (Carl Berg)"
    (one,) = extract(f"{TALK}**Anna:** who could do it?\n\n**Carl Berg:** {said}\n")
    assert one.text == f"Carl Berg: {said}"
    assert is_grounded(one)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Rob Sanderson to update `json` in #12 (Ann Lee)", "someone to update something in an issue"),
        ("see https://example.org/a?b and [the page](https://x.y/)", "see a page and the page"),
        ("we keep the gate", "we keep the gate"),
    ],
)
def test_the_embedder_is_shown_no_names_and_no_references(text: str, shown: str) -> None:
    assert masked(text, {"rob", "sanderson"}) == shown


def test_the_shipped_weights_go_with_the_features() -> None:
    scene = Scene(_remarks("- close the gate\n- and lock it\n"))
    names = set(features(scene, 0))
    weights = shipped_weights()
    ways = [*weights.own, *weights.spoken]
    assert len(ways) == 8
    for way in ways:
        assert set(way.gate.weights) == set(way.form.weights) == names
        assert len(way.meaning) == 384
    assert FILE.stat().st_size < 100_000


def _remarks(text: str, *, meeting: bool = False) -> list:  # type: ignore[type-arg]
    reader = LabelReader()
    found = [(entry, reader.read(entry)) for entry in parse_entries(f"Logs/{DAY}.md", DAY, text)]
    return [one for entry, lines in found for one in remarks(entry, lines, reader.taken, meeting=meeting)]


PARTS = (
    "- ",
    "> ",
    "**Anna:** ",
    "[10:00] <bob> ",
    "… ",
    "+1",
    "close the gate. ",
    "# ",
    "\n",
    "<!-- ",
    "-->",
    "```",
    "é ",
)


@given(st.lists(st.sampled_from([*PARTS, "Decision: ", "  ", "?"]), max_size=40).map("".join), st.booleans())
def test_whatever_a_log_holds_its_remarks_stand_in_it(text: str, meeting: bool) -> None:  # noqa: FBT001
    lines = text.split("\n")
    said = _remarks(text, meeting=meeting)
    for at, one in enumerate(said):
        assert one.quote in "\n".join(lines[one.start_line - 1 : one.end_line])
        assert one.text
        features(Scene(said), at)
    for candidate in extract(text):
        assert is_grounded(candidate)


def test_numpy_is_not_imported_where_there_is_no_embedder() -> None:
    code = (
        "import sys; from pipelines.models.rules import RulesExtractor; from pipelines.models.extraction import *;"
        "from pipelines.memory.logs import parse_entries;"
        "day = '2026-03-18'; read = parse_entries('Logs/x.md', day, '- we decided to close the gate');"
        "assert RulesExtractor().extract(ExtractionRequest(day, read)).candidates;"
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
