"""Voyage through its real SDK, and OpenAI-compatible addresses, against local servers that speak their wires."""

import base64
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pipelines.errors import EmbeddingFailed
from pipelines.provider_settings import EmbedderSettings
from pipelines.search.build import update_index
from pipelines.search.embed import BATCH, embed_index
from pipelines.search.embedders.embedder import BadVectors, Embedder, unit_rows
from pipelines.search.embedders.remote import OpenAIEmbedder, VoyageEmbedder
from tests.extract.days import forget_the_machine
from tests.extract.wire import KEY, Prepared, Wire, _serving

WIDTH = 1024
SAID = "what the log said about the harbour"


@pytest.fixture(autouse=True)
def _no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_the_machine(monkeypatch)
    # The SDK waits a second or more between attempts.
    monkeypatch.setattr("tenacity.nap.time", SimpleNamespace(sleep=lambda _: None))


def vector_of(text: str, width: int = WIDTH) -> list[float]:
    """Return a vector that tells texts apart, of a length that is not one."""
    random = np.random.default_rng(sum(text.encode()) + len(text))
    return [float(np.float32(number)) for number in random.normal(0, 3, width)]


def embeddings(texts: list[str], width: int = WIDTH, *, cut: bool = False) -> Prepared:
    rows = [{"object": "embedding", "index": at, "embedding": vector_of(t, width)} for at, t in enumerate(texts)]
    return Prepared(body={"object": "list", "data": rows, "model": "m", "usage": {"total_tokens": 3}}, cut=cut)


def packed(texts: list[str]) -> Prepared:
    """Return an answer with base64 vectors, as Voyage really gives them."""
    rows = [
        {
            "object": "embedding",
            "index": at,
            "embedding": base64.b64encode(np.array(vector_of(t), "<f4").tobytes()).decode(),
        }
        for at, t in enumerate(texts)
    ]
    return Prepared(body={"object": "list", "data": rows, "model": "m", "usage": {"total_tokens": 3}})


