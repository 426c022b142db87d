"""Every regular expression of the package, gathered as it is compiled, and held against its worst inputs.

Run as a program, in a process of its own, so that what hangs is stopped from outside:

    python -m tests.limits.patterns [CHARACTERS [INPUTS]]

with how long the inputs are that each pattern is tried on first, and how many; what is slow on those is tried on
longer ones.

It prints, as JSON, how many patterns there are, the places whose pattern was never seen, and the slow ones.
"""

import functools
import importlib
import json
import pkgutil
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.limits.sites import FOLDER, METHODS, Site, find_sites
from tests.limits.worst import worst_inputs
from tests.processor_time import TooSlow, watched, within

SCREENED: Final = 1_000
LONG: Final = 16_000
QUICK: Final = 2e-7
"""Seconds a character, up to which nothing further is asked."""
LEAST: Final = 1e-8
"""Seconds a character that anything takes: a clock that stands still for a moment must not make the rest look slow."""
TIMES: Final = 9.0
"""A text four times as long takes four times as long where time is in proportion, and sixteen where it is squared."""
HANG = 3.0


@dataclass(frozen=True)
class Found:
    """A pattern, where it was compiled, and how it is asked."""

    at: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def gather() -> tuple[list[Found], list[str]]:
    """Return the package's patterns, and the places whose pattern was not seen."""
    seen: dict[tuple[str, int], dict[re.Pattern[Any], None]] = {}
    _listen(seen)
    import pipelines

    for module in pkgutil.walk_packages(pipelines.__path__, "pipelines."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from tests.limits.driving import drive

    drive()
    found, missed = [], []
    for site in find_sites():
        patterns = _patterns_at(site, seen)
        found += [Found(f"{site.path}:{site.first} {site.name}".strip(), one, site.methods) for one in patterns]
        missed += [] if patterns else [f"{site.path}:{site.first}"]
    return found, missed


def _patterns_at(site: Site, seen: dict[tuple[str, int], dict[re.Pattern[Any], None]]) -> list[re.Pattern[Any]]:
    if site.literal is not None:
        return [re.compile(site.literal)]
    return [
        one
        for (path, line), some in seen.items()
        if path == site.path and site.first <= line <= site.last
        for one in some
    ]


def _listen(seen: dict[tuple[str, int], dict[re.Pattern[Any], None]]) -> None:
    """Have every function of `re` note down which place of the package called it with which pattern."""
    for name in (*METHODS, "compile"):
        setattr(re, name, _noting(getattr(re, name), seen))


def _noting(real: Callable[..., Any], seen: dict[tuple[str, int], dict[re.Pattern[Any], None]]) -> Callable[..., Any]:
    takes = {"sub": 4, "subn": 4, "compile": 1, "split": 3}.get(real.__name__, 2)
    compiled = re._compile  # type: ignore[attr-defined]  # the functions' own way

    @functools.wraps(real)
    def noted(pattern: Any, *args: Any, **more: Any) -> Any:
        caller = sys._getframe(1)
        path = Path(caller.f_code.co_filename)
        if path.is_relative_to(FOLDER):
            flags = more.get("flags", args[takes - 1] if len(args) >= takes else 0)
            key = (str(path.relative_to(FOLDER)), caller.f_lineno)
            seen.setdefault(key, {})[compiled(pattern, flags)] = None
        return real(pattern, *args, **more)

    return noted


def slowness(found: Found, screened: int = SCREENED, most: int = 10_000) -> str:
    """Return what is wrong with a pattern's speed: empty where its time grows as its input does.

    Args:
        found: the pattern.
        screened: how long the inputs are that are tried first.
        most: how many of them, spread over all kinds, are tried.
    """
    for method in sorted(found.methods):
        ask = _asking(found.pattern, method)
        texts = _inputs(found.pattern, screened)
        for at in range(0, len(texts), -(-len(texts) // most)):
            text = texts[at]
            try:
                if _once(ask, text) > QUICK * max(screened, len(text)) and (
                    told := _growth(found.pattern, ask, at, screened)
                ):
                    return f"{method} {text[:60]!r}…{text[-8:]!r}: {told}"
            except TooSlow:
                return f"{method} {text[:60]!r}…{text[-8:]!r}: more than {HANG} s"
    return ""


def _growth(pattern: re.Pattern[Any], ask: Callable[[Any], object], at: int, screened: int) -> str:
    """Return how the time of one kind of input grows with its length, if by more than it should.

    What is bounded far off grows fast up to its bound, so whatever does is tried again on texts that are longer still.
    """
    ratio = 0.0
    for size in (screened, screened, LONG, LONG, LONG):
        small, large = _inputs(pattern, size)[at], _inputs(pattern, 4 * size)[at]
        before, after = (min(_once(ask, text) for _ in range(2)) for text in (small, large))
        ratio = after / max(before, LEAST * len(small))
        if ratio < TIMES or after < QUICK * len(large):
            return ""
    return f"{ratio:.0f} times as long for {4 * LONG:,} characters as for {LONG:,}"


@functools.lru_cache(maxsize=6)
def _inputs(pattern: re.Pattern[Any], size: int) -> list[Any]:
    texts = worst_inputs(pattern, size)
    return [one.encode("utf-8", "surrogatepass") for one in texts] if isinstance(pattern.pattern, bytes) else texts


def _once(ask: Callable[[Any], object], text: Any) -> float:
    with within(HANG):
        began = time.perf_counter()
        ask(text)
        return time.perf_counter() - began


def _asking(pattern: re.Pattern[Any], method: str) -> Callable[[Any], object]:
    if method == "search":
        return lambda text: sum(1 for _ in pattern.finditer(text))
    return pattern.match if method == "match" else pattern.fullmatch


def main(screened: int = SCREENED, most: int = 10_000) -> None:
    """Print what was found, as JSON."""
    found, missed = gather()
    with watched():
        slow = {one.at: told for one in found if (told := slowness(one, screened, most))}
    print(json.dumps({"patterns": len(found), "missed": missed, "slow": slow}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
