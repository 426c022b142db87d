"""What of a file is for a session to read: no comments, no secrets, nothing that holds no longer, cut into entries.

Looking for secrets takes longer to import than all the rest of the context takes; so a look that only tells where there
can be none comes first. No run may have redacted the day's log yet. Tokens are counted without a tokenizer.
"""

from __future__ import annotations

import os
import time

from pipelines.queries.startup.suspicion import suspicious
from pipelines.store.item_line import OWNED, ROWS, ItemRow, line_key, read_item_line, rows_in, split_mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pipelines.store.item_line import ItemLine

_BULLETS = ("- ", "* ", "+ ", "-\t", "*\t", "+\t")
_OUTSIDE = frozenset({"external", "untrusted"})
_CLOSED = "history"
_REWRITTEN = frozenset(title.lower() for title in ROWS) - {"people", "where the rest is"}
"""Sections of the briefing whose rows other parts of the context tell better."""
_KINDS_OPEN = frozenset({"Todo", "Risk", "Question"})
_FENCES = ("```", "~~~")
_LEAST = 20  # tokens below which the end of an overlong entry says nothing
_DEEPEST = 6

_WITHOUT_LETTERS = str.maketrans("", "", " \t\r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_WITHOUT_DIGITS = str.maketrans("", "", "0123456789")


class Snippet:
    """What is kept or cut whole: a heading, a list item with what is indented under it, a paragraph.

    Args:
        text: its lines.
        date: what it is kept by where not all fits, the greatest first, after what has none: the day since which it
            holds or on which it was confirmed; of what is weighed, the weight.
        heading: its level, 0 for what is no heading.
        ids: the items that it shows, or that a generated sentence rests on.
    """

    __slots__ = ("date", "heading", "ids", "size", "text")

    def __init__(self, text: str, date: str = "", heading: int = 0, ids: tuple[str, ...] = ()) -> None:
        self.text, self.date, self.heading, self.size, self.ids = text, date, heading, tokens(text) + 1, ids


def read_part(root: str, path: str, limit: int, *, tail: bool = False) -> str:
    """Return the first `limit` bytes of a file as text, or the last from a line's beginning on; empty without a file.

    Raises:
        OSError: it cannot be read, or a component of its path is a symbolic link.
    """
    data = read_raw(root, path, limit, tail=tail)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    return _without_conflicts(text) if "<<<<<<<" in text else text


def _without_conflicts(text: str) -> str:
    """Return a text without what stands between the marks of a conflict: nobody has said yet which side holds."""
    from pipelines.store.markdown import conflicts, split_lines

    lines = split_lines(text)
    for first, last in conflicts(lines):
        lines[first : last + 1] = [""] * (last + 1 - first)
    return "".join(lines)


def read_raw(root: str, path: str, limit: int, *, tail: bool = False) -> bytes:
    """Return the same as bytes, as they are in the file."""
    *folders, name = path.split("/")
    try:
        here = open_folder(root, folders)
        try:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=here)
        finally:
            os.close(here)
    except FileNotFoundError:
        return b""
    try:
        skipped = max(0, os.fstat(file).st_size - limit) if tail else 0
        os.lseek(file, skipped, os.SEEK_SET)
        parts, left = [], limit
        while left > 0 and (more := os.read(file, left)):
            parts.append(more)
            left -= len(more)
    finally:
        os.close(file)
    data = b"".join(parts)
    return data.partition(b"\n")[2] if skipped else data


def open_folder(root: str, folders: list[str]) -> int:
    """Return a descriptor of a folder of the memory; no component of its path is followed where it is a link."""
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for folder in folders:
        try:
            inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=here)
        finally:
            os.close(here)
        here = inner
    return here


def ledger_at_start(root: str, home: str) -> dict[str, str]:
    """Return the rows of the ledger by id; what cannot be read is passed over."""
    files = []
    for folder in (f"{home}State/items", f"{home}State/generated"):
        try:
            names = sorted(os.listdir(f"{root}/{folder}"))
            files += [read_raw(root, f"{folder}/{name}", 1 << 26) for name in names if name.endswith(".jsonl")]
        except OSError:
            continue
    return rows_in(b"".join(files).decode("utf-8", "replace"))


def document_entries(
    text: str, rows: dict[str, str], *, with_open: bool = True, first: tuple[str, ...] = ()
) -> list[Snippet]:
    """Return the entries of a document that hold: without front matter, History, and items that are closed.

    Items from outside are left out, too: a session that has a question finds them, marked as such; and those of the
    briefing's generated rows that other parts of the context tell better.

    Args:
        text: the document.
        rows: the ledger by id.
        with_open: whether what is open is among them; it may be listed elsewhere.
        first: headings whose items are kept before all others, as what has no date is.
    """
    lines = text.split("\n")
    if lines[0].rstrip() == "---" and "---" in (rest := [line.rstrip() for line in lines[1:]]):
        lines = lines[rest.index("---") + 2 :]
    return _entries(lines, rows, with_open=with_open, first=first)


