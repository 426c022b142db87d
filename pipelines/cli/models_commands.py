"""`curate models`: show which models read and embed, and why; choose a reader; download the local embedder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipelines.cli.output import say, say_fields, watch_for_people
from pipelines.errors import UsageFault
from pipelines.provider_settings import LOGINS, models_folder, user_file
from pipelines.queries.readers import days_read_by_rules, local_server, login_means, readers
from pipelines.queries.startup.fast import find_root
from pipelines.search.embedders.embedder import MODEL
from pipelines.search.embedders.local import WEIGHTS
from pipelines.user_settings import UserSettings, load_user_settings

if TYPE_CHECKING:
    from collections.abc import Sequence


_MILLION = 1_000_000
_NEEDS = (
    "anthropic and gemini need a key, openai a key or a server on this machine,"
    " claude-code and codex a login: docs/models.md."
)


@click.group("models", invoke_without_command=True)
@click.pass_context
def curate_models(context: click.Context) -> None:
    """Show who reads the logs, which embedder search uses, why, and what else is available."""
    from pipelines.search.embed import chosen_embedder  # noqa: PLC0415  the verb's work

    if context.invoked_subcommand:
        return
    user = load_user_settings()
    _, why = chosen_embedder(user.embedder)
    folder = models_folder() / MODEL
    here = "fetched" if (folder / WEIGHTS).is_file() else "not fetched; run `curate models fetch`"
    others = ((name, means) for name, means in readers(user) if name not in user.providers)
    say_fields(
        [
            ("Reader", f"{', then '.join(user.providers)}: {_why(user)}"),
            *(("Also here", f"{name}: {means}; `curate models use {name}`") for name, means in others),
            ("Others", _NEEDS),
            ("Embedder", why),
            ("Local", f"{MODEL}: {here}"),
            ("Folder", str(folder)),
        ]
    )


@curate_models.command()
def fetch() -> None:
    """Download the local model into the cache, and check every file against its pinned sha256."""
    from pipelines.search.embedders.fetch import MINILM, fetch_model  # noqa: PLC0415  the verb's work, not its help

    with watch_for_people() as watch:
        watch.begin("model")
        source = fetch_model(
            MINILM, models_folder(), lambda here, needed: watch.advance(here // _MILLION, needed // _MILLION)
        )
    came = f"came from {source}" if source else "was here already"
    say(f"{MINILM.name} {came}; every file has its pinned sha256.")


@curate_models.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def use(*, names: tuple[str, ...]) -> None:
    """Set in your own settings who reads the logs. If one fails, the next is asked.

    anthropic and gemini need a key, openai a key or a server on this machine; claude-code and codex use the login of
    that program; exec:COMMAND runs a program of yours; rules need nothing.
    """
    choose(names)
    root = find_root("")
    if "rules" not in names and root and (days := days_read_by_rules(Path(root))):
        again = f"`curate run --again {days[-1]}` reads that log again; repeat it for each day that you want."
        say(f"Only rules have read {', '.join(days[-3:])}. {again}")


def choose(names: Sequence[str]) -> None:
    """Set who reads in the user's settings.

    Raises:
        UsageFault: as `check_readers` says.
        BadFile: the settings cannot be edited.
    """
    from pipelines.agents.install_plan import InstallPlan  # noqa: PLC0415  as above
    from pipelines.agents.settings_files import carry_out  # noqa: PLC0415  few commands write settings
    from pipelines.agents.targets import reader_edit  # noqa: PLC0415  as above
    from pipelines.extract.choose_models import model_of  # noqa: PLC0415  as above

    file, user, more = check_readers(names)
    carry_out(InstallPlan((reader_edit(file, names, more),)))
    say(f"From now on {', then '.join(names)} {'reads' if len(names) == 1 else 'read'} the logs ({file}).")
    for name in filter(LOGINS.__contains__, names):
        say(f"Note: {login_means(name)}.")
        if why := model_of(name, user.models[name]).trouble():
            say(f"Note: {name} {why}.")


def check_readers(names: Sequence[str]) -> tuple[Path, UserSettings, dict[str, str]]:
    """Return the user's file and settings, and the address and model of `openai` if they are new.

    `openai` without a model means the server on this machine that answers.

    Raises:
        UsageFault: a name is no provider, or it lacks its key or its program.
    """
    from pipelines.extract.llm.logged_in import check_programs  # noqa: PLC0415  as above

    file = user_file()
    if file is None:
        raise UsageFault("HOME is not set, so your settings cannot be found.", "Set it to your home directory.")
    if names[1:] and "rules" in names:
        raise UsageFault("Rules stand alone.", "A day that no model can read waits for the next run.")
    user, more = load_user_settings(), dict[str, str]()
    if "openai" in names and "openai" not in user.models and (local := local_server()):
        more = {"base_url": local[0], "model": local[1]}
    for name in names:
        if name != "openai" or not more:
            user = load_user_settings(name)
    check_programs(names, user.models)
    return file, user, more


def _why(user: UserSettings) -> str:
    if user.chosen:
        return f"your settings name {'it' if len(user.providers) == 1 else 'them'} ({user_file()})."
    if not user.keys:
        return "no model reads, because there is no key and your settings name no reader."
    others = f"; {', '.join(user.keys[1:])} has a key too, but is not used" if user.keys[1:] else ""
    return f"its key is in the environment{others}."
