"""Names under which adopted files stand: their own where these can stand everywhere, and no two the same."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from pipelines.store.layout import can_stand, slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def standing(path: str) -> str:
    """Return a path in which each name that could not stand on every disk, or in git, is replaced by its slug."""
    folders, _, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    ending = f".{ending.lower()}" if dot else ""
    stem = stem or name
    own = name if can_stand(name) and can_stand(stem) else f"{slug(_readable(stem))}{ending}"
    return "/".join([*(_folder(one) for one in folders.split("/") if one), own])


def settle(wishes: Sequence[str]) -> list[str]:
    """Return a path for each wish, in order, no two alike in any case of their letters; later ones are numbered."""
    wanted = {_key(wish) for wish in wishes}
    folders = {_key(folder) for wish in wishes for folder in _parents(wish)}
    taken: set[str] = set()
    last: dict[str, int] = {}
    out = []
    for wish in wishes:
        number = last.get(_key(wish), 1)
        path = wish if number == 1 else _numbered(wish, number)
        while (key := _key(path)) in taken or key in folders or (number > 1 and key in wanted):
            number += 1
            path = _numbered(wish, number)
        last[_key(wish)] = number
        taken.add(key)
        out.append(path)
    return out


def _numbered(path: str, number: int) -> str:
    folders, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    return f"{folders}{slash}{stem}-{number}{dot}{ending}" if stem else f"{path}-{number}"


def _folder(name: str) -> str:
    return name if can_stand(name) else slug(_readable(name))


def _readable(name: str) -> str:
    """Return a name without the bytes that are no text."""
    return name.encode(errors="replace").decode()


def _parents(path: str) -> Iterable[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
