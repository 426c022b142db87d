"""What of a file is for a session to read: no comments, nothing that holds no longer, cut into entries."""

from __future__ import annotations

import os

_BULLETS = ("- ", "* ", "+ ", "-\t", "*\t", "+\t")
_GONE = frozenset({"superseded", "retracted", "merged", "forgotten", "archived", "waiting"})
_CLOSED = "history"
_FENCES = ("```", "~~~")
_HEX = frozenset("0123456789abcdef")
_LEAST = 20  # tokens below which the end of an overlong entry says nothing
_DEEPEST = 6
_SHORTEST_ID = 11


class Entry:
    """What is kept or cut whole: a heading, a list item with what is indented under it, a paragraph.

    Args:
        text: its lines.
        date: the day since which it holds or on which it was confirmed; empty where nothing says so.
        heading: its level, 0 for what is no heading.
    """

    __slots__ = ("date", "heading", "size", "text")

    def __init__(self, text: str, date: str = "", heading: int = 0) -> None:
        self.text, self.date, self.heading, self.size = text, date, heading, tokens(text) + 1


def read_head(root: str, path: str, limit: int) -> str:
    """Return the first `limit` bytes of a file as text; an empty string where there is none.

    Raises:
        OSError: it cannot be read, or is a symbolic link.
    """
    return _text(_read(root, path, limit, 0)[0])


def read_tail(root: str, path: str, limit: int) -> str:
    """Return the last `limit` bytes of a file as text, from a line's beginning on.

    Raises:
        OSError: it cannot be read, or is a symbolic link.
    """
    data, size = _read(root, path, limit, -limit)
    return _text(data.partition(b"\n")[2] if size > limit else data)


def _read(root: str, path: str, limit: int, offset: int) -> tuple[bytes, int]:
    """Return at most `limit` bytes from `offset` on (from the end where it is negative), and the file's size."""
    try:
        descriptor = opened(root, path)
    except FileNotFoundError:
        return b"", 0
    try:
        size = os.fstat(descriptor).st_size
        os.lseek(descriptor, max(0, size + offset) if offset < 0 else offset, os.SEEK_SET)
        parts, left = [], limit
        while left > 0 and (more := os.read(descriptor, left)):
            parts.append(more)
            left -= len(more)
    finally:
        os.close(descriptor)
    return b"".join(parts), size


def opened(root: str, path: str) -> int:
    """Return a descriptor of a file of the memory; no component of its path is followed where it is a link."""
    *folders, name = path.split("/")
    here = hold(root, folders)
    try:
        return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
    finally:
        os.close(here)


