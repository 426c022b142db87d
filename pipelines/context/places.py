"""Where the files of the startup context stand: in most memories under their own names, in one adopted in place not."""

from __future__ import annotations

import os

_BEGINS = ("-", "_", " ", ".", "T")


class Places:
    """The real names of what a session reads first.

    Args:
        home: the folder of what runs make, with `/` at its end; empty for the memory itself.
        logs: how daily notes are named, as curate.toml says; empty for `Logs/{YYYY}-{MM}-{DD}.md`.
        theirs: name → the person's own file that plays that part beside the runs' one, or in its place.
        only_theirs: the names for which there is only the person's file.
        more: folders with documents of the person's that can be a project's, each with `/` at its end.
    """

    __slots__ = ("home", "logs", "more", "only_theirs", "theirs")

    def __init__(
        self,
        home: str = "",
        logs: str = "",
        theirs: dict[str, str] | None = None,
        only_theirs: tuple[str, ...] = (),
        more: tuple[str, ...] = (),
    ) -> None:
        self.home, self.logs, self.theirs = home, logs, theirs or {}
        self.only_theirs, self.more = only_theirs, more

    @property
    def projects(self) -> tuple[str, ...]:
        """The folders in which documents of projects stand."""
        return f"{self.home}Projects/", *self.more

    def documents(self, name: str) -> list[str]:
        """Return the files that play SOUL.md, USER.md or MEMORY.md, the person's own in front."""
        if not self.home:
            return [name]
        theirs = [self.theirs[name]] if name in self.theirs else []
        return theirs if name in self.only_theirs else [*theirs, f"{self.home}{name}"]

    def log(self, day: str) -> str:
        """Return the path of the log of a day, `YYYY-MM-DD`."""
        return f"{self._stem(day)}.md" if self.logs else f"Logs/{day}.md"

    def others(self, root: str, day: str) -> list[str]:
        """Return what else tells of a day: its partial logs, or the notes whose names begin with it."""
        folder, slash, begin = self._stem(day).rpartition("/") if self.logs else ("Logs/partial", "/", day)
        if self.logs and not self.logs.endswith("*.md"):
            return []
        try:
            names = sorted(os.listdir(f"{root}/{folder}"))
        except OSError:
            return []
        found = [name for name in names if name.startswith(begin) and name.endswith(".md")]
        if self.logs:
            found = [name for name in found if name[len(begin) : -3].startswith(_BEGINS)]
        return [f"{folder}{slash}{name}" for name in found]

    def _stem(self, day: str) -> str:
        plain = self.logs.removesuffix(".md").removesuffix("*")
        return plain.replace("{YYYY}", day[:4]).replace("{MM}", day[5:7]).replace("{DD}", day[8:])

    def rows(self) -> list[str]:
        """Return it as lines of the cache; none where every file has its own name."""
        if not self.home:
            return []
        lists = [*(("only", name) for name in self.only_theirs), *(("more", folder) for folder in self.more)]
        told = [("home", self.home), ("logs", self.logs), *self.theirs.items(), *lists]
        return [f"={key}\t{value}" for key, value in told]


def read_places(rows: list[str]) -> Places:
    """Return what `Places.rows` wrote."""
    if not rows:
        return Places()
    told = [row[1:].partition("\t") for row in rows]
    plain = {key: value for key, _, value in told if key not in {"only", "more"}}
    home, logs = plain.pop("home", ""), plain.pop("logs", "")
    only, more = (tuple(value for key, _, value in told if key == wanted) for wanted in ("only", "more"))
    return Places(home, logs, plain, only, more)
