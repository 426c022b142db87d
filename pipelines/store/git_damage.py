"""Find what is broken in a memory's repository, and repair what has one right answer.

Replaced files are kept in `.git/broken/`; the work tree is not touched. If git cannot even start, its files are read
directly: git ignores a repository without HEAD, and may take one in a parent folder for the memory's.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pipelines.errors import GitFault, NotARepository, remedy_for
from pipelines.store.conservation import Fault
from pipelines.store.files import sync_folder, writing
from pipelines.store.git import Git, blob_id
from pipelines.store.git_locks import clear_stale_locks
from pipelines.store.git_process import reason_in
from pipelines.store.layout import PRIVATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Mending = Callable[[], object] | None


_ID: Final = "[0-9a-f]{40}(?:[0-9a-f]{24})?"
_HEAD: Final = re.compile(rf"(?:ref: (refs/heads/[^\s\0]+)|{_ID})\s*")
_LISTS: Final = {"packed-refs": re.compile(rf"#.*|{_ID} refs/\S+|\^{_ID}"), "shallow": re.compile(_ID)}
_BRANCH: Final = re.compile(rf"^{_ID} (refs/heads/\S+)", re.MULTILINE)
_LOGGED: Final = re.compile(rf"^{_ID} ({_ID}) ", re.MULTILINE)
_MISSING: Final = re.compile(rf"^missing (\w+) ({_ID})", re.MULTILINE)
_LOOSE: Final = re.compile(r"objects/([0-9a-f]{2}/[0-9a-f]{38,62})\b")
_PACK: Final = re.compile(r"pack-[0-9a-f]{40,64}\b")
_REF: Final = re.compile(r"^error: (refs/[^\s:]+): ", re.MULTILINE)
_DERIVED: Final = {16: "objects/info/commit-graph*", 32: "objects/pack/multi-pack-index"}
"""What git can rebuild, by the exit-code bit with which `git fsck` reports it as broken."""
_ROUNDS: Final = 100
_SHOWN: Final = 3


def repository_faults(root: Path) -> list[Fault]:
    """Return what is broken in a memory's repository. Changes nothing, and runs none of the repository's own programs.

    Raises:
        NotARepository: there is none.
    """
    return [fault for fault, _ in _Damaged(root).look()]


def mend_repository(root: Path) -> list[str]:
    """Repair what has one right answer, and return one sentence for each repair.

    Raises:
        NotARepository: there is none.
        NotWritable: the disk refused.
    """
    done: list[str] = []
    for _ in range(_ROUNDS):
        damaged = _Damaged(root)
        todo = ((fault, how) for fault, how in damaged.look() if how and str(fault) not in done)
        fault, mending = next(todo, (None, None))
        if fault is None or mending is None:
            break
        done.append(str(fault))
        with writing(damaged.common):
            mending()
    return done


class _Damaged(Git):
    """A repository in which anything may be broken."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        places = (folder / ".git" for folder in (root, *root.absolute().parents))
        place = next((place for place in places if place.exists()), None)
        if place is None:
            raise NotARepository(root)
        if place.is_file():
            place = place.parent / _text(place).removeprefix("gitdir:").strip()
        self.own, self.common = place, place / _text(place / "commondir").strip()

    def look(self) -> Iterator[tuple[Fault, Mending]]:
        """Yield each fault with its repair, or None if a person must decide. Repair them in this order."""
        for name, sound in _LISTS.items():
            lines = _text(self.common / name).splitlines()
            if bad := [line for line in lines if not sound.fullmatch(line)]:
                good = "".join(f"{line}\n" for line in lines if line not in bad)
                what = f"has lines that git cannot read ({len(bad):,})"
                yield self._fault(name, what, partial(self._put, name, good))
        branches = self._branches()
        head = _HEAD.fullmatch(_text(self.own / "HEAD"))
        in_files = not (self.common / "reftable").exists()
        if in_files and (not head or (head[1] and branches and head[1] not in branches)):
            last = self._logged("HEAD")[:1]
            found = [one for one in branches if last and self._logged(one)[:1] == last] or branches
            how = partial(self._put, "HEAD", f"ref: {found[0]}\n") if len(found) == 1 else None
            command = f"`echo 'ref: refs/heads/NAME' > {shlex.quote(str(self.own / 'HEAD'))}`"
            remedy = f"; to repair it, run {command} with the name of your branch" * (not how)
            yield self._fault("HEAD", f"does not name an existing branch{remedy}", how)
            return
        if "repositoryformatversion" not in _text(self.common / "config").lower():
            what = "lacks git's own settings; if the repository had remotes, add them again"
            yield self._fault("config", what, self._reset_config)
        code, _, error = self._call(["rev-parse", "--git-dir"])
        if code:
            what = remedy_for(why := reason_in(error, code), "fix that line or remove it").rstrip(".")
            yield self._fault("config", f"cannot be used: {why}; {what}", None)
            return
        branch = (head and head[1]) or ""
        yield from self._broken_objects(branch)
        if branch in branches:
            yield from self._broken_branch(branch)
        if branches and not _is_sound_index(self.own / "index"):
            yield self._fault("index", "is damaged or gone", self._reset_index)

    def _fault(self, name: str, what: str, how: Mending) -> tuple[Fault, Mending]:
        return Fault(f".git/{name}", 0, "", "git" if how else "git-lost", what), how

    def _branches(self) -> list[str]:
        """Return the full names of all branches that have a commit, or had one according to their log."""
        found = set(_BRANCH.findall(_text(self.common / "packed-refs")))
        for top in (self.common, self.common / "logs"):
            files = (file for file in (top / "refs" / "heads").rglob("*") if file.is_file() and file.suffix != ".lock")
            found.update(str(file.relative_to(top)) for file in files)
        return sorted(found)

    def _logged(self, name: str) -> list[str]:
        """Return the commits that the log of a branch, or of HEAD, lists, newest first."""
        log = _text((self.own if name == "HEAD" else self.common) / "logs" / name)
        return [ident for ident in dict.fromkeys(reversed(_LOGGED.findall(log))) if ident.strip("0")]

    def _is_readable(self, commit: str) -> bool:
        """Whether a commit and all folders of its tree can be read."""
        return self._call(["ls-tree", "-r", "-z", "--name-only", f"{commit}^{{commit}}"])[0] == 0

    def _broken_branch(self, branch: str) -> Iterator[tuple[Fault, Mending]]:
        """Yield a fault if a branch names no readable commit, or is behind what its log says."""
        at, logged = self._ask("rev-parse", "--verify", "--quiet", branch), self._logged(branch)
        if at and self._is_readable(at):
            newer = logged and logged[0] != at and self._is_readable(logged[0])
            if newer and self._call(["merge-base", "--is-ancestor", at, logged[0]])[0] == 0:
                what = f"is at {at[:10]}, although its log goes on to {logged[0][:10]}"
                yield self._fault(branch, what, partial(self._set_branch, branch, logged[0]))
            return
        back = next((one for one in dict.fromkeys([*logged, *self._logged("HEAD")]) if self._is_readable(one)), "")
        remedy = f"the newest readable one is {back[:10]}" if back else self._remedy()
        what = f"does not name a readable commit; {remedy}"
        yield self._fault(branch, what, partial(self._set_branch, branch, back) if back else None)

    def _broken_objects(self, branch: str) -> Iterator[tuple[Fault, Mending]]:
        """Yield what `git fsck` reports about objects, packs and references that git cannot read."""
        sound = _is_sound_index(self.own / "index")  # with a broken one, git reports nothing else
        code, out, error = self._call(["fsck", *["--cache"] * sound, "--no-dangling", "--no-reflogs", "--no-progress"])
        report, objects = (out + error).decode(errors="replace"), self.common / "objects"
        packs = objects / "pack"
        if loose := [name for name in dict.fromkeys(_LOOSE.findall(report)) if (objects / name).exists()]:
            aside = [f"objects/{name}" for name in loose]
            yield self._fault("objects", f"has damaged objects: {_some(loose)}", partial(self._aside, aside))
        alone = (file.stem for file in packs.glob("*.pack") if not file.with_suffix(".idx").exists())
        for name in sorted({*_PACK.findall(report), *alone}) if code else ():
            if any(packs.glob(f"{name}.*")):
                yield self._fault(f"objects/pack/{name}", "is damaged", partial(self._mend_pack, packs / name))
        for bit, name in _DERIVED.items():
            if code & bit and (there := [str(file.relative_to(self.common)) for file in self.common.glob(name)]):
                yield self._fault(there[0], "is damaged, but git can rebuild it", partial(self._aside, there))
        missing = {ident: kind for kind, ident in _MISSING.findall(report)}
        if missing:
            yield self._lacking(missing)
        for name in dict.fromkeys(_REF.findall(report)):
            if name != branch:
                drop = f"`rm {shlex.quote(str(self.common / name))}` removes it"
                logged = next(filter(self._is_readable, self._logged(name)), "")
                how = partial(self._set_branch, name, logged) if logged else None
                yield self._fault(name, f"names nothing readable{'' if how else f'; {drop}'}", how)

    def _lacking(self, missing: dict[str, str]) -> tuple[Fault, Mending]:
        """Return the fault of missing objects. Files that have not changed can restore theirs."""
        like, found = next(iter(missing)), dict[str, bytes]()
        for folder, inner, names in os.walk(self.root) if "blob" in missing.values() else ():
            inner[:] = [name for name in inner if name not in {".git", PRIVATE}]
            for file in (Path(folder, name) for name in names):
                if file.is_file() and not file.is_symlink():
                    data = file.read_bytes()
                    found |= {blob_id(data, like): data} if blob_id(data, like) in missing else {}
        what = f"lacks {_some([f'{kind} {ident[:10]}' for ident, kind in missing.items()])}"
        if found or ("tree" in missing.values() and not self._is_readable("HEAD")):
            return self._fault("objects", f"{what}; your files still contain some of it", partial(self._restore, found))
        return self._fault("objects", f"{what}; {self._remedy()}", None)

    def _remedy(self) -> str:
        remote = (self._ask("remote") or "").partition("\n")[0]
        if remote:
            return f"`git -C {shlex.quote(str(self.root))} fetch --refetch {shlex.quote(remote)}` restores it"
        own = shlex.quote(str(self.common))
        anew = f"`mv {own} {own}.broken && curate init {shlex.quote(str(self.root))}`"
        return f"restore {own} from a backup, or keep your files and start a new history: {anew}"

    # ------------------------------------------------------------ mending

    def _aside(self, names: Iterable[str]) -> None:
        """Move files of the repository to `.git/broken/`."""
        for name in names:
            place = self.own / name if (self.own / name).exists() else self.common / name
            if place.exists():
                kept = self.common / "broken"
                kept.mkdir(exist_ok=True)
                free = (kept / f"{name.replace('/', '-')}.{number}" for number in itertools.count(1))
                place.rename(next(path for path in free if not path.exists()))

    def _put(self, name: str, text: str) -> None:
        place = (self.own if name == "HEAD" else self.common) / name
        new = place.with_name(f"{name}.new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._aside([name])
        new.rename(place)
        sync_folder(place.parent)

    def _reset_config(self) -> None:
        self._aside(["config"])
        self.init()

    def _reset_index(self) -> None:
        clear_stale_locks(self.repository, self.root / PRIVATE / "stale-lock")
        self._aside(["index"])
        self.run("read-tree", "HEAD")

    def _set_branch(self, name: str, commit: str) -> None:
        clear_stale_locks(self.repository, self.root / PRIVATE / "stale-lock")
        self._aside([name])
        self.run("update-ref", "-m", "curate check --fix", name, commit)

    def _restore(self, blobs: dict[str, bytes]) -> None:
        for data in blobs.values():
            self.run("hash-object", "-w", "--stdin", data=data)
        self._call(["write-tree", "--missing-ok"])  # the folders of the last commit, as the index has them

    def _mend_pack(self, pack: Path) -> None:
        """Rebuild a pack's index; if the pack itself is damaged, extract its readable objects."""
        file, index, new = (pack.with_suffix(end) for end in (".pack", ".idx", ".mended"))
        names = [f"objects/pack/{one.name}" for one in pack.parent.glob(f"{pack.name}.*")]
        if file.exists() and self._call(["index-pack", "-o", str(new), str(file)])[0] == 0:
            self._aside(name for name in names if not name.endswith(".pack"))
            new.rename(index)
            return
        listed = self._call(["show-index"], data=index.read_bytes())[1] if index.exists() else b""
        for row in listed.splitlines() if file.exists() else ():
            with contextlib.suppress(GitFault):
                if found := self.object(row.split()[1].decode()):
                    self.run("hash-object", "-w", "-t", found[1].decode(), "--stdin", data=found[2])
        self._aside(names)


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="surrogateescape")
    except OSError:
        return ""


def _is_sound_index(file: Path) -> bool:
    """Whether an index ends with its own hash, or with zeros (`index.skipHash`)."""
    try:
        data = file.read_bytes()
    except OSError:
        return False
    sizes = ((new, new().digest_size) for new in (hashlib.sha1, hashlib.sha256))
    ends = ((new(data[:-size]).digest(), data[-size:]) for new, size in sizes)
    return data.startswith(b"DIRC") and any(end in {right, bytes(len(right))} for right, end in ends)


def _some(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
