"""Repeat a run in a folder of its own, from the commit it started from and the replies it used, without a network.

A night is a function of its commit, its logs and its replies: tests repeat it and expect the same commit. Nothing here
can call a model: without a kept reply, the call fails. The memory itself is only read.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed
from pipelines.extract.choose_models import local_embedder
from pipelines.extract.llm.fallback import Chain
from pipelines.extract.llm.model_briefer import briefer_of
from pipelines.extract.llm.model_extractor import ModelExtractor
from pipelines.extract.llm.replies import KeptReply, Replies
from pipelines.extract.llm.verifier import ModelVerifier
from pipelines.extract.rules import RulesExtractor
from pipelines.night.plan import Night, plan_night
from pipelines.night.report import TRAVELLING, Watch
from pipelines.night.run_history import find_run
from pipelines.night.run_night import signed
from pipelines.review.meaning import Vectors, kept_in
from pipelines.settings import load_settings
from pipelines.store.change_set import Change
from pipelines.store.git import Git
from pipelines.store.git_history import read_blobs
from pipelines.store.journal import apply_changes
from pipelines.store.layout import REPLIES
from pipelines.store.template import make_missing_folders
from pipelines.store.user_layout import read_layout
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pipelines.extract.extraction import Extraction, ExtractionRequest
    from pipelines.extract.llm.call import Call, Model, ModelAnswer
    from pipelines.night.run_history import Run
    from pipelines.search.embedders.embedder import Embedder
    from tests.conftest import Memory


@dataclass(frozen=True, slots=True)
class Replayed:
    """The result of a replay.

    Args:
        run: the run.
        commit: the run's commit, or the one it started from if it changed nothing.
        replayed: the same for the replay.
        changes: each file that differs: its content after the run and after the replay.
        messages: the two commits as git stores them, if they differ though the files do not; else empty.
        without_reply: calls without a kept reply.
    """

    run: str
    commit: str
    replayed: str
    changes: tuple[Change, ...]
    messages: tuple[str, str] | tuple[()]
    without_reply: int

    @property
    def same(self) -> bool:
        """Whether the replay made the same commit, and so the same bytes."""
        return self.commit == self.replayed


class NotReplayable(Exception):
    """Raised when a run cannot be replayed because its input is no longer known."""


def replayed(memory: Memory, run: str) -> Replayed:
    """Repeat a run of a memory, given its id.

    Raises:
        NotReplayable: the run's input is not on record here, or it was not a night's run.
    """
    git = Git(memory.root)
    return replay(memory.root, git, find_run(memory.root, git, run))


def replay(root: Path, git: Git, run: Run) -> Replayed:
    """Repeat a run in a folder of its own, and compare.

    Raises:
        NotReplayable: the run's input is not on record here, or it was not a night's run.
    """
    if run.undoes or not isinstance(run.reported("given"), dict):
        why = "it is an undo" if run.undoes else "there is no report of its input"
        raise NotReplayable(why)
    if run.reported("given", "later_day"):
        raise NotReplayable("it read a later day of a night of several days; the first one's run can be")
    base = run.commit.parent if run.commit else str(run.reported("base") or "")
    if not base:
        raise NotReplayable("its report does not name the commit it started from")
    silent: list[_Silent] = []
    with tempfile.TemporaryDirectory(prefix="curate-replay-") as folder:
        memory = lay_out(git, base, Path(folder).resolve())
        own = Git(memory)
        # The reports are not part of its work; older versions did not commit any.
        done = _changes(git, base, run.commit.commit) if run.commit else ()
        reports = tuple(one for one in done if one.path.startswith(f"{TRAVELLING}/"))
        made = _curate(_night(root, memory, run, silent), own, run, reports) or base
        before = run.commit.commit if run.commit else base
        changes = _changes(own, before, made)
        messages: tuple[str, str] | tuple[()] = ()
        if before != made and not changes:
            one, other = (own.run("cat-file", "commit", commit).decode(errors="replace") for commit in (before, made))
            messages = (one, other)
    return Replayed(run.id, before, made, changes, messages, sum(one.asked for one in silent))


def lay_out(git: Git, commit: str, folder: Path) -> Path:
    """Check a commit's memory out, byte for byte, into a repository that borrows the original's objects.

    Returns:
        The memory below `folder`; its repository is at that commit.
    """
    made = Git(folder)
    kind = git.run("rev-parse", "--show-object-format").decode().strip()
    made.run("init", "--quiet", "--initial-branch=main", "--template=", f"--object-format={kind}")
    borrowed = folder / ".git" / "objects" / "info"
    borrowed.mkdir(exist_ok=True)
    (borrowed / "alternates").write_bytes(os.fsencode(git.repository.common_dir.resolve() / "objects") + b"\n")
    made.run("update-ref", "HEAD", commit)
    memory = folder / git.repository.prefix
    memory.mkdir(parents=True, exist_ok=True)
    tree = git.tree(commit)
    blobs = read_blobs(git, {blob for mode, blob in tree.values()})
    for path, (mode, blob) in tree.items():
        if blob in blobs:
            target = memory / git.layout.real(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            if mode == "120000":
                target.symlink_to(os.fsdecode(blobs[blob]))
            else:
                target.write_bytes(blobs[blob])
                target.chmod(0o755 if mode == "100755" else 0o644)
    read_layout(memory)
    return memory


def _curate(night: Night, git: Git, run: Run, reports: tuple[Change, ...]) -> str | None:
    """Curate as the run did; return the commit, or None if nothing changed."""
    make_missing_folders(night.root)
    plan = plan_night(night, git, Watch())
    if not plan.changes:
        return None
    said = signed(night, replace(plan.report, run=run.id))
    return apply_changes(night.root, git, (*plan.changes, *reports), *said)[0]


def _changes(git: Git, before: str, after: str) -> tuple[Change, ...]:
    old, new = git.tree(before), git.tree(after)
    paths = [path for path in sorted(old.keys() | new.keys()) if old.get(path) != new.get(path)]
    blobs = read_blobs(git, {tree[path][1] for tree in (old, new) for path in paths if path in tree})
    return tuple(
        Change(path, *(blobs.get(tree[path][1]) if path in tree else None for tree in (old, new))) for path in paths
    )


def _night(root: Path, memory: Path, run: Run, silent: list[_Silent]) -> Night:
    """Return a night in which the rules, or the kept replies of the run's models, read the logs.

    Args:
        root: the memory, which holds the replies and vectors.
        memory: the copy to curate.
        run: the run.
        silent: receives the first model of each chain, which counts the calls without a kept reply.
    """
    given: Any = run.reported("given")
    now, meaning = datetime.fromisoformat(str(run.reported("now"))), str(given.get("meaning") or "")

    @cache
    def local() -> Embedder | None:  # none if the run had none, or a different one is installed
        found = local_embedder() if meaning else None
        return found if found and found.name == meaning else None

    night = Night(
        memory,
        load_settings(memory),
        RulesExtractor(),
        now,
        str(run.reported("again") or ""),
        vectors=Vectors(local, partial(kept_in, root), most=None) if given.get("nearest") else Vectors(),
        rules_from=str(given.get("rules_from") or "self"),
        rules_before=str(given.get("rules_before") or ""),
        agents=given.get("agents") is True,
    )
    sees = bool(given.get("sees"))
    models = [_Silent(name, int(given.get("input_tokens") or 1), sees=sees) for name in _words(given.get("models"))]
    silent += models[:1]
    if not models:
        return night
    replies = Replies(root / REPLIES, now)
    kept = [found for key in _words(run.reported("model", "replies")) if (found := replies.read(key))]
    model = ModelExtractor(Chain(models, _OnlyKept(kept)))
    reader = _AsThen(model.name, model, frozenset(_words(run.reported("model", "fallback_days"))))
    writer = briefer_of(model) if given.get("writer") else None
    night = replace(night, extractor=reader, rereads=True, writer=writer)
    if not given.get("verifier"):
        return night
    others = [_Silent(one, int(given.get("verifier_input_tokens") or 1)) for one in _words(given["verifier"])]
    silent += others[:1]
    return replace(night, verifier=ModelVerifier(Chain(others, _OnlyKept(kept)) if others else model.chain))


def _words(found: object) -> list[str]:
    return [str(word) for word in found] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class _AsThen:
    """An extractor that repeats who read each day: the rules, or models by their kept replies.

    A day that stayed pending has no kept replies in the run, so it stays pending again.
    """

    name: str
    models: ModelExtractor
    by_rules: frozenset[str]

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Return a day's extraction.

        Raises:
            ModelFailed: there is no kept reply.
        """
        if request.day in self.by_rules:
            return replace(RulesExtractor().extract(request), fallback=True)
        return self.models.extract(request)


@dataclass
class _Silent:
    """A model that never answers: a replay uses only kept replies."""

    name: str
    input_tokens: int
    asked: int = 0
    source: str = ""
    output_tokens: int = 0
    retries: int = 0
    sees: bool = False

    def ask(self, call: Call) -> ModelAnswer:  # noqa: ARG002  whatever is asked
        """Count the call.

        Raises:
            ModelFailed: always.
        """
        self.asked += 1
        raise ModelFailed(self.name, "is not called in a replay", FailureKind.REFUSED)


class _OnlyKept(Replies):
    """The kept replies of one run, found by call; none is added."""

    def __init__(self, kept: Sequence[KeptReply]) -> None:
        super().__init__(Path(os.devnull), datetime.min)  # noqa: DTZ901  it reads and writes nothing
        self._kept_replies: Mapping[tuple[str, str], KeptReply] = {(one.answer.model, one.digest): one for one in kept}

    def find(self, model: Model, call: Call) -> KeptReply | None:
        """Return a model's reply to a call in that run, or None."""
        return self._kept_replies.get((model.name, call.digest))