def log_entries(text: str) -> list[Snippet]:
    """Return the entries of a log, in order, and the headings that stand above one."""
    return _entries(text.split("\n"), None)


def episode_in(text: str, day: str, rows: dict[str, str]) -> tuple[list[Snippet], str]:
    """Return what a page of episodes tells of a day, and the lines of that day's log that this covers, `12-14,20`."""
    section = f"\n{text}\n## ".partition(f"\n## {day}\n")[2].partition("\n## ")[0]
    found, covered = [], ""
    for line in section.split("\n"):
        bare = _without_comments(line)
        covered += f"{ItemRow(rows.get(line_key(day, bare), '')).get('lines')},"
        found += [Snippet(bare)] if bare else []
    return found, covered


def without_lines(text: str, covered: str) -> str:
    """Return a text with these lines of it blank, `12-14,20`; what names no lines is passed over."""
    lines = text.split("\n")
    for part in filter(None, covered.split(",")):
        start, _, end = part.partition("-")
        if start.isdecimal() and (end or start).isdecimal():
            for number in range(int(start) - 1, min(int(end or start), len(lines))):
                lines[number] = ""
    return "\n".join(lines)


def _entries(
    lines: list[str], rows: dict[str, str] | None, *, with_open: bool = True, first: tuple[str, ...] = ()
) -> list[Snippet]:
    documents = rows is not None
    found: list[Snippet] = []
    current: list[str] = []
    ids: tuple[str, ...] = ()
    date, level, closed, fence, told = "", 0, False, "", ""
    for line in [*_outside_comments(lines), ""]:
        if fence and not closed:  # code is kept as it stands, with what it belongs to
            current.append(line.rstrip())
            fence = "" if line.strip() == fence else fence
            continue
        bare = _without_comments(line)
        fence = mark if (mark := bare.lstrip()[:3]) in _FENCES else ""
        heading = _heading(bare)
        if current and (not bare or heading or level or bare.startswith(_BULLETS)):
            if not (documents and len(current) == 1 and _says_nothing(current[0])):
                found.append(Snippet("\n".join(current), date, level, ids))
            current, date, level, ids = [], "", 0, ()
        if heading:
            told = bare[heading:].strip().casefold()
            closed = documents and told == _CLOSED
        if not bare or (not documents and bare.startswith("project:")):
            continue
        item = read_item_line(line, rows) if rows is not None else None
        row, bare = item.row if item else ItemRow(), split_mark(bare)[0] if documents else bare
        # Among what is closed stands what a person let hold again, until the next run puts it in its place.
        if documents and ((closed and not row) or (is_gone(item) if item else _is_ticked(bare))):
            continue
        if item and not with_open and is_open(item):
            continue
        written = rows.get(line_key(told, bare), "") if rows and told in OWNED else ""
        if written and told in _REWRITTEN:
            continue
        current.append(bare)
        level = heading
        ids += (item.id,) if item and item.id else grounds_of(written)
        date = "" if told in first else max(date, row.get("since"), row.get("confirmed"))
    return _without_empty_headings(found)


def _says_nothing(bare: str) -> bool:
    """Whether a line is one of a form that nobody filled in: `- Name:`."""
    return bare.startswith(_BULLETS) and bare.endswith(":") and bare[2:-1].replace(" ", "").isalpha()


def _without_comments(line: str) -> str:
    while (start := line.find("<!--")) >= 0 and (end := line.find("-->", start + 4)) >= 0:
        line = line[:start].rstrip() + line[end + 3 :]
    return line.rstrip()


def _heading(line: str) -> int:
    """Return the level of a heading, or 0 for any other line."""
    level = len(line) - len(line.lstrip("#"))
    return level if level <= _DEEPEST and line[level : level + 1] in {" ", "\t"} else 0


def grounds_of(row: str) -> tuple[str, ...]:
    """Return the ids of the items on which a generated line rests, by its row of the ledger."""
    return tuple(ItemRow(row).get("items").split())


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


def is_gone(item: ItemLine) -> bool:
    """Whether an item holds no longer, or is from outside; so is one whose row is not there, until a run finds it."""
    return item.is_over or bool(item.id and not item.row) or item.row.get("trust") in _OUTSIDE


def _is_ticked(bare: str) -> bool:
    """Whether a list item that is none of ours is ticked or struck through."""
    text = bare[2:].lstrip().lower() if bare.startswith(_BULLETS) else ""
    return text.startswith("[x] ") or text.removeprefix("[ ] ").lstrip().startswith("~~")


def kind_of_item(item: ItemLine) -> str:
    """Return what a session is told that an item is: its type, or a question."""
    return "Question" if item.row.get("section") == "questions" else item.label.capitalize()


def is_open(item: ItemLine) -> bool:
    """Whether an item is an open todo, risk or question."""
    return bool(item.id) and not is_gone(item) and kind_of_item(item) in _KINDS_OPEN


