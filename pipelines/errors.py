"""The tree of errors: each class owns its sentence, the next step and its exit code.

Exit codes: 0 fine, 1 an expected failure, 2 wrong usage, 3 a bug, 75 not now (another run holds the lock; for `curate
night`, whatever may pass by itself), 130 interrupted, 129 and 143 ended by SIGHUP and SIGTERM.
A command never shows a traceback for what a user can cause; `pipelines.cli.run_cli` prints these errors instead.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from pipelines.text import escape_terminal_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from pydantic import ValidationError

    from pipelines.usage import FailureKind, Tally, Usage


FINE, EXPECTED, USAGE, BUG, TRY_LATER, INTERRUPTED = 0, 1, 2, 3, 75, 130


class CurateError(Exception):
    """Raised when a command cannot do what was asked, for a reason that a person can act on.

    Args:
        sentence: what is wrong, in one sentence with the facts.
        advice: what to do next, one sentence; may be empty.
    """

    exit_code = EXPECTED

    def __init__(self, sentence: str, advice: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.advice = advice

    def __str__(self) -> str:
        return f"{self.sentence} {self.advice}".strip()


def reason_of(error: OSError) -> str:
    """Return why the system refused, as the end of a sentence."""
    return (error.strerror or str(error)).lower()


_OWNER = "`ls -ld` shows its owner. Run as that user, or take it over with `chown -R`."
FULL_DISK = "Free some space, then run again; `df -h` shows which disk is full."
_REMEDIES = {
    **dict.fromkeys(("no space left", "out of diskspace", "quota exceeded"), FULL_DISK),
    **dict.fromkeys(("permission denied", "dubious ownership"), _OWNER),
    "read-only file system": "Mount that disk writable, then run again; `mount` lists it.",
}


def remedy_for(why: str, otherwise: str) -> str:
    """Return what to do when the system, or git, refused for that reason."""
    return next((advice for words, advice in _REMEDIES.items() if words in why.casefold()), otherwise)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return “Did you mean X?” with the known name that is nearest to a word, or nothing if none is near."""
    import difflib  # noqa: PLC0415  only a mistake asks

    names = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(word.casefold(), names, n=1, cutoff=0.7)
    return f"Did you mean {names[near[0]]}?" if near else ""


class Ended(KeyboardInterrupt):
    """Raised when a signal asks the process to end. Like an interrupt, it passes `except Exception`."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number
        self.name = signal.Signals(number).name
        self.sentence = f"Ended by {self.name}. The next run continues where this one stopped."


def ending_code(error: BaseException) -> int:
    """Return the exit code of a command that this error ended."""
    if isinstance(error, CurateError | Ended):
        return error.exit_code
    return INTERRUPTED if isinstance(error, KeyboardInterrupt) else BUG


class UsageFault(CurateError):
    """Raised when the command line makes no sense."""

    exit_code = USAGE


class NoMemory(CurateError):
    """Raised when there is no memory where the command looked for one."""

    exit_code = USAGE

    def __init__(self, where: Path) -> None:
        advice = "Create one with `curate init DIR`, or name one with --memory DIR or CURATE_MEMORY."
        if (where / ".curate").is_dir():
            advice = f"There was one. To restore it: `git -C '{where}' checkout HEAD -- curate.toml`."
        super().__init__(f"There is no memory at {where} (no curate.toml there or in a folder above).", advice)


FORMAT = 1
"""The newest format of a memory that this version reads, and the one that it writes."""


def check_format(data: bytes | None) -> None:
    """Check that this version reads the format that a memory's `State/format` names.

    Raises:
        CurateError: it does not.
    """
    if data and data.strip().isdigit() and int(data) > FORMAT:
        sentence = f"This memory has format {int(data)}, and this version of memcurate reads format {FORMAT}."
        raise CurateError(sentence, "Nothing was changed. Update memcurate, then try again.")


class BadSettings(CurateError):
    """Raised when a settings file has faults; the sentence names all of them by their keys."""

    def __init__(self, path: Path, faults: Sequence[str]) -> None:
        self.path, self.faults = path, tuple(faults)
        count = "a fault" if len(faults) == 1 else f"{len(faults)} faults"
        super().__init__(f"{path} has {count}:{_listed(faults)}", "\nNothing was changed. Fix the file and run again.")


def _listed(faults: Sequence[str]) -> str:
    return "".join(f"\n  {fault}" for fault in faults)


class BadFile(CurateError):
    """Raised when a command cannot continue without a file that it cannot read or understand."""

    def __init__(self, path: str | Path, why: str, advice: str = "Fix or move the file, then run again.") -> None:
        self.path, self.why = path, why
        super().__init__(f"{escape_terminal_line(str(path))} {why}.", advice)


class NotWritable(CurateError):
    """Raised when the disk refuses a write: read-only, full, or no permission. Nothing is left half written."""

    def __init__(self, path: str | Path, why: str) -> None:
        advice = f"Nothing was left half written. {remedy_for(why, 'Fix that and run again.')}"
        super().__init__(f"{escape_terminal_line(str(path))} cannot be written: {why}.", advice)


class NotYours(CurateError):
    """Raised when the user has no access to a file or folder of the memory, usually because another user owns it."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(f"You have no access to {escape_terminal_line(str(path))}.", _OWNER)


class GitFault(CurateError):
    """Raised when git refuses, or a commit would be wrong in its current state."""


