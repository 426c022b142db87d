"""The first run over many logs: committed, pushed and let go first; vectors follow for a time, and are used at once."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.search import embed
from pipelines.search.schema import reading
from pipelines.search.vectors import kept_keys, used_model
from pipelines.store.lock import run_lock
from tests.conftest import Memory
from tests.night.sync.machines import shared
from tests.search.bag import Bag

AT = ("--now", "2026-03-01T02:00")
BATCH_SECONDS = 9.0
PHYSICIAN = "Fact: The glad physician lives at the quay."
LEFT = "texts are found by words alone so far. The next runs go on; `curate index` does it now."


class Slow(Bag):
    """Each call takes a while of a clock that only it moves; `then` is called before it."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds, self.calls = 0.0, 0
        self.then: Callable[[], object] = lambda: None

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.then()
        self.calls += 1
        self.seconds += BATCH_SECONDS
        return super().embed_documents(texts)


@pytest.fixture(name="slow")
def embedder(monkeypatch: pytest.MonkeyPatch) -> Slow:
    slow = Slow()
    monkeypatch.setattr(embed, "chosen_embedder", lambda: (slow, "a slow one"))
    monkeypatch.setattr(time, "monotonic", lambda: slow.seconds)
    return slow


@pytest.fixture(name="many")
def with_many_logs(memory: Memory) -> Memory:
    for day in range(1, 21):
        lines = (f"- on the quay we met a vessel, number {day * 100 + number}\n" for number in range(50))
        memory.write(f"Logs/2026-02-{day:02}.md", "".join(lines))
    memory.write("Logs/2026-02-20.md", "- Fact: The glad physician lives at the quay.\n- ok, thanks\n")
    return memory


def vectors(memory: Memory) -> tuple[int, int]:
    """Return how many vectors are present, and how many are missing."""
    model = used_model(memory.root)
    assert model
    with reading(memory.root) as index:
        found = [
            key in kept_keys(memory.root, model) for (key,) in index.execute("SELECT key FROM units WHERE key != 0")
        ]
    return sum(found), len(found) - sum(found)


def best(memory: Memory, query: str) -> str:
    """Return the text of the best hit."""
    answer = json.loads(memory.curate("search", query, "--json", "--limit", "1").splitlines()[0])
    return str(answer["results"][0]["text"])


def test_a_run_that_a_person_watches_ends_in_time_and_the_next_ones_go_on(
    many: Memory, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as terminal:
        terminal.setattr(sys.stderr, "isatty", lambda: True)
        said = many.curate("run", *AT)
    assert slow.calls == 7  # the first beyond a minute is the last
    assert slow.asked[0].startswith("Fact: The glad physician")
    days = [int(found[1]) for text in slow.asked if (found := re.search(r"(\d+) February 2026\)$", text))]
    assert days == sorted(days, reverse=True)
    assert min(days) > 10
    present, missing = vectors(many)
    assert present >= 7 * embed.BATCH
    assert f"{missing:,} {LEFT}" in " ".join(said.split())
    assert "you can work now" in said
    assert best(many, "happy doctor") == PHYSICIAN
    assert best(many, "number 107").endswith("number 107")
    assert LEFT not in " ".join(many.curate("run", *AT).split())
    assert vectors(many)[1] == 0
    assert best(many, "happy doctor") == PHYSICIAN


def test_before_the_first_vector_all_is_committed_pushed_let_go_and_found_by_words(memory: Memory, slow: Slow) -> None:
    one, _, remote = shared(memory)
    one.write("Logs/2026-02-20.md", "- Fact: The glad physician lives at the quay.\n")
    seen: list[str] = []

    def look() -> None:
        head = one.git("rev-parse", "HEAD").strip()
        pushed = subprocess.run(
            ["git", "rev-parse", "refs/heads/main"], cwd=remote, check=True, capture_output=True, text=True
        ).stdout.strip()
        assert pushed == head
        assert "Run-Id: " in one.git("log", "-1", "--format=%B")
        with run_lock(one.root, "somebody who works on"):
            seen.append(best(one, "quay"))

    slow.then = look
    one.curate("run", *AT)
    assert seen[0] == PHYSICIAN


@pytest.mark.parametrize("verb", ["run", "index"])
def test_ctrl_c_ends_the_vectors_alone_and_keeps_those_that_are_made(many: Memory, slow: Slow, verb: str) -> None:
    def press() -> None:
        if slow.calls == 2:
            raise KeyboardInterrupt

    slow.then = press
    said = many.curate(verb, *(AT if verb == "run" else ()), exits=0 if verb == "run" else 130)
    assert slow.calls == 2
    present, missing = vectors(many)
    assert present >= 2 * embed.BATCH
    assert f"{missing:,} {LEFT if verb == 'run' else 'missing'}" in " ".join(said.split())
    if verb == "run":
        assert "Run-Id: " in many.git("log", "-1", "--format=%B")
        assert many.git("status", "--porcelain") == ""
        assert best(many, "happy doctor") == PHYSICIAN
    slow.then = lambda: None
    many.curate("index")
    assert vectors(many)[1] == 0


def test_a_verb_by_hand_does_not_wait_for_what_is_left(many: Memory, slow: Slow) -> None:
    def press() -> None:
        raise KeyboardInterrupt

    slow.then = press
    many.curate("run", *AT)
    slow.then, slow.calls = lambda: None, 0
    many.curate("add", "Fact", "The cheerful pilot sleeps on the pier.", *AT)
    assert slow.calls == 1
    assert best(many, "happy pilot") == "Fact: The cheerful pilot sleeps on the pier."
