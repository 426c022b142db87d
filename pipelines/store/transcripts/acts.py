"""Decide who acted in a record of Claude Code or Codex: by the record's structure, never by its words.

The program records as the user's everything that it sends on the user's side: typed text, notifications, hook output,
tool results, prompts of other programs. Newer versions record where a prompt came from (`origin`, `promptSource`); in
older ones, the record's shape identifies a person's words. What a person answered, refused or approved is in the result
of the tool that asked, and counts only if the record of the call names that tool: the words of a result may be
anybody's.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pipelines.store.evidence import Act
from pipelines.store.markdown import ECHOES
from pipelines.text import ARROW, clean, fold

if TYPE_CHECKING:
    from collections.abc import Iterator


Record = dict[str, Any]


Done = tuple[Act, str, str]
"""An act, its words, and the refused tool, or empty."""
Asked = tuple[str, frozenset[str]]
"""What a question is about, in a word or two, and the answers that it offers."""

_SIDE = "aside_question-", "<system-reminder>This is a side question"
"""How Claude Code names the agent that answers `/btw`, and how it begins the question, below a copy of the session."""
_CODEX_ASKS = "request_user_input"
"""The tool with which Codex asks; a server's tool of that name has a namespace."""
_CODEX_NOTE = "user_note: "
_CODEX_SENDERS = ("exec", "mcp")
_CODEX_PLAN = ("<proposed_plan>", "</proposed_plan>")
_CODEX_SIDE = "tui_side_chat"
_CODEX_APPROVED = "Implement the plan."
_CODEX_PUT_IN = re.compile(r"<([a-z][a-z_-]*)(?:\s[^<>]*)?>.*</\1>", re.DOTALL)
_SHOWN = re.compile(r"\s*(?:# [^\n]{1,80}:\n|<in-app-browser-context\b|## My request\b)")
"""How Codex's windows begin a prompt: with what they show (`# Files mentioned by the user:`)."""
_REQUEST = re.compile(r"^## My request(?: for Codex)?:", re.MULTILINE)
_UNTYPED = re.compile(r"# Context from my IDE setup:|</?image\b[^<>]*>\Z")
_NO_CHOICE = frozenset({"None of the above", "(notes only)"})
"""What the programs record as the choice if a person only typed."""
_MANY = 3
"""Questions of how many kinds offer an answer that is on none of them."""
_FEWEST = 2
_STRANGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)  # from another version's shapes
_HUMAN = "human"
_WINDOWS = frozenset("claude-vscode claude-desktop claude-desktop-3p".split())
"""Where a person types, although what they type is sent as a program's prompts are."""
_TYPED = frozenset({"", "typed", "queued", "sdk"})
# Built-in tools, whose errors contain nobody else's words. Another tool's error may read like a refusal. A shell's
# error starts with its exit code.
_BUILT_IN = frozenset(
    """Bash BashOutput KillShell Edit MultiEdit Write NotebookEdit Read Glob Grep LS Task Agent TodoWrite WebFetch
    WebSearch ExitPlanMode EnterPlanMode Skill SlashCommand""".split()
)
_REFUSED = re.compile(
    r"The user doesn't want to (?:proceed with this tool use|take this action right now)\.[^\n]*?"
    r"(?:the user said:\n|The user provided the following reason for the rejection: )(.+)",
    re.DOTALL,
)
_FEEDBACK = "\nUser feedback on this plan: "
_NOTE = "\n\nNote: The user's next message may contain"
_COMMAND = re.compile(r"\s*<command-(?:name|message)>[^<>\n]{0,500}</command-(?:name|message)>")
_REMEMBER = re.compile(r"\s*<user-memory-input>(.*)</user-memory-input>\s*", re.DOTALL)
_MACHINE = re.compile(
    r"\s*<(?:task-notification|teammate-message|cross-session-message|agent-message|channel|fork-boilerplate|tick|"
    r"local-command-|bash-)|\s*\{\"task_id\":"
)


