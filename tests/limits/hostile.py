"""A repository of somebody else's in which everything that git can be told to run would leave a word in a file."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

HOOKS = (
    "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change"
    " post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc pre-commit pre-merge-commit pre-push"
    " pre-rebase pre-receive prepare-commit-msg proc-receive push-to-checkout reference-transaction sendemail-validate"
    " update"
).split()

_ATTRIBUTES = (
    "* filter=evil diff=evil merge=evil ident\n*.md filter=served diff=evil merge=evil working-tree-encoding=UTF-8\n"
)


@dataclass(frozen=True)
class Canaries:
    """What was armed, and the file in which each would leave its name."""

    program: Path
    told: Path

    def fired(self) -> list[str]:
        """Return the names of those that ran."""
        return sorted(set(self.told.read_text().split())) if self.told.exists() else []


def canaries(folder: Path) -> Canaries:
    """Return a program that writes its first argument, or its own name, down, and does nothing else."""
    folder.mkdir()
    told = folder / "told"
    program = folder / "canary"
    program.write_text(f'#!/bin/sh\necho "${{1:-bare}}" | head -c 60 >> {told}\necho >> {told}\nexit 1\n')
    program.chmod(0o755)
    return Canaries(program, told)


def arm(root: Path, made: Canaries) -> None:
    """Arm the repository of a memory with every hook, and with every setting and attribute that can run something."""
    hooks = root / ".git" / "hooks"
    elsewhere = root / "hooks"
    for folder in (hooks, elsewhere):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).write_text(f"#!/bin/sh\nexec {made.program} {folder.name}/{name}\n")
            (folder / name).chmod(0o755)
    with (root / ".git" / "config").open("a") as file:
        file.write(_settings(made, elsewhere))
    (root / ".git" / "included").write_text(_run("included", made))
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text(_ATTRIBUTES)
    (root / ".gitattributes").write_text(_ATTRIBUTES)
    (root / ".gitmodules").write_text(
        f'[submodule "Projects/sub"]\n\tpath = Projects/sub\n\turl = ext::{made.program} ext\n'
    )


def _settings(made: Canaries, hooks: Path) -> str:
    run = made.program
    keys = {
        "core": ("pager", "editor", "sshCommand", "gitProxy", "askPass", "alternateRefsCommand"),
        "sequence": ("editor",),
        "diff": ("external",),
        "interactive": ("diffFilter",),
        "pager": ("log", "show", "ls-tree", "cat-file", "config", "rev-list"),
        "uploadpack": ("packObjectsHook",),
        "credential": ("helper",),
        "web": ("browser",),
    }
    lines = [f'[{table}]\n\t{key} = "{run} {table}.{key}"' for table, names in keys.items() for key in names]
    verbs = "log ls-tree cat-file rev-parse rev-list config hash-object update-index read-tree write-tree".split()
    verbs += ["commit-tree"]
    lines += [f'[alias]\n\t{verb} = "!{run} alias.{verb}"' for verb in verbs]
    lines += [f"[core]\n\thooksPath = {hooks}\n\tfsmonitor = {run}\n\tattributesFile = {hooks}/none"]
    lines += [
        "[log]\n\tshowSignature = true\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true",
        "[submodule]\n\trecurse = true",
    ]
    lines += [f"[gpg]\n\tprogram = {run}"]
    lines += ["[gc]\n\tauto = 1\n[maintenance]\n\tauto = true\n[protocol]\n\tallow = always"]
    lines += [f'[protocol "{name}"]\n\tallow = always' for name in ("ext", "file", "ssh")]
    lines += [f'[trailer "Run-Id"]\n\tcommand = "{run} trailer"\n\tcmd = "{run} trailer"']
    lines += ['[include]\n\tpath = included\n[includeIf "gitdir:/**"]\n\tpath = included']
    lines += [f'[submodule "Projects/sub"]\n\tupdate = !{run} submodule\n\turl = ext::{run} submodule\n\tactive = true']
    return "\n".join(lines) + "\n" + _run("own", made)


def _run(name: str, made: Canaries) -> str:
    """Return the drivers that attributes name."""
    run = f"{made.program} {name}"
    return "".join(
        f'[filter "{driver}"]\n\tclean = "{run}-clean"\n\tsmudge = "{run}-smudge"\n\trequired = true\n{more}'
        for driver, more in (("evil", ""), ("served", f'\tprocess = "{run}-process"\n'))
    ) + (
        f'[diff "evil"]\n\ttextconv = "{run}-textconv"\n\tcommand = "{run}-diff"\n\tcachetextconv = false\n'
        f'[merge "evil"]\n\tdriver = "{run}-merge"\n'
    )


def sign(root: Path) -> None:
    """Let the newest commit bear a signature, which git asks a program about where its settings say so."""
    raw = _git(root, "cat-file", "commit", "HEAD")
    head, _, message = raw.partition(b"\n\n")
    signature = b"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n"
    commit = _git(root, "hash-object", "-t", "commit", "-w", "--stdin", data=head + signature + b"\n" + message)
    _git(root, "update-ref", "HEAD", commit.decode().strip())


def lose_a_blob(root: Path, made: Canaries) -> None:
    """Let the repository call itself a partial clone that lacks a file's bytes: git would fetch them, by a program."""
    blob = _git(root, "rev-parse", "HEAD:MEMORY.md").decode().strip()
    objects = root / ".git" / "objects"
    for pack in (objects / "pack").glob("*.pack"):
        data = pack.read_bytes()
        pack.unlink()
        pack.with_suffix(".idx").unlink()
        _git(root, "unpack-objects", "-q", data=data)
    (objects / blob[:2] / blob[2:]).unlink()
    with (root / ".git" / "config").open("a") as file:
        file.write(
            "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = origin\n"
            f'[remote "origin"]\n\tpromisor = true\n\tpartialclonefilter = blob:none\n\turl = {root}\n'
            f'\tuploadpack = "{made.program} uploadpack"\n\tvcs = evil\n'
            f'[remote "origin"]\n\turl = ext::{made.program} fetched\n'
        )


def _git(root: Path, *arguments: str, data: bytes = b"") -> bytes:
    """Run git as its owner would who knows nothing yet of what is armed."""
    command = ["git", "-c", "core.hooksPath=/dev/null", *arguments]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, input=data, env={**os.environ}).stdout