def hold(root: str, folders: list[str]) -> int:
    """Return a descriptor of a folder of the memory, as `opened` does of a file."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for folder in folders:
        try:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def document_entries(text: str) -> list[Entry]:
    """Return the entries of a document that hold: without front matter, History, and items that are closed."""
    return _entries(_body(text), documents=True)


def log_entries(text: str) -> list[Entry]:
    """Return the entries of a log, in order."""
    return _entries(text.split("\n"), documents=False)


def _body(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[0].rstrip() == "---" and "---" in (rest := [line.rstrip() for line in lines[1:]]):
        return lines[rest.index("---") + 2 :]
    return lines


def _entries(lines: list[str], *, documents: bool) -> list[Entry]:
    found: list[Entry] = []
    current: list[str] = []
    date, level, closed, fence = "", 0, False, ""
    for line in [*_outside_comments(lines), ""]:
        if fence and not closed:  # code is kept as it stands, with what it belongs to
            current.append(line.rstrip())
            fence = "" if line.strip() == fence else fence
            continue
        bare, comment = _split_comment(line)
        fence = mark if (mark := bare.lstrip()[:3]) in _FENCES else ""
        heading = _heading(bare)
        if current and (not bare or heading or level or bare.startswith(_BULLETS)):
            found.append(Entry("\n".join(current), date, level))
            current, date, level = [], "", 0
        if heading:
            closed = documents and bare[heading:].strip().casefold() == _CLOSED
        if not bare or closed:
            continue
        told = _told(comment) if documents else {}
        if documents and _is_gone(bare, told):
            continue
        current.append(bare)
        level = heading
        date = max(date, told.get("since", ""), told.get("confirmed", ""))
    return _without_empty_headings(found)


def _split_comment(line: str) -> tuple[str, str]:
    """Return a line without its comments, and the text of the last one."""
    comment = ""
    while (start := line.find("<!--")) >= 0 and (end := line.find("-->", start + 4)) >= 0:
        comment = line[start + 4 : end].strip()
        line = line[:start].rstrip() + line[end + 3 :]
    return line.rstrip(), comment


def _heading(line: str) -> int:
    """Return the level of a heading, or 0 for any other line."""
    level = len(line) - len(line.lstrip("#"))
    return level if level <= _DEEPEST and line[level : level + 1] in {" ", "\t"} else 0


def _told(comment: str) -> dict[str, str]:
    """Return what an item's comment says by key, or nothing where it is another's comment."""
    ident, *pairs = comment.split() or [""]
    if ident[:1] != "k" or len(ident) < _SHORTEST_ID or not _HEX.issuperset(ident[1:]):
        return {}
    return {key: value for key, _, value in (pair.partition("=") for pair in pairs)}


def _outside_comments(lines: list[str]) -> list[str]:
    """Return the lines that are not inside a comment of several lines; one that is never closed hides nothing."""
    found, at = [], 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith("<!--") and "-->" not in line:
            end = next((n for n in range(at + 1, len(lines)) if "-->" in lines[n] or "<!--" in lines[n]), None)
            if end is not None and "-->" in lines[end]:
                at = end + 1
                continue
        found.append(line)
        at += 1
    return found


def _is_gone(bare: str, told: dict[str, str]) -> bool:
    """Whether a line is an item that holds no longer: struck, done, or replaced."""
    if not bare.startswith(_BULLETS):
        return False
    text = bare[2:].lstrip()
    if text[:4].lower() == "[x] ":
        return True
    text = text.removeprefix("[ ] ").lstrip()
    return text.startswith("~~") or "superseded-by" in told or "merged-into" in told or told.get("status") in _GONE


def _without_empty_headings(entries: list[Entry]) -> list[Entry]:
    """Return the entries without headings that nothing stands under."""
    kept: list[Entry] = []
    deepest = 7
    for entry in reversed(entries):
        if not entry.heading:
            deepest = 7
            kept.append(entry)
        elif kept and (not kept[-1].heading or entry.heading < deepest):
            kept.append(entry)
            deepest = entry.heading
    return kept[::-1]


def fitting(entries: list[Entry], room: int) -> tuple[list[Entry], int]:
    """Return the entries that fit into `room` tokens, in their order, and how many were cut.

    What has no date comes first, from the top; then the newest. A heading stays with what stands under it.
    """
    body = [number for number, entry in enumerate(entries) if not entry.heading]
    if sum(entry.size for entry in entries) <= room:
        return entries, 0
    dated = sorted((n for n in body if entries[n].date), key=lambda n: entries[n].date, reverse=True)
    kept: set[int] = set()
    for number in [*(n for n in body if not entries[n].date), *dated]:
        wanted = {number, *_headings_above(entries, number)} - kept
        size = sum(entries[n].size for n in wanted)
        if size <= room:
            kept |= wanted
            room -= size
    return [entries[n] for n in sorted(kept)], sum(n not in kept for n in body)


def newest(entries: list[Entry], room: int) -> tuple[list[Entry], int]:
    """Return the last entries that fit into `room` tokens with the headings above them, and how many were cut."""
    body = [number for number, entry in enumerate(entries) if not entry.heading]
    kept: set[int] = set()
    for number in reversed(body):
        wanted = {number, *_headings_above(entries, number)} - kept
        size = sum(entries[n].size for n in wanted)
        if size > room:
            break
        kept |= wanted
        room -= size
    if body and not kept and room > _LEAST:
        return [_end_of(entries[body[-1]], room)], len(body)
    return [entries[n] for n in sorted(kept)], sum(n not in kept for n in body)


def _end_of(entry: Entry, room: int) -> Entry:
    """Return the end of an entry that is itself too long."""
    words = entry.text.split()
    few, many = 0, len(words)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if tokens(" ".join(words[-middle:])) + 3 <= room else (few, middle)
    return Entry(f"… {' '.join(words[-few:])}" if few else "…")


def _headings_above(entries: list[Entry], number: int) -> list[int]:
    found, deepest = [], 7
    for at in range(number - 1, -1, -1):
        if 0 < entries[at].heading < deepest:
            deepest = entries[at].heading
            found.append(at)
    return found


# ---------------------------------------- where the files of the startup context stand
# in most memories under their own names, in one adopted in place not.


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


# ---------------------------------------- what a session is shown holds no secret and nothing private
# though no run has redacted the day's log yet.
#
# Looking for secrets takes longer to import than all the rest of the context takes; so a look that only tells where
# there can be none comes first.


_WORDS = ("passw", "pwd", "secret", "token", "key", "credential", "kennwort", "authoriz", "bearer")
_AFTER = 48  # characters within which a name that is assigned something is followed by what assigns it
_RUN = 20  # no token of a provider is shorter
_LETTERS = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
_TABLE = bytes(byte if byte in _LETTERS else 0x20 for byte in range(256))


def veiled(text: str) -> str:
    """Return a document's text without secrets."""
    if not suspicious(text):
        return text
    from pipelines.store.secrets import veil

    return veil(text)