def check(path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Prepared | None:
    """Refuse what the real ones refuse."""
    if path != "/v1/embeddings":
        return Prepared(404, {"detail": f"no such path as {path}"})
    if headers.get("authorization") != f"Bearer {KEY}":
        return Prepared(401, {"detail": f"the key {headers.get('authorization')} is wrong"})
    if len(body["input"]) > 1000 or not all(text.strip() for text in body["input"]):
        return Prepared(400, {"detail": "too many texts, or an empty one"})
    return None


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Serve the vectors of the texts that are asked about; a model called `tiny` has four numbers."""
    asked: list[dict[str, Any]] = []

    def good() -> Prepared:
        return embeddings(asked[-1]["input"], 4 if "tiny" in asked[-1]["model"] else WIDTH)

    with _serving(check, good) as wire:
        wire.requests = asked
        yield wire


def voyage(wire: Wire, **changes: Any) -> VoyageEmbedder:
    usual: dict[str, Any] = {"api_key": KEY, "base_url": wire.url, "timeout_seconds": 20, "max_retries": 0}
    return VoyageEmbedder(EmbedderSettings(**usual | changes))


def compatible(wire: Wire, **changes: Any) -> OpenAIEmbedder:
    usual: dict[str, Any] = {"provider": "openai", "model": "all-minilm", "api_key": KEY, "base_url": wire.url}
    return OpenAIEmbedder(EmbedderSettings(**usual | changes))


EMBEDDERS = pytest.mark.parametrize("make", [voyage, compatible])


@EMBEDDERS
def test_a_text_that_the_address_refuses_costs_that_text_alone(tmp_path: Path, make: Any) -> None:
    asked: list[dict[str, Any]] = []

    def refusing(path: str, headers: Mapping[str, str], body: dict[str, Any]) -> Prepared | None:
        if any("cellar" in text for text in body["input"]):
            return Prepared(400, {"detail": "this input was flagged"})
        return check(path, headers, body)

    (tmp_path / "Logs").mkdir()
    lines = [f"- crate {number} went to the {'cellar' if number == 70 else 'quay'}" for number in range(100)]
    (tmp_path / "Logs/2026-01-01.md").write_text("\n".join(lines))
    update_index(tmp_path)
    with _serving(refusing, lambda: embeddings(asked[-1]["input"])) as wire:
        wire.requests = asked
        report = embed_index(tmp_path, make(wire))
    assert (report.embedded, report.missing, report.faults) == (99, 1, ())


# ---------------------------------------------------------------- what works


def test_voyage_is_told_documents_from_queries(wire: Wire) -> None:
    wire.answers = [packed(["a"]), packed(["a"])]
    embedder = voyage(wire)
    assert np.allclose(embedder.embed_documents(["a"])[0], embedder.embed_query("a"))
    document, query = wire.requests
    assert (document["input_type"], query["input_type"]) == ("document", "query")
    assert (document["model"], document["output_dimension"], document["truncation"]) == ("voyage-4-lite", 1024, True)
    assert embedder.name == "voyage:voyage-4-lite"


def test_a_call_holds_so_many_texts(wire: Wire, tmp_path: Path) -> None:
    (tmp_path / "Logs").mkdir()
    lines = [f"- crate {number} went to the quay" for number in range(BATCH + 1)]
    (tmp_path / "Logs/2026-01-01.md").write_text("\n".join(lines))
    update_index(tmp_path)
    report = embed_index(tmp_path, compatible(wire))
    assert [len(asked["input"]) for asked in wire.requests if asked["input"] != ["dimension"]] == [BATCH, 1]
    assert report.missing == 0


def test_a_query_is_tried_once(wire: Wire) -> None:
    wire.answers = [Prepared(429, {"detail": "slow down"})]
    with pytest.raises(EmbeddingFailed):
        voyage(wire, max_retries=2).embed_query("a")
    assert len(wire.requests) == 1


def test_compatible_without_a_key(wire: Wire) -> None:
    with pytest.raises(EmbeddingFailed, match="refused the key"):
        compatible(wire, api_key="").embed_query("a")
    assert "Bearer" not in wire.refused[-1]


def test_the_dimension_is_learned_by_asking_once(wire: Wire) -> None:
    embedder = compatible(wire, model="tiny")
    assert (embedder.dimension, embedder.dimension, len(wire.requests)) == (4, 4, 1)


# ---------------------------------------------------------------- what fails, and what is said


@EMBEDDERS
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Prepared(400, {"detail": SAID}), "rejected the request as invalid (status 400)"),
        (Prepared(403, {"detail": SAID}), "does not allow this key to use the model (status 403)"),
        (Prepared(429, {"detail": SAID}), "is over its rate limit or quota (status 429)"),
        (Prepared(500, {"detail": SAID}), "had an internal error (status 500)"),
        (Prepared(503, SAID, content_type="text/html"), "had an internal error (status 503)"),
        (embeddings(["a"]), "returned 1 vectors for 2 texts"),
        (embeddings(["a", "b", "c"]), "returned 3 vectors for 2 texts"),
        (embeddings(["a", "b"], cut=True), "could not be reached, or the connection broke"),
    ],
)
def test_every_failure_is_a_plain_sentence(wire: Wire, make: Any, answer: Prepared, said: str) -> None:
    wire.answers = [answer]
    with pytest.raises(EmbeddingFailed) as caught:
        make(wire).embed_documents([SAID, "the dog"])
    text = f"{caught.value!s} {caught.value!r} {caught.value.__cause__!r} {caught.value.__suppress_context__}"
    assert said in text
    assert KEY not in text
    assert SAID not in text
    assert wire.url not in text
    assert caught.value.__suppress_context__
    assert "log entries" not in caught.value.advice


@EMBEDDERS
def test_nobody_there_and_no_answer_in_time(wire: Wire, make: Any) -> None:
    with pytest.raises(EmbeddingFailed, match="could not be reached"):
        make(wire, base_url="http://127.0.0.1:1").embed_query("a")
    wire.answers = [Prepared(hold=True)]
    with pytest.raises(EmbeddingFailed, match="gave no answer in time"):
        make(wire, timeout_seconds=0.2).embed_documents(["a"])


@EMBEDDERS
@pytest.mark.parametrize("body", ["[]", "{}", '{"data": 1}', '{"data": [1]}', '{"data": [{"index": 1}]}', "no JSON"])
def test_another_wire_is_refused(wire: Wire, make: Any, body: str) -> None:
    wire.answers = [Prepared(body=body)]
    with pytest.raises(EmbeddingFailed, match="not its wire format"):
        make(wire).embed_query("a")


@EMBEDDERS
def test_another_dimension_than_before_is_refused(wire: Wire, make: Any) -> None:
    embedder: Embedder = make(wire)
    embedder.embed_query("a")
    wire.answers = [embeddings(["a"], 8)]
    with pytest.raises(EmbeddingFailed, match="returned vectors of 8 numbers instead of 1024"):
        embedder.embed_documents(["a"])


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_and_gets_no_key(wire: Wire, status: int) -> None:
    with _serving(check, lambda: embeddings(["a"])) as elsewhere:
        wire.answers = [Prepared(status, {}, {"location": elsewhere.url + "/v1/embeddings"})]
        with pytest.raises(EmbeddingFailed, match="sent a redirect"):
            compatible(wire).embed_query("a")
        assert elsewhere.requests == []


def test_an_own_machine_is_not_asked_through_a_proxy(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert compatible(wire).embed_query("a").shape == (WIDTH,)


def test_making_an_embedder_imports_nothing_heavy_and_shows_no_key() -> None:
    code = """
import sys
from pipelines.provider_settings import EmbedderSettings
from pipelines.search.embedders.remote import VoyageEmbedder
from pipelines.search.embedders.remote import OpenAIEmbedder
settings = EmbedderSettings(provider="voyage", api_key="s3cret-of-nobody")
print(VoyageEmbedder(settings), OpenAIEmbedder(settings))
assert not {"numpy", "requests"} & set(sys.modules)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    assert "s3cret" not in told.stdout


# ---------------------------------------------------------------- the parts


@pytest.mark.parametrize("rows", [[[0, 0]], [[1, 2], [3]], [1, 2], "no", None, [[]], {"a": 1}, [[float("inf"), 1]]])
def test_rows_without_a_direction_are_refused(rows: object) -> None:
    with pytest.raises(BadVectors):
        unit_rows(rows, 1)
