"""`curate forget`: an item goes from everything but git's history."""

from __future__ import annotations

import shlex
import shutil
from typing import TYPE_CHECKING, Final

import click

from pipelines.cli.changes import confirm, item_named
from pipelines.cli.options import memory_option, memory_root, now_option, open_memory
from pipelines.cli.output import say, say_lines
from pipelines.errors import UsageFault
from pipelines.night.forget import forget
from pipelines.store.change_set import placed_item
from pipelines.store.git import Git
from pipelines.store.git_history import ids_in_history, wordings
from pipelines.store.layout import PRIVATE
from pipelines.store.snapshot import read_documents
from pipelines.store.template import named_item
from pipelines.store.user_layout import names_of, real_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


_SHOWN: Final = 5
_END: Final = "END-OF-WORDS"
_PERL: Final = 'open F, "<", $ENV{WORDS}; chomp(@w = <F>)'


@click.command()
@click.argument("ident", metavar="ID")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option(
    "--from-history", is_flag=True, help="Print the commands that take its words out of git's history; run none."
)
@memory_option
@now_option
def curate_forget(*, ident: str, yes: bool, from_history: bool, memory: Path | None, now: str | None) -> None:
    """Forget an item for good: it goes from documents, logs, Review.md, the index and kept replies.

    A hash of its wording stays, so that no run proposes it again. Git's history holds it until you rewrite that.
    """
    if from_history:
        _tell_rewriting(memory_root(memory), ident)
        return
    root, settings, when = open_memory(memory, now)
    documents = read_documents(root)
    name = item_named(documents, ident)
    path, placed = placed_item(documents, name)
    if not yes:
        say(f"{name} in {real_path(root, path)}: {placed.item.type}: {placed.item.text}")
    confirm("Forget it? It cannot be taken back with `curate undo`.", yes=yes)
    done = forget(root, settings, when, name)
    parts = [f"{done.lines} {'line' if done.lines == 1 else 'lines'} of logs blotted out"] if done.lines else []
    parts += [f"{done.replies} kept {'reply' if done.replies == 1 else 'replies'} deleted"] if done.replies else []
    parts += [f"links of {', '.join(done.unlinked)} to it taken out"] if done.unlinked else []
    say(f"{name} of {done.path} is forgotten{': ' + ', '.join(parts) if parts else ''}.")
    for place in done.left[:_SHOWN]:
        say(f"Note: {place} still holds its words, and is not a run's to change.")
    if len(done.left) > _SHOWN:
        say(f"Note: so do {len(done.left) - _SHOWN} more places.")
    say(f"Note: git's history holds it still; `curate forget {name} --from-history` prints how to rewrite that.")


def _tell_rewriting(root: Path, prefix: str) -> None:
    """Print the commands for the item whose id begins so, whether it stands or was forgotten.

    Raises:
        UnknownItem: history holds no such item, or more than one.
        UsageFault: it was never committed.
    """
    git = Git(root)
    git.check()
    present = {p.item.id for document in read_documents(root).values() for p in document.items}
    past = ids_in_history(git, prefix.strip().casefold()) if git.head() else frozenset()
    ident = named_item(prefix, present | past)
    words = wordings(git, ident) if git.head() else ()
    if not words:
        raise UsageFault(f"Git's history holds no words of {ident}.", "There is nothing to rewrite.")
    if names_of(root) is not None:
        say("# Files of yours that are committed, daily notes among them, are rewritten on the disk, too.")
    say_lines(commands(root, git.repository.top, words, filter_repo=bool(shutil.which("git-filter-repo"))))


def commands(root: Path, top: Path, words: Sequence[str], *, filter_repo: bool) -> Iterator[str]:
    """Yield what a person can paste into a shell, and what to know before and after.

    Args:
        root: the memory.
        top: the top folder of its repository.
        words: what is taken out, each a line of a file or a part of one.
        filter_repo: whether git-filter-repo is there; git's own filter-branch does it, too, and takes longer.
    """
    place, file = shlex.quote(str(top)), shlex.quote(str(root / PRIVATE / "forget.txt"))
    yield "# Every commit since the first that holds these words gets another id; nothing of this was run."
    yield f"cp -a {place} {shlex.quote(f'{top}.before-forgetting')}   # delete it when all is well: it holds the words"
    yield f"cat > {file} <<'{_END}'"
    yield from (f"literal:{text}==>[forgotten]" for text in words) if filter_repo else words
    yield _END
    if filter_repo:
        yield f"git -C {place} filter-repo --force --replace-text {file}"
    else:
        blot = f"BEGIN {{ {_PERL} }} for $w (@w) {{ s/\\Q$w\\E/[forgotten]/g }}"
        each = f"find . -type f -exec env WORDS={file} perl -i -pe {shlex.quote(blot)} {{}} +"
        yield (
            f"FILTER_BRANCH_SQUELCH_WARNING=1 git -C {place} filter-branch --force "
            f"--tree-filter {shlex.quote(each)} --tag-name-filter cat -- --all"
        )
        refs = "git for-each-ref --format='delete %(refname)' refs/original"
        yield f"(cd {place} && {refs} | git update-ref --stdin)"
    yield f"git -C {place} reflog expire --expire=now --all"
    yield f"git -C {place} gc --quiet --prune=now"
    yield f"rm {file}"
    yield "# If it was ever pushed: `git push --force --all`, and clone anew wherever else it lies."
