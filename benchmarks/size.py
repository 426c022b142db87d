"""Print what an installation of memcurate brings, by package, in MB, without bytecode.

usage: python -m benchmarks.size

For each package that memcurate names it counts what only this one brings; what several share is listed at the end.
"""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution
from itertools import chain

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

_MB = 1_000_000
_LARGE = 5 * _MB
_NAMED = 4


def main() -> None:
    """Print the table."""
    direct = sorted(_needs("memcurate", frozenset()))
    brought = {name: _closure(name, extras) for name, extras in direct}
    whole = set(chain.from_iterable(brought.values()))
    only = {
        name: found - set(chain.from_iterable(more for other, more in brought.items() if other != name))
        for name, found in brought.items()
    }
    print(f"{_size(whole) / _MB:7.1f} MB, {len(whole)} packages beside memcurate itself")
    for name, found in sorted(only.items(), key=lambda row: -_size(row[1])):
        print(f"{_size(found) / _MB:7.1f} {name}{_largest(found - {name})}")
    shared = whole - set(chain.from_iterable(only.values()))
    print(f"{_size(shared) / _MB:7.1f} shared by several{_largest(shared)}")


def _largest(found: set[str]) -> str:
    """Return the largest of some packages, with their sizes."""
    rows = sorted(((_bytes(name), name) for name in found), reverse=True)
    big = ", ".join(f"{name} {size / _MB:.0f}" for size, name in rows[:_NAMED] if size >= _LARGE)
    return f" ({len(found)} more: {big})" if big else ""


def _needs(name: str, extras: frozenset[str]) -> set[tuple[str, frozenset[str]]]:
    """Return what a package needs here, with the extras that it asks for."""
    found = set[tuple[str, frozenset[str]]]()
    for line in _found(name).requires or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            found.add((str(canonicalize_name(one.name)), frozenset(one.extras)))
    return found


def _closure(name: str, extras: frozenset[str]) -> set[str]:
    """Return a package and all that it needs here."""
    left, seen = [(name, extras)], set[tuple[str, frozenset[str]]]()
    while left:
        if (one := left.pop()) not in seen:
            seen.add(one)
            left += _needs(*one)
    return {name for name, _ in seen}


def _size(names: set[str]) -> int:
    return sum(map(_bytes, names))


def _bytes(name: str) -> int:
    """Return how many bytes a package has on the disk."""
    places = (file.locate() for file in _found(name).files or () if file.suffix != ".pyc")
    return sum(place.stat().st_size for place in places if place.exists())  # type: ignore[attr-defined]


def _found(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError as fault:
        raise SystemExit(f"{fault}: run this where memcurate and what it needs are installed.") from None


if __name__ == "__main__":
    main()