_BLOCK = re.compile(r"(\S[^\n()]{0,90}) \((?:un)?trusted[^()\n]{0,40}\):\n```(?:json)?\n(.{0,100000}?)\n```", re.DOTALL)
_INTERNAL = re.compile(
    r"<<<BEGIN_OPENCLAW_[A-Z_]+>>>.*?(?:<<<END_OPENCLAW_[A-Z_]+>>>|\Z)"
    r"|(?:^Untrusted context [^\n]{0,90}\n{1,2})?<<<EXTERNAL_UNTRUSTED_CONTENT\b.*?"
    r"(?:<<<END_EXTERNAL_UNTRUSTED_CONTENT\b[^\n]*|\Z)"
    rf"|^<(?P<echo>{ECHOES})>.*?</(?P=echo)>",
    re.DOTALL | re.MULTILINE,
)
_NOTICE = re.compile(r"System(?: \(untrusted\))?: \[[^\n]*(?:\nSystem(?: \(untrusted\))?:[^\n]*)*(?:\n|\Z)")
_QUEUED = re.compile(r"^\[Queued messages[^\n]*\]$|^---\nQueued #\d+[^\n]*$", re.MULTILINE)
_STAMP = re.compile(r"\[(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) )?\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,20}\] ?")
_CHANNEL = re.compile(
    r"\[(?:Telegram|WhatsApp|Discord|Slack|Signal|iMessage|Matrix|LINE|Feishu|Teams|Google Chat|Mattermost|Zalo)"
    r"\b ?([^\]\n]{0,200})\] ?"
)
_GROUP = re.compile(r"@g\.us\b|\bid:-\d|\bgroup\b|#|\bguild\b|\bchannel\b|\broom\b", re.IGNORECASE)
_OWN_PROMPTS = (
    "[cron:", "Read HEARTBEAT.md", "A new session was started via ", "Pre-compaction memory flush", "[Subagent ",
    "A scheduled reminder has been triggered", "A scheduled cron event was triggered", "An async command you ran ",
    "[Inter-session message]", "Continue the OpenClaw runtime event.",
)  # fmt: skip
_OF_SENDER = frozenset({"Conversation info", "Sender", "Inbound Context"})
"""The blocks that say who sent the message itself, and not what it replies to or came after."""
_OF_GROUPS = ("is_group", "group_", "guild", "channel_")
_FORWARDED = "Forwarded message"
_NAMES = "sender senderName name label senderUsername username sender_id senderId id".split()


@dataclass(slots=True)
class Envelopes:
    """Reads the user's messages of one session of OpenClaw: its gateway writes who sent what before the words.

    A session takes messages from chats of one person and of groups, and prompts that the gateway writes: scheduled
    jobs, heartbeats, notices of commands that ended, and context of its own. What stands before the words names the
    sender: blocks of JSON after a line that ends with `(untrusted metadata):`, or, in older versions, brackets with the
    channel's name. Today's versions leave the words bare and keep the sender in the record. The owner is whom the
    record calls so, or who writes in a chat of their own; the first one, if several do. On another channel they have
    another id: there their name tells.

    Args:
        owner: the id of the first sender who wrote in a chat of their own; empty while there is none.
        name: that sender's name, folded.
    """

    owner: str = ""
    name: str = ""

    def opened(self, text: str, kept: Record) -> list[tuple[str, str]]:
        """Return the messages in a text, each as sender and words; the sender is empty for the owner.

        What the gateway wrote itself is left out.

        Args:
            text: the messages, each with what stands before it.
            kept: what the record itself keeps of the sender of those that do not say theirs.
        """
        return [one for part in _QUEUED.split(text) if (one := self._opened(part, kept))[1]]

    def _opened(self, text: str, kept: Record) -> tuple[str, str]:
        text, told, is_forwarded = _INTERNAL.sub("", text).lstrip(), Record(), False
        while found := _BLOCK.match(text) or _NOTICE.match(text):
            if found.re is _BLOCK:
                is_forwarded = is_forwarded or found[1].startswith(_FORWARDED)
                with suppress(ValueError):
                    block = json.loads(found[2])
                    told = {**block, **told} if isinstance(block, dict) and found[1] in _OF_SENDER else told
            text = text[found.end() :].lstrip()
        channel = _CHANNEL.match(text)
        text = text[channel.end() :] if channel else _STAMP.sub("", text, count=1) if _STAMP.match(text) else text
        text = text.strip()
        if not text or text.startswith(_OWN_PROMPTS):
            return "", ""
        told = told or kept
        sender = str(told.get("sender_id") or told.get("senderId") or told.get("id") or "")
        name = next((str(told[key]) for key in _NAMES if told.get(key)), "")
        if told.get("senderIsOwner"):
            self.owner, self.name = sender, name.casefold()
        # Only groups keep ids. Without one, it is a chat of their own, even where the gateway was not told its owner.
        in_group = told.get("senderIsOwner") is False and bool(sender)
        in_group = in_group or any(value for key, value in told.items() if key.startswith(_OF_GROUPS))
        in_group = in_group or bool(_GROUP.search(str(told.get("conversation_label") or "")))
        if channel and _GROUP.search(channel[1]):
            in_group, (name, _, rest) = True, text.partition(": ")
            text = rest or text
        if not in_group and not is_forwarded:
            if not self.owner:
                self.owner, self.name = sender, name.casefold()
            is_owner = not sender or sender == self.owner or name.casefold() == self.name
            return ("", text) if is_owner else (name, text)
        return ("", text) if sender and sender == self.owner and not is_forwarded else (name or "somebody else", text)


