"""`curate index` and `curate search` with an embedder, narrowed down."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from pipelines.errors import ModelFailed
from pipelines.night.report import Watch
from pipelines.search import embed as meaning
from tests.conftest import Memory
from tests.search.bag import Bag


@pytest.fixture(name="bag")
def embedder(monkeypatch: pytest.MonkeyPatch) -> Bag:
    bag = Bag()
    monkeypatch.setattr(meaning, "chosen_embedder", lambda: (bag, "a bag"))
    monkeypatch.setattr(meaning, "FEWEST_WORDS", 1)
    return bag


@pytest.fixture(name="filled")
def with_logs(memory: Memory, bag: Bag) -> Memory:
    assert bag.name
    memory.write("Logs/2026-02-01.md", "- we bought a vessel\n- Decision: paint it blue\n")
    memory.write("Logs/2026-02-05.md", "- the boat sank\n")
    assert "Vectors: " in memory.curate("index")
    return memory


def results(said: str) -> list[str]:
    answer = next(line for line in said.splitlines() if line.startswith("{"))
    return [f"{hit['path']}:{hit['start_line']}" for hit in json.loads(answer)["results"]]


def test_nights_go_on_until_every_unit_has_its_vector(filled: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    filled.night("2026-02-06T01:00")
    shutil.rmtree(filled.root / ".curate")
    with monkeypatch.context() as brief:
        brief.setattr(Watch, "patience", 0.0)
        filled.night("2026-02-07T02:00")
    assert "uses words only" in filled.curate("search", "ship")
    filled.night("2026-02-08T02:00")
    assert "words alone" not in filled.curate("search", "ship")


def test_another_embedder_pauses_the_meaning_and_says_so(filled: Memory, bag: Bag) -> None:
    bag.name = "test:new"
    said = filled.curate("search", "boat", "--json")
    assert "test:new" in said
    assert results(said) == ["Logs/2026-02-05.md:1"]
    filled.curate("index")
    assert "Logs/2026-02-01.md:1" in results(filled.curate("search", "boat", "--json"))


def test_an_embedder_that_fails_leaves_the_words(filled: Memory, bag: Bag, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> NDArray[np.float32]:
        raise ModelFailed("bag", f"has a hole where {text} was")

    monkeypatch.setattr(bag, "embed_query", fail)
    said = filled.curate("search", "boat", "--json")
    assert "uses words alone" in said
    assert results(said) == ["Logs/2026-02-05.md:1"]


def test_without_vectors_a_search_brings_in_no_numpy(bare_memory: Path) -> None:
    code = (
        "import sys; from pipelines.cli import run_cli;"
        f"run_cli(['search', 'boat', '--memory', {str(bare_memory)!r}]);"
        "print(sorted({'numpy', 'pydantic'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)  # this one builds the index
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert told.stdout.endswith("[]\n")


def test_numpy_has_one_thread_unless_somebody_says_otherwise(memory: Memory) -> None:
    code = (
        "import atexit, os, sys; from pipelines.start import main;"
        " atexit.register(lambda: print(os.environ['OPENBLAS_NUM_THREADS'])); main()"
    )
    command = [sys.executable, "-c", code, "index", "--memory", str(memory.root)]
    for given, used in ((None, "1"), ("3", "3")):
        environ = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environ |= {"OPENBLAS_NUM_THREADS": given} if given else {}
        told = subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout
        assert told.splitlines()[-1] == used
