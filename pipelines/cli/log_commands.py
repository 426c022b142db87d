"""`curate log` appends a line to today's log; `curate add` files an item."""

from __future__ import annotations

import shlex
import sys

import click

from pipelines.cli.options import OpenMemory, TextCommand, Words, choice_of, project_option, with_memory
from pipelines.cli.output import say, say_verbatim, warn
from pipelines.clock import day_of
from pipelines.errors import UsageFault
from pipelines.queries.startup.own_project import project_of_folder, project_of_line, working_directory
from pipelines.store.append_log import append_line, log_line
from pipelines.store.item import ItemType
from pipelines.store.layout import Kind, slug
from pipelines.store.secrets.redact import format_found, load_redactor, without_private
from pipelines.store.template import new_project

MAX_BYTES = 1024 * 1024


@click.command(cls=TextCommand)
@click.argument("text", nargs=-1, required=True)
@project_option("The project that the line belongs to (default: that of the working directory).")
@with_memory
def curate_log(text: Words, project: str, opened: OpenMemory) -> None:
    """Append `- HH:MM TEXT` to today's log; if TEXT is `-`, read it from standard input.

    Several lines that begin with a label (`Decision: …`) become an entry each. All is safely on disk on return, even if
    others write at the same moment. Secrets are redacted, and anything between <private> and </private> is left out.
    """
    root, settings, when = opened
    given = _standard_input() if text == ("-",) else " ".join(text)
    if not given.strip():
        raise UsageFault("There is nothing to log.", "Give a TEXT, or pipe one in with `curate log -`.")
    project = project_of_line(str(root), given, project)
    line = load_redactor(root).redact(log_line(f"{when:%H:%M}", without_private(given), project))
    path = append_line(root, day_of(when, settings), line.text)
    for written in line.text.split("\n"):
        say(f"{path}: {written}")
    if hint := new_project(root, project):
        warn(f"curate log: {hint}")
    if line.found:
        warn(f"curate log: {format_found(line.found)} redacted before it was written.")


def _standard_input() -> str:
    data = sys.stdin.buffer.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageFault(
            f"Standard input is longer than {MAX_BYTES:,} bytes, the most that one log line may have.",
            "Log a summary, or keep the text in a file of its own.",
        )
    try:
        return data.decode()
    except UnicodeDecodeError as fault:
        raise UsageFault(f"Standard input is not UTF-8 at byte {fault.start}.", "Convert it to UTF-8 first.") from None


@click.command(cls=TextCommand)
@click.argument("kind", metavar="TYPE", type=choice_of(ItemType))
@click.argument("text", nargs=-1, required=True)
@click.option(
    "--document", "--project", metavar="NAME", default="", help="A page's path, title or file name, or a new project."
)
@with_memory
def curate_add(*, kind: str, text: Words, document: str, opened: OpenMemory) -> None:
    """Add an item yourself. TYPE is Decision, Fact, Rule, Todo or Risk.

    Without --document a fact about you goes to USER.md; all else to the project of the working directory, or where a
    run would file it. The change is committed at once. If an item already has the same words, it is confirmed as your
    word. Items that say nearly the same are shown, each with the command that puts yours in its place.
    """
    from pipelines.cli.manual_changes import document_named, redacted_text  # noqa: PLC0415  as above
    from pipelines.night.manual import change_by_hand  # noqa: PLC0415  as above
    from pipelines.night.own_items import file_own_item  # noqa: PLC0415  as above
    from pipelines.queries.item_graph import item_line  # noqa: PLC0415  logging a line needs nothing of the night

    root = opened[0]
    sentence = redacted_text(root, " ".join(text), "add")
    if not sentence:
        raise UsageFault("There is nothing to add.", "Give a TEXT.")
    with change_by_hand(opened, "curate add") as direct:
        path, folder = "", project_of_folder(str(root), direct.documents, working_directory())
        if hint := "" if "/" in document or document.endswith(".md") else new_project(root, document):
            path = f"Projects/{slug(document)}.md"
        elif document:
            path = document_named(direct.documents, document, Kind.ARCHIVE, Kind.EPISODE)
        filed = file_own_item(ItemType(kind), sentence, path, direct, document, folder)
    said = f"{filed.item.id} in {filed.path}"
    if filed.is_new:
        say(f"Added {said}. {hint}".strip())
        for item, near in filed.near:
            say(f"Near it in {near}: {item_line(item)}")
            say_verbatim(f"  If yours replaces that: curate correct {item.id} {shlex.quote(sentence)}")
        return
    saying = f" (“{filed.item.text}”)" if filed.item.text != sentence else ""
    say(f"The memory already holds it: {said}{saying}. It is confirmed as your word.")
