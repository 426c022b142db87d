"""A target fed with random inputs, each within a second; what fails is made smaller and kept."""

import gc
import hashlib
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from tests.fuzz.mutating import mutated
from tests.fuzz.targets import Target
from tests.processor_time import TooSlow, watched, within

SECOND: Final = 1.0
_TRIES: Final = 300
_MOST: Final = 20


@dataclass(frozen=True)
class Finding:
    """An input that a reader could not bear: the error and where it was raised, and the smallest such input found."""

    target: str
    error: str
    data: bytes

    def keep(self, folder: Path) -> Path:
        """Write the input down and return the file."""
        name = f"{self.target}-{hashlib.sha256(self.error.encode()).hexdigest()[:8]}"
        file = folder / name
        file.write_bytes(self.data)
        (folder / f"{name}.why").write_text(self.error)
        return file


@dataclass(frozen=True)
class Outcome:
    """What a run of one target came to: how many inputs, the slowest one's seconds, and each error once."""

    target: str
    inputs: int
    seconds: float
    slowest: float
    findings: tuple[Finding, ...]


def run(target: Target, seed: str, count: int, scratch: Path) -> Outcome:
    """Feed a target. The same seed gives the same inputs."""
    random = Random(f"{seed}/{target.name}")
    found: dict[str, Finding] = {}
    slowest, began, done = 0.0, time.process_time(), 0
    gc.collect()
    gc.freeze()  # a collection of what other tests left behind takes long, and is not the reader's time
    with watched():
        while done < count and len(found) < _MOST:
            data, before = mutated(random, target.seeds), time.process_time()
            error = _error(target, data, scratch)
            slowest = max(slowest, time.process_time() - before)
            done += 1
            if error and error not in found:
                found[error] = Finding(target.name, error, smaller(target, data, error, scratch))
    return Outcome(target.name, done, time.process_time() - began, slowest, tuple(found.values()))


def _error(target: Target, data: bytes, scratch: Path) -> str:
    """Return what a reader raised and where, without what tells one input from another; empty where all is well."""
    try:
        with within(SECOND):
            target.feed(data, scratch)
    except target.refuses:
        return ""
    except TooSlow:
        return "TooSlow: more than a second"
    except Exception as error:  # noqa: BLE001  any error that the reader does not own is what is looked for
        places = traceback.extract_tb(error.__traceback__)
        own = [place for place in places if "pipelines" in place.filename] or places
        return f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].lineno} from line {places[1].lineno}"
    return ""


def smaller(target: Target, data: bytes, error: str, scratch: Path) -> bytes:
    """Return a smaller input with the same error, as far as a few hundred tries get."""
    size, tries = len(data) // 2, _TRIES if not error.startswith("TooSlow") else 12
    while size and tries:
        for start in range(0, len(data), size):
            tries -= 1
            less = data[:start] + data[start + size :]
            if _error(target, less, scratch) == error:
                data = less
                break
            if not tries:
                return data
        else:
            size //= 2
    return data
