"""Outside text that a session's tools brought in, and whether an agent's words repeat it.

A call's tool and paths decide whether its result is outside text. Every run of eight words of that text, and every row
of sentences with fewer, is remembered by a hash. A file of the session's own folder may be anybody's: who repeats it
is an echo, but what the agent says in its own words after it stays its own.
"""

from __future__ import annotations

import json
import posixpath
import re
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Final
from zlib import crc32

from pipelines.store.transcripts.acts import Record, blocks_in, origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


RUN: Final = 8
"""Words in a row that the agent cannot share with outside text by chance."""
_FEWEST = 4  # words of a sentence, or of some in a row, shorter than a run, which are compared as a whole
_TOGETHER = 3  # sentences in a row that may be so short
_MOST = 1_000_000  # runs of outside text in one session; beyond that, everything the agent says counts as shared
_WORD = re.compile(r"[\u3040-\u9fff]|[^\W_\u3040-\u9fff]+")
_LINE = re.compile(r"[\n|]")
_SENTENCE = re.compile(r"[.!?:;]\s|[。！？]")
# These tools touch only the session's own folder and bring in nothing. All others do, including unknown ones: a page, a
# search, a server of tools, a subagent that may have read any of these.
_WRITES = frozenset("edit write multiedit notebookedit applypatch strreplaceeditor strreplacebasededittool".split())
_OWN = _WRITES | frozenset(
    """todowrite todoread exitplanmode enterplanmode askuserquestion killshell killbash bashoutput updateplan
    taskcreate taskupdate tasklist taskget ls glob listdir think requestuserinput toolsearch skill
    slashcommand""".split()
)
_READS = frozenset("read grep notebookread view readfile viewimage cat searchfiles grepsearch".split())
_SHELLS = frozenset(
    """bash shell exec execcommand localshell localshellcall terminal runterminalcmd containerexec writestdin
    shellcommand""".split()
)
_SHOWS = re.compile(r"(?:^|[|;&'\"\s])(?:cat|head|tail|less|more|nl|bat|sed|awk|grep|rg|ag)\s")
_PATHS = "file_path path notebook_path filename file".split()
_FOREIGN = frozenset(
    "node_modules site-packages dist-packages vendor vendored third_party .venv venv downloads .cargo .npm .cache "
    "gems".split()
)
_REACHES_OUT = re.compile(
    r"\b(?:curl|wget|aria2c|git\s+(?:clone|pull|fetch|submodule)|gh|glab|hub|ssh|scp|sftp|rsync|nc|ncat|telnet|"
    r"ftp|lynx|w3m|links|"
    r"pip3?\s+(?:download|show)|npm\s+(?:view|info|search)|docker\s+(?:pull|run)|kubectl\s+logs|mail|mutt|imap|"
    r"psql|mysql|"
    r"redis-cli|mongo(?:sh)?|aws|gcloud|az|slack|jira)\b|(?:https?|ftp)://(?!localhost|127\.|\[::1\])",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(r"[^\s'\"`;|&<>(){}=,:$\\]+")
_TOOLS = "tool function toolResult tool_result".split()
_USES = "tool_use toolCall tool_call".split()
_IDS = "tool_use_id call_id toolCallId tool_call_id id".split()
_MEMORY = re.compile(r"mcp__(?:plugin_)?memcurate(?:_memcurate)?__")


class _From(IntEnum):
    """Where the result of a call comes from: the session itself, a file of its folder, or anywhere else."""

    SESSION = 0
    FILE = 1
    OUTSIDE = 2


@dataclass(slots=True)
class Outside:
    """The outside text of one session, as far as its records were read.

    Args:
        tools: tools, and servers of tools, whose results the user's settings trust.
        hears: whether it listens at all; not needed to compare sessions.
        seen: whether any outside text has come.
    """

    tools: frozenset[str] = frozenset()
    hears: bool = True
    seen: bool = False
    _home: str = ""
    _missed: bool = False
    _brought: set[int] = field(default_factory=set, repr=False)
    _own: set[int] = field(default_factory=set)
    _calls: dict[str, _From] = field(default_factory=dict)
    _written: set[str] = field(default_factory=set)

    def read(self, record: Record, cwd: str, acts: Iterable[str] = ()) -> None:
        """Record which tools a record calls, and take their results if they are outside text.

        Args:
            record: the record.
            cwd: the session's folder from its first record, or empty.
            acts: the owner's words in it, which may be inside a tool's result.
        """
        if not self.hears:
            return
        for text in acts:
            self.own(text)
        folder = record.get("cwd")
        here = folder if isinstance(folder, str) else cwd
        self._home = self._home or cwd or here
        for ident, name, given in _calls(record):
            brings = self._brings(name, given, here)
            self.seen = self.seen or brings is _From.OUTSIDE
            if ident:
                self._calls[ident] = brings
        for ident, content in _results(record):
            if brought := self._calls.pop(ident, _From.OUTSIDE):
                self.take(content, brought)
        if origin_of(record) not in {"", "human", "task-notification"}:
            self.take(record.get("message"))

    def take(self, content: object, brought: _From = _From.OUTSIDE) -> None:
        """Add outside text: a text, or all strings in a result of any form."""
        self.seen = self.seen or brought is _From.OUTSIDE
        for text in _texts(content):
            for run in _runs(text):
                if len(self._brought) >= _MOST:
                    self._missed = True
                    return
                if run not in self._own:
                    self._brought.add(run)

    def own(self, text: str) -> None:
        """Add what the owner typed or the agent said: later outside text that repeats it is not its source."""
        if self.hears:
            self._own.update(run for run in _runs(text) if run not in self._brought)

    def echoes(self, sentence: str) -> bool:
        """Return whether an agent's sentence shares a run of words with earlier outside text."""
        return any(self._missed or run in self._brought for run in _runs(sentence))

    def echoing(self, text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
        """Return the numbers of an agent's sentences that share words with earlier outside text, as `echoes` decides.

        Short sentences in a row are looked at together, too.

        Args:
            text: what the agent said.
            spans: start and end of each of its sentences.
        """
        found = {at for at, (start, end) in enumerate(spans) if self.echoes(text[start:end])}
        is_short = [len(_WORD.findall(text[start:end])) < RUN for start, end in spans]
        for size in range(2, _TOGETHER + 1):
            rows = [range(first, first + size) for first in range(len(spans) - size + 1)]
            rows = [row for row in rows if found.isdisjoint(row) and all(is_short[row.start : row.stop])]
            found.update(*(row for row in rows if self.echoes(text[spans[row[0]][0] : spans[row[-1]][1]])))
        return sorted(found)

    def _brings(self, name: str, given: object, cwd: str) -> _From:
        """Return where the result of a call comes from."""
        tool = re.sub(r"[^a-z0-9]", "", name.casefold())
        if _MEMORY.match(name) or any(name == one or name.startswith(f"{one}__") for one in self.tools):
            return _From.SESSION
        if "__" in name or not tool:
            return _From.OUTSIDE
        arguments = _arguments(given)
        paths = [value for key, value in arguments.items() if key in _PATHS and isinstance(value, str)]
        wholes = {posixpath.normpath(posixpath.join(cwd, path)) for path in paths}
        if tool in _OWN:
            self._written |= wholes if tool in _WRITES else set()
            return _From.SESSION
        if tool in _SHELLS:
            return self._shown(str(arguments)[:20_000], cwd)
        if tool not in _READS or any(self._leads_out(path, cwd) for path in paths):
            return _From.OUTSIDE
        return _From.SESSION if wholes and wholes <= self._written else _From.FILE

    def _shown(self, command: str, cwd: str) -> _From:
        """Return where the output of a shell's command comes from."""
        words = _ARGUMENT.findall(command)
        leads_out = any(self._leads_out(word, cwd, ("//", "/dev/", "/usr/", "/bin/")) for word in words)
        if leads_out or _REACHES_OUT.search(command):
            return _From.OUTSIDE
        return _From.FILE if _SHOWS.search(command) else _From.SESSION

    def _leads_out(self, path: str, cwd: str, passed: tuple[str, ...] = ()) -> bool:
        whole = posixpath.normpath(posixpath.join(cwd, path))
        if whole in self._written or (passed and path.startswith(passed)):
            return False
        if frozenset(path.casefold().split("/")) & _FOREIGN:
            return True
        if path.startswith(("/", "~")) or ".." in path.split("/"):
            home = self._home.rstrip("/")
            return not home or not f"{whole}/".startswith(f"{home}/")
        return False


def _calls(record: Record) -> Iterator[tuple[str, str, object]]:
    """Yield id, name and input of each tool call in a record; a provider's own search tool has no name."""
    payload, message = record.get("payload"), record.get("message")
    if isinstance(payload, dict) and isinstance(kind := payload.get("type"), str) and kind.endswith("_call"):
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        server = f"{str(payload['namespace']).rstrip('_')}__" if payload.get("namespace") else ""
        name = str(payload.get("name") or ("shell" if kind == "local_shell_call" else ""))
        yield _ident(payload), f"{server}{name}", given
    content = (message if isinstance(message, dict) else record).get("content")
    for block in blocks_in(content):
        if block.get("type") in _USES:
            yield _ident(block), str(block.get("name") or ""), block.get("input", block.get("arguments"))


def _results(record: Record) -> Iterator[tuple[str, object]]:
    """Yield each tool result in a record with the id of its call, or an empty one."""
    payload, message = record.get("payload"), record.get("message")
    if isinstance(payload, dict) and str(payload.get("type")).endswith("_output"):
        yield _ident(payload), payload.get("output")
    holder = message if isinstance(message, dict) else record
    content = holder.get("content")
    if holder.get("role") in _TOOLS:
        yield _ident(holder), content
        return
    for block in blocks_in(content):
        if str(block.get("type")).endswith("tool_result"):
            yield _ident(block), block.get("content")


def _ident(block: Record) -> str:
    return next((value for key in _IDS if isinstance(value := block.get(key), str)), "")


def _arguments(given: object) -> Record:
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    return given if isinstance(given, dict) else {"command": given} if given is not None else {}


def _texts(content: object) -> Iterator[str]:
    """Yield the strings of a result, including those in JSON within a string."""
    left = [content]
    while left:
        one = left.pop()
        if isinstance(one, str):
            inner: object = None
            if one[:1] in {"{", "["}:
                with suppress(ValueError, RecursionError):
                    inner = json.loads(one)
            if isinstance(inner, (dict, list)):
                left.append(inner)
            else:
                yield one
        elif isinstance(one, dict):
            left += one.values()
        elif isinstance(one, list):
            left += one


def _runs(text: str) -> Iterator[int]:
    """Yield a hash for every run of eight words, and for all sentences in a row of a line that are slightly shorter."""
    folded = text.casefold()
    words = _WORD.findall(folded)
    for at in range(len(words) - RUN + 1):
        yield _number(words[at : at + RUN])
    for line in _LINE.split(folded):
        sentences = [said for one in _SENTENCE.split(line) if (said := _WORD.findall(one[: 1 << 9]))]
        for first in range(len(sentences)):
            short = list[str]()
            for sentence in sentences[first : first + _TOGETHER]:
                short += sentence
                if len(short) >= RUN:
                    break
                if len(short) >= _FEWEST:
                    yield _number(short)


def _number(words: Iterable[str]) -> int:
    joined = " ".join(words).encode()
    return crc32(joined) << 32 | crc32(joined, 0x9E3779B9)