def _without_empty_headings(entries: list[Snippet]) -> list[Snippet]:
    """Return the entries without headings that nothing stands under."""
    kept: list[Snippet] = []
    deepest = 7
    for entry in reversed(entries):
        if not entry.heading:
            deepest = 7
            kept.append(entry)
        elif kept and (not kept[-1].heading or entry.heading < deepest):
            kept.append(entry)
            deepest = entry.heading
    return kept[::-1]


def fitting(entries: list[Snippet], room: int) -> tuple[list[Snippet], int]:
    """Return the entries that fit into `room` tokens, in their order, and how many were cut.

    What has no date comes first, from the top; then the newest. A heading stays with what stands under it.
    """
    body = [number for number, entry in enumerate(entries) if not entry.heading]
    dated = sorted((n for n in body if entries[n].date), key=lambda n: entries[n].date, reverse=True)
    return _kept(entries, [*(n for n in body if not entries[n].date), *dated], room)


def newest(entries: list[Snippet], room: int, *, whole: bool = False) -> tuple[list[Snippet], int]:
    """Return the last entries that fit into `room` tokens with the headings above them, and how many were cut."""
    body = [number for number, entry in enumerate(entries) if not entry.heading]
    kept, cut = _kept(entries, body[::-1], room, gapless=True)
    if body and not kept and room > _LEAST and not whole:
        return [_end_of(entries[body[-1]], room)], len(body)
    return kept, cut


def _kept(entries: list[Snippet], order: list[int], room: int, *, gapless: bool = False) -> tuple[list[Snippet], int]:
    """Return what fits when entries are taken in some order, until the first that does not fit where it is gapless."""
    kept: set[int] = set()
    for number in order:
        wanted = {number, *_headings_above(entries, number)} - kept
        size = sum(entries[n].size for n in wanted)
        if size <= room:
            kept |= wanted
            room -= size
        elif gapless:
            break
    return [entries[n] for n in sorted(kept)], sum(n not in kept for n in order)


def _end_of(entry: Snippet, room: int) -> Snippet:
    """Return the end of an entry that is itself too long."""
    text = entry.text[-8 * room :]
    while tokens(text) + 3 > room:
        text = text[len(text) // 16 + 1 :]
    return Snippet(f"… {text.split(None, 1)[-1]}")


def _headings_above(entries: list[Snippet], number: int) -> list[int]:
    found, deepest = [], 7
    for at in range(number - 1, -1, -1):
        if 0 < entries[at].heading < deepest:
            deepest = entries[at].heading
            found.append(at)
    return found


def redacted(text: str) -> str:
    """Return a document's text without secrets."""
    if not suspicious(text):
        return text
    from pipelines.store.secrets.redact import without_secrets

    return without_secrets(text)


def redacted_log(text: str) -> str:
    """Return a log's text, or its end, without secrets and private parts."""
    low = text.lower()
    if "rivate" in low:
        from pipelines.store.secrets.redact import log_without_private

        opens, closes = low.find("<private"), low.find("</private>")
        if closes >= 0 and (opens < 0 or closes < opens):  # what is private begins before the part that was read
            text = f"[private]{text[closes + len('</private>') :]}"
        text = log_without_private(text)
    return redacted(text)


def tokens(text: str) -> int:
    """Return about how many tokens a text is: in byte-pair vocabularies of 200,000 entries, seldom more than it says.

    Fitted to what such a vocabulary counted in 20 languages, journals, code and the context itself: a letter or a blank
    is .225 of a token, a digit half, a mark three quarters, and a letter of another script .4, .9 or 1.4, as UTF-8 has
    two bytes for it (Cyrillic, Greek, Arabic), three (Chinese, Japanese, Hindi) or four. Rounded up once, so that a
    text is never more than its parts together.
    """
    others = text.translate(_WITHOUT_LETTERS)
    marks = others.translate(_WITHOUT_DIGITS)
    plain = len(marks.encode("ascii", "ignore"))
    foreign = len(marks.encode("utf-8", "surrogatepass")) - plain
    signs = len(marks) - plain
    letters, digits = len(text) - len(others), len(others) - len(marks)
    return -(-(9 * letters + 20 * digits + 30 * plain + 20 * foreign - 24 * signs) // 40)


def day_number(text: str) -> int:
    """Return the day with which a text begins, `YYYY-MM-DD`, counted from 1970-01-01.

    A year is taken to begin in March, so that the leap day is its last one.

    Raises:
        ValueError: it begins with none.
    """
    year, month = divmod(int(text[:4]) * 12 + int(text[5:7]) - 3, 12)
    leaps = year // 4 - year // 100 + year // 400
    return year * 365 + leaps + (month * 306 + 5) // 10 + int(text[8:10]) - 719469


def days_of(day: str) -> int:
    """Return the day as `day_number` counts it; 0 for what is none."""
    try:
        return day_number(day)
    except ValueError:
        return 0


def day_text(number: int) -> str:
    """Return a day, counted from 1970-01-01, as `YYYY-MM-DD`."""
    return time.strftime("%Y-%m-%d", time.gmtime(number * 86400))