class DamagedGit(GitFault):
    """Raised when the repository may be damaged, because git cannot read it."""

    def __init__(self, sentence: str) -> None:
        advice = (
            "Your files are whole, and `git fsck` says what is broken. Put a copy of `.git` there, or move it away and "
            "run `curate init` to begin a new history."
        )
        super().__init__(f"{sentence.rstrip('.')}.", remedy_for(sentence, advice))


class NotARepository(GitFault):
    """Raised when the memory is not under git, so no run could be undone."""

    def __init__(self, root: Path) -> None:
        super().__init__(f"{root} is not a git repository.", f"`curate init {root}` adds what is missing.")


class LockHeld(CurateError):
    """Raised when another run is working on the memory."""

    exit_code = TRY_LATER

    def __init__(self, holder: str) -> None:
        super().__init__(f"Another run holds the lock of this memory: {holder}.", "Wait for it to end, then try again.")


class NightOvertaken(LockHeld):
    """Raised when another run of a memory on a remote ended first; this one published nothing."""

    def __init__(self) -> None:
        CurateError.__init__(
            self,
            "Another run of this memory ended first, so nothing of this one was published.",
            "Nothing needs to be done: the other run's result is at the remote.",
        )


class BrokenChangeSet(CurateError):
    """Raised when the changes of a run would break a promise; nothing is written."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(
            f"The run's changes were refused, and nothing was written:{_listed(faults)}", "\nPlease report this."
        )


class ModelFailed(CurateError):
    """Raised when a language model gave no usable answer; the entries in question stay pending.

    Args:
        provider: the provider that failed.
        why: the end of a sentence that begins with the provider; it holds no key, no address and no text of a log.
        kind: the kind of failure; by default, the answer is unusable.
        usage: what the call cost anyway, if the provider said so.
        retry_after: how many seconds the provider asks to wait, or None.
    """

    then = "The log entries stay pending for the next run."

    def __init__(
        self,
        provider: str,
        why: str,
        kind: FailureKind | None = None,
        *,
        usage: Usage | None = None,
        retry_after: float | None = None,
    ) -> None:
        from pipelines.usage import FailureKind  # noqa: PLC0415  a search must not wait for it

        self.provider, self.why, self.kind = provider, why, kind or FailureKind.UNUSABLE
        self.usage, self.retry_after = usage, retry_after
        self.tally: Tally | None = None  # the whole day's cost, including the calls before this one
        super().__init__(f"{provider} {why}.", self.then)


class UnknownItem(CurateError):
    """Raised when no item, or more than one, matches an id; or no run matches an id or commit."""

    def __init__(self, prefix: str, matches: Sequence[str], near: str = "", what: str = "item") -> None:
        several = f"The id {prefix} is not unique: {', '.join(matches[:5])}.", "Give more of it."
        none = f"No {what} has the id {prefix}.", near or f"`curate {what}s` lists them."
        super().__init__(*(several if matches else none))


class IndexUnusable(CurateError):
    """Raised when the index cannot answer and could not be repaired."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The index cannot be used: {why}.", "`curate index --full` rebuilds it from the files.")


class NotUndoable(CurateError):
    """Raised when there is nothing to undo, or it has been undone already."""


class EmbeddingFailed(ModelFailed):
    """Raised when an embedder gave no usable vectors; search by words still finds the text."""

    then = "Search by words still works; the next `curate index` tries again."


class FetchFailed(CurateError):
    """Raised when no source delivered the pinned files of a model; nothing was kept."""

    def __init__(self, model: str, faults: Sequence[str]) -> None:
        super().__init__(
            f"{model} could not be fetched, and nothing was kept:{_listed(faults)}", "\nSearch by words still works."
        )


class HoldsSecret(CurateError):
    """Raised when a change holds a secret; nothing is written."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__(
            f"A secret would be committed, so nothing was written:{_listed(faults)}",
            "\nRemove it, or add <!-- allow-secret --> to its line, and run again.",
        )


# Every settings file is read here, so that all its faults are reported at once, one a line. No value is shown: somebody
# may have pasted a key.

MAX_BYTES = 1024 * 1024


def read_toml(path: Path) -> dict[str, object]:
    """Return the tables of a TOML file; none if the file does not exist.

    Raises:
        BadSettings: the file cannot be read, is too large, or is not TOML; the sentence says where.
    """
    import tomllib  # noqa: PLC0415  also commands that read no settings import this file

    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise BadSettings(path, [f"it is larger than {MAX_BYTES:,} bytes"])
        return tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as fault:
        raise BadSettings(path, [f"it cannot be read: {fault.strerror}"]) from fault
    except (ValueError, RecursionError) as fault:  # also of TOML that Python cannot represent
        raise BadSettings(path, [f"it is not TOML: {fault}"]) from None


def faults_of(error: ValidationError) -> list[str]:
    """Return each fault as `key: what is wrong`, a line each, in the order in which pydantic found them."""
    lines, known = [], {"missing": "this key is missing", "extra_forbidden": "there is no such key"}
    for found in error.errors(include_url=False):
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in found["loc"]).removeprefix(".")
        said = re.sub("^Input should", "it should", found["msg"].removeprefix("Value error, "))
        if re.match("(model|dict).*_type$", found["type"]):
            said = f"it should be one table, [{key}]"
        lines.append(" ".join(f"{key}: {known.get(found['type'], said)}".split()))
    return list(dict.fromkeys(lines))
