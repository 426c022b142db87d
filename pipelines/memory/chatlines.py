"""Which lines of a log are lines of a chat: each of them is an entry of its own.

Written as seen in the wild: `[Tue 10:06] <nick> text`, `[10:16am] nick: text`, `16:45:11 <nick> text`,
`[2024-05-01, 10:15] Name: text`, `10:15 Name: text`, `<nick> text`, `→ nick has joined`. Every pattern has bounded
repeats only, so that a line of any length is judged in constant time.
"""

from __future__ import annotations

import re

_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?Z?(?:[ ]?[aApP]\.?[mM]\b\.?)?"
_DATE = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
_NICK = r"<[^<>\n]{1,40}>"
_NAME = r"[^\W\d_][\w.'`|^-]{0,29}(?: [^\W\d_][\w.'-]{0,24}){0,3}:(?=\s)"

_STAMPED = re.compile(
    rf"\[(?:[^\[\]\n]{{0,30}}\d:\d\d[^\[\]\n]{{0,30}})\](?=\s)"
    rf"|\[\](?=\s{{1,8}}<)"
    rf"|(?:{_DATE},?[T ]{{1,2}})?{_CLOCK}(?:\s{{1,8}}|[ ]-[ ])(?:{_NICK}|{_NAME}|\*\s|-->|<--|→|←)"
    rf"|\d{{1,2}}:\d{{2}}:\d{{2}}\s"
)
_CLOCKED = re.compile(rf"(?:{_DATE},?[T ]{{1,2}})?{_CLOCK}[\s,:-]")
_UNSTAMPED = re.compile(rf"({_NICK})\s")
_NOTICE = re.compile(r"(?:→|←|⇐|⇒|-->\|?|<--\|?|\|<--|=-=|-!-|\*\*\*)\s")
_HTML = re.compile(
    r"a|abbr|b|blockquote|body|br|center|code|dd|del|details|div|dl|dt|em|font|footer|form|h[1-6]|head|header|hr|html|i|"
    r"iframe|img|input|ins|kbd|li|link|main|mark|meta|nav|ol|p|picture|pre|q|s|samp|script|section|small|source|span|"
    r"strong|style|sub|summary|sup|svg|table|tbody|td|th|thead|title|tr|u|ul|var|video",
    re.IGNORECASE,
)


def is_message(line: str, *, in_chat: bool) -> bool:
    """Return whether `line` is one message, or one notice, of a chat log.

    Args:
        line: one line, without its line end.
        in_chat: whether the line above was one, too: arrows and stars alone do not make a chat.
    """
    first = line[:1]
    if first == "[" or first.isdecimal():
        return _STAMPED.match(line) is not None
    if first == "<" and (found := _UNSTAMPED.match(line)):
        return not _is_html(found[1])
    return in_chat and _NOTICE.match(line) is not None


def starts_with_clock(line: str) -> bool:
    """Return whether `line` begins with a time of day: a journal without list marks has one such line an entry."""
    return line[:1].isdecimal() and _CLOCKED.match(line) is not None


def _is_html(tag: str) -> bool:
    word = tag[1:-1].strip("/! ").partition(" ")[0]
    return tag.startswith(("</", "<!")) or "=" in tag or "://" in tag or not word or _HTML.fullmatch(word) is not None