@dataclass(slots=True)
class Acts:
    """Reads the records of one transcript in order.

    Args:
        headless: whether the user's settings count what a program sent as the owner's.
        origins: whether a record has said that a person typed it: from then on, a record that does not was not typed.
        sent: whether a program opened the session, by its first record.
        subagent: whether an agent opened it.
        envelopes: reads who sent each message of OpenClaw.
        asked: the questions of each call that asks: what they are about, and which answers they offer. A pass over the
            whole session that comes before knows those that follow, too.
    """

    headless: bool = False
    origins: bool = False
    sent: bool = False
    subagent: bool = False
    envelopes: Envelopes = field(default_factory=Envelopes)
    asked: dict[str, list[Asked]] = field(default_factory=dict)
    _opened: bool = False
    _plan: str = ""
    _calls: dict[str, tuple[str, object]] = field(default_factory=dict)
    _queue: list[str] = field(default_factory=list)
    _counted: list[str] = field(default_factory=list)
    _loads: bool = False
    _attaches: bool = False
    _told: dict[bool, list[tuple[str, str]]] = field(default_factory=lambda: {False: [], True: []})
    _in_records: bool = False
    _with_person: bool = False

    def is_subagents(self, record: Record, text: str) -> bool:
        """Return whether a record of Claude Code belongs to a subagent, and not to what a person asked one directly.

        Args:
            record: the record.
            text: what a user's record says; empty for an agent's.
        """
        if record.get("isSidechain") is not True:
            return False
        if text:
            is_copy = str(record.get("agentId")).startswith(_SIDE[0])
            self._with_person = text.startswith(_SIDE[1]) if is_copy else is_human(record)
        return not self._with_person

    def called(self, content: object) -> None:
        """Record which tools an assistant's record calls."""
        for block in blocks_in(content):
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                name = str(block.get("name"))
                self._calls[block["id"]] = name, block.get("input") if name == "AskUserQuestion" else None
                if name == "AskUserQuestion":
                    self._note_asked(block["id"], block.get("input"))

    def is_foreign(self, record: Record) -> bool:
        """Return whether a record, or its attachment, says that it did not come from a person."""
        self.origins = self.origins or is_human(record)  # some versions give the origin only for notifications
        return origin_of(record) not in {"", _HUMAN}

    def approved(self, record: Record, text: str) -> list[Done]:
        """Return the approval of a plan that opens a new session, and what the person typed with it."""
        plan = record.get("planContent")
        if not isinstance(plan, str) or not plan.strip() or self._by_program(record):
            return []
        typed = text.partition(clean(plan))[2].partition(_FEEDBACK)[2]  # the plan may contain the same words
        return [(Act.PLANNED, clean(plan), ""), *([(Act.TYPED, typed, "")] if typed else [])]

    def typed(self, record: Record, text: str) -> Done:
        """Return the act behind a user's record, and the owner's words in its text, if any."""
        loads, self._loads = self._loads, False
        if text in self._queue:  # some versions deliver notifications without saying that they left the queue
            self._queue.remove(text)
        source = record.get("promptSource") or ""
        if text in self._counted:
            self._counted.remove(text)
            return Act.NONE, "", ""
        # A person's prompt has a source; their slash command, which the program wrote out, has none.
        typed = is_human(record) and (source or not _COMMAND.match(text))
        if typed or (self._with_person and text.startswith(_SIDE[1])):
            return Act.TYPED, text, ""
        if _MACHINE.match(text) or source == "system" or "toolUseResult" in record:
            return Act.NONE, "", ""
        sent = self._by_program(record)
        if _COMMAND.match(text):
            # The agent's own call of a skill looks like a command that a person typed.
            given = text.partition("<command-contents>")[0].partition("<command-args>")[2]
            words = "" if loads or record.get("sourceToolUseID") else given.rpartition("</command-args>")[0].strip()
            return Act.NONE if sent else Act.TYPED, words, ""
        if sent or self.origins or source not in _TYPED:
            return Act.NONE, text, ""
        noted = _REMEMBER.fullmatch(text)
        return (Act.REMEMBERED, clean(noted[1]), "") if noted else (Act.TYPED, text, "")

    def decided(self, record: Record, content: object) -> Iterator[Done]:
        """Yield what a person answered, refused or approved in a tool's result, and what they typed beside it."""
        blocks = blocks_in(content)
        results = [one for one in blocks if one.get("type") == "tool_result"]
        name, given = self._calls.pop(str(results[0].get("tool_use_id")), ("", None)) if results else ("", None)
        self._loads = name in {"Skill", "SlashCommand"} if results else self._loads
        if len(results) != 1 or not name or self._by_program(record):
            return
        beside = clean("\n".join(str(one.get("text") or "") for one in blocks if one.get("type") == "text"))
        result, failed = record.get("toolUseResult"), results[0].get("is_error") is True
        if name == "AskUserQuestion" and not failed:
            yield from self._answers(str(results[0].get("tool_use_id")), given, result)
        elif name == "ExitPlanMode" and not failed and isinstance(result, dict):
            plan = result.get("plan")
            if isinstance(plan, str) and not (result.get("isAgent") or result.get("awaitingLeaderApproval")):
                yield Act.PLANNED, clean(plan), ""
        elif failed and (name in _BUILT_IN or record.get("toolDenialKind") == "user-rejected"):
            # That a person wants to talk about a question first is told in the program's and the agent's words.
            said = "" if name == "AskUserQuestion" else results[0].get("content")
            if isinstance(said, str) and (reason := _REFUSED.fullmatch(said)):
                yield Act.REFUSED, clean(reason[1].partition(_NOTE)[0]), re.sub(r"[^\w.-]", "", name)[:24]
        if beside:
            yield Act.TYPED, beside, ""

    def opened(self, meta: Record) -> None:
        """Record who opened a session of Codex. Forks and subagents repeat their parent's records: the first counts."""
        if self._opened:
            return
        self._opened, source, thread = True, meta.get("source"), meta.get("thread_source") or "user"
        self.subagent = thread == "subagent" or (isinstance(source, dict) and "subagent" in source)
        self.origins = self.origins or thread == _CODEX_SIDE  # it begins with the program's own words
        by_person = thread in {"user", _CODEX_SIDE}
        self.sent = self.subagent or not by_person or source in _CODEX_SENDERS or meta.get("originator") == "codex_exec"

    def codex_parts(self, message: Record) -> object:
        """Return the content of a message of Codex, without parts that say that they did not come from a person."""
        content, parts = message.get("content"), _codex_metadata(message)
        if message.get("role") != "user" or not isinstance(parts, list) or not isinstance(content, list):
            return content
        with suppress(*_STRANGE):
            content = [one for one, part in zip(content, parts, strict=True) if part["provenance"]["type"] == "user"]
            self.origins = self.origins or bool(content)
            return content
        return []

    def codex_said(self, message: Record, text: str) -> tuple[Act, str]:
        """Return the act behind a message of Codex, and its words: those of the plan that it approves, or its own."""
        if message.get("role") != "user":
            plan, end, _ = text.partition(_CODEX_PLAN[0])[2].partition(_CODEX_PLAN[1])
            self._plan = clean(plan.strip()) if end and plan.strip() else self._plan
            return Act.NONE, text
        plan, self._plan = self._plan, ""
        untold = self.origins and _codex_metadata(message) is None
        shown = _CODEX_PUT_IN.fullmatch(text) or _request_in(text) is not None
        if (self.sent and not self.headless) or untold or shown:
            return Act.NONE, text
        return (Act.PLANNED, plan) if plan and text == _CODEX_APPROVED else (Act.TYPED, text)

    def is_twice(self, role: str, text: str, *, event: bool) -> bool:
        """Return whether a message of Codex was told before: most versions write it as a record and as an event.

        The words of an agent's event may differ a little from its record's. So these do not count where the prompt
        before them has a record.
        """
        turn, other = (role, text), self._told[not event]
        if turn in other:
            other.remove(turn)
            return True
        if role == "user":
            self._in_records = not event
        elif event and self._in_records:
            return True
        self._told[event].append(turn)
        return False

    def codex(self, payload: Record) -> list[Done]:
        """Return a person's answers to questions of Codex; its other tool calls and results are not acts.

        Answers marked as secret are left out.
        """
        ident, done = str(payload.get("call_id")), list[Done]()
        if payload.get("name") == _CODEX_ASKS and not payload.get("namespace"):
            self._calls[ident] = _CODEX_ASKS, payload.get("arguments")
            with suppress(*_STRANGE):
                self._note_asked(ident, json.loads(payload["arguments"]))
        elif (call := self._calls.pop(ident, None)) and (self.headless or not self.sent):
            with suppress(*_STRANGE):
                answers = json.loads(payload["output"])["answers"]
                for one in json.loads(str(call[1]))["questions"]:
                    if one["id"] in answers and not one.get("isSecret"):
                        done += self._answer(ident, one, *answers[one["id"]]["answers"])
        return done

    def _note_asked(self, call: str, given: Any) -> None:  # noqa: ANN401  any JSON
        with suppress(*_STRANGE):
            questions = given["questions"]
            self.asked[call] = [(str(one.get("header") or one["question"]), _offers(one)) for one in questions]

    def _answers(self, call: str, given: Any, result: Any) -> Iterator[Done]:  # noqa: ANN401  any JSON
        """Yield each question of a call with its answer. Answers that the agent filled in do not count."""
        with suppress(*_STRANGE):
            if any(map(given.get, ("answers", "annotations", "response"))):
                return
            for one in given["questions"]:
                question, notes = one["question"], result.get("annotations") or {}
                yield from self._answer(
                    call, one, result["answers"].get(question), notes.get(question, {}).get("notes")
                )
            if said := clean(result.get("response") or ""):  # typed instead of an answer
                yield Act.TYPED, said, ""

    def _answer(self, call: str, asked: Record, *said: str | None) -> Iterator[Done]:
        """Yield a question with the picked or typed answer, followed by what the owner typed in addition."""
        words = [fold(clean(one.removeprefix(_CODEX_NOTE))) for one in said if one and one not in _NO_CHOICE]
        if answer := "\n".join(filter(None, words)):
            act = self._how_answered(call, asked, said[0] or "")
            yield act, f"{fold(clean(asked['question'])).replace('→', '->')}{ARROW}{answer}", ""

    def _how_answered(self, call: str, asked: Record, answer: str) -> Act:
        """Return whether an answer chooses, may choose, or leaves a question open.

        What a session offers for questions of many kinds is on none of them (`You decide`, `Next area`): who picks it
        beside answers of the question's own leaves that open, and without two of these the question may be about how to
        go on. A typed answer leaves it open if the agent asks the same next.
        """
        matters = dict[str, set[str]]()
        for matter, offers in (one for some in self.asked.values() for one in some):
            for offer in offers:
                matters.setdefault(offer, set()).add(matter)
        offers = _offers(asked)
        own = {offer for offer in offers if len(matters.get(offer, ())) < _MANY}
        rest = answer  # of the options of the question; where several may be picked, commas join them
        for label in sorted((str(one["label"]) for one in asked.get("options") or ()), key=len, reverse=True):
            rest = rest.replace(label, "")
        if not answer or rest.strip(", "):
            calls = list(self.asked)
            after = self.asked[calls[at]] if call in calls and (at := calls.index(call) + 1) < len(calls) else ()
            is_again = any(matter == asked.get("header") and own & others for matter, others in after)
            return Act.LEFT_OPEN if is_again else Act.REPLIED
        if len(own) < min(_FEWEST, len(offers)):
            return Act.REPLIED
        return Act.ANSWERED if _plain(answer) not in offers - own else Act.LEFT_OPEN

    def queued(self, record: Record) -> str:
        """Return the queued message that reaches the agent with this record, or an empty string.

        A dequeued message is repeated as a user's record of its own; a message removed from the queue was given to the
        agent, as an attachment in versions that have them.
        """
        attached = record.get("attachment")
        if isinstance(attached, dict):
            self._attaches = True
            return self._attached(record, attached)
        how, content = record.get("operation"), record.get("content")
        text = clean(content) if isinstance(content, str) else ""
        if how == "enqueue":
            self._queue.append(text)
        elif how == "popAll":
            self._queue.clear()
        elif self._queue and (not text or text in self._queue):
            # What a person typed leaves the queue before notifications that came earlier.
            text = text or next((one for one in self._queue if not _MACHINE.match(one)), self._queue[0])
            self._queue.remove(text)
        known = self.origins or self._attaches  # the attachment says whose message it is
        if how != "remove" or not text or known or self._by_program(record) or _MACHINE.match(text):
            return ""
        self._counted.append(text)
        return text

    def _attached(self, record: Record, attached: Record) -> str:
        prompt, foreign = attached.get("prompt"), origin_of(attached) not in {"", _HUMAN}
        if isinstance(prompt, list):
            prompt = "\n".join(str(one.get("text") or "") for one in blocks_in(prompt))
        mode = attached.get("commandMode") or "prompt"
        if not isinstance(prompt, str) or mode != "prompt" or foreign or attached.get("isMeta"):
            return ""
        act, words, _ = self.typed(record | {"origin": attached.get("origin"), "promptSource": ""}, clean(prompt))
        return words if act else ""

    def _by_program(self, record: Record) -> bool:
        entry = str(record.get("entrypoint") or "")
        sent = entry.startswith("sdk") or (record.get("promptSource") == "sdk" and entry not in _WINDOWS)
        return sent and not self.headless