def veiled_log(text: str) -> str:
    """Return a log's text, or its end, without secrets and private parts."""
    low = text.lower()
    if "rivate" in low:
        from pipelines.store.secrets.redact import log_without_private

        opens, closes = low.find("<private"), low.find("</private>")
        if closes >= 0 and (opens < 0 or closes < opens):  # what is private begins before the part that was read
            text = f"[private]{text[closes + len('</private>') :]}"
        text = log_without_private(text)
    return veiled(text)


def suspicious(text: str) -> bool:
    """Return whether a text may hold a secret; False is certain."""
    data = _veiling_outside_comments(text).encode("utf-8", "replace")
    if any(len(run) >= _RUN for run in data.translate(_TABLE).split()):
        return True
    low = data.lower()
    if (b"://" in low and b"@" in low) or b" -u" in low or b" -p" in low or b" -a" in low:
        return True
    return any(_assigned(low, word.encode()) for word in _WORDS)


def _veiling_outside_comments(text: str) -> str:
    """Return a text without its comments, which the context does not show; one that nothing closes is none."""
    first, *more = text.split("<!--")
    return first + "".join(part.partition("-->")[2] if "-->" in part else part for part in more)


def _assigned(low: bytes, word: bytes) -> bool:
    at = low.find(word)
    while at >= 0:
        after = low[at : at + _AFTER].partition(b"\n")[0]
        if any(mark in after for mark in (b":", b"=", b">", b" is ", b" was ", b" are ")) or b"--" in low[at - 30 : at]:
            return True
        at = low.find(word, at + 1)
    return False


# ---------------------------------------- how many tokens a text is
# without a tokenizer: never far below what the usual ones count.


_TOKENS_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"
_WITHOUT_LETTERS = str.maketrans("", "", _TOKENS_LETTERS)
_WITHOUT_DIGITS = str.maketrans("", "", _DIGITS)
_WITHOUT_BLANKS = str.maketrans("", "", " \t\r")


def tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many than too few.

    Byte-pair vocabularies of 100,000 entries and more seldom cut finer than six letters or three digits, with a rest a
    word; any other mark, a line's end and a character of another script count as one each. That is a fifth too many
    on English prose, and a budget that is kept is worth more than a full one.
    """
    blanks = text.translate(_WITHOUT_BLANKS)
    marks = blanks.translate(_WITHOUT_LETTERS)
    others = marks.translate(_WITHOUT_DIGITS)
    letters, digits = len(blanks) - len(marks), len(marks) - len(others)
    # Rounded up, so that a text is never more than its parts together.
    return (letters + 5) // 6 + (digits + 2) // 3 + len(others) + (3 * len(text.split()) + 4) // 5
