"""What `curate status` says of search: whether the index follows the files, and who embeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelines.errors import BadSettings
from pipelines.search.damage import index_facts

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.damage import IndexFacts, VectorFacts


def search_facts(root: Path) -> dict[str, object]:
    """Return what `--json` prints of search: `index` with its units and vectors, and `embedder` with the reason."""
    name, why = _embedder()
    return {"index": index_facts(root).to_json(), "embedder": {"name": name, "why": why}}


def search_lines(root: Path) -> list[str]:
    """Return the same as a person reads it."""
    facts, (name, why) = index_facts(root), _embedder()
    lines = [f"Index     {_index(facts)}", f"Embedder  {why}"]
    if facts.vectors or name:
        lines.append(f"Vectors   {_vectors(facts.vectors, name)}")
    return lines


def _embedder() -> tuple[str | None, str]:
    from pipelines.search.embed import chosen_embedder  # noqa: PLC0415  the verb's work, not its help

    try:
        embedder, why = chosen_embedder()
    except BadSettings as fault:
        return None, f"Keyword search only: {fault.sentence}"
    return embedder.name if embedder else None, why


def _index(facts: IndexFacts) -> str:
    if facts.state not in {"current", "behind"}:
        return facts.sentence
    units = f"{facts.units:,} units of {facts.files:,} files"
    return f"{units}; {facts.sentence or 'no file changed since.'}"


def _vectors(vectors: VectorFacts | None, embedder: str | None) -> str:
    if vectors is None:
        return "none yet; `curate index` makes them."
    told = f"{vectors.present:,} present, {vectors.missing:,} missing"
    if embedder is None:
        return f"{told}, by {vectors.model}; unused until there is an embedder."
    if embedder != vectors.model:
        return f"{told}, by {vectors.model}; search goes by words alone until `curate index` has embedded anew."
    return f"{told}{'; `curate index` embeds them.' if vectors.missing else '.'}"