def _codex_metadata(message: Record) -> object:
    told = message.get("internal_chat_message_metadata_passthrough")
    return told.get("content_item_metadata") if isinstance(told, dict) else None


def requested(content: object) -> object:
    """Return a prompt of Codex without what its windows put before a request, and without the labels of images."""
    parts = content if isinstance(content, list) else [content]
    texts = [str(one.get("text") or "") if isinstance(one, dict) else str(one) for one in parts]
    if typed := next(filter(None, map(_request_in, texts)), ""):
        return typed
    return [part for part, text in zip(parts, texts, strict=True) if not _UNTYPED.match(text)]


def _request_in(text: str) -> str | None:
    """Return the request in a prompt of Codex's windows, or None if it is no such prompt."""
    parts = _REQUEST.split(text)  # what is selected may have the same heading
    return parts[-1].strip() if len(parts) > 1 and _SHOWN.match(text) else None


def blocks_in(content: object) -> list[Record]:
    """Return the parts of a message's content that are objects."""
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def origin_of(record: Record) -> str:
    """Return the recorded origin of a prompt, or an empty string."""
    origin = record.get("origin")
    return str(origin.get("kind") or "?") if isinstance(origin, dict) else ""


def is_human(record: Record) -> bool:
    """Return whether a record says that a person typed it."""
    return origin_of(record) == _HUMAN


def _offers(asked: Record) -> frozenset[str]:
    return frozenset(_plain(str(one["label"])) for one in asked.get("options") or ())


def _plain(label: str) -> str:
    return label.removesuffix(" (Recommended)")
