"""Claude Code and Codex as models: a program that the user is logged in to reads the logs, without a key.

Each call starts the program in an empty folder, without tools, hooks or settings of a user or project, and without a
session that could be captured. The request goes to standard input; the reply is JSON.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipelines.errors import ModelFailed, UsageFault
from pipelines.extract.llm.call import Call, ModelAnswer
from pipelines.extract.llm.openai import ErrorStatus
from pipelines.extract.llm.program import ending, run_program
from pipelines.extract.llm.provider import RETRIES, ProviderModel, as_count, as_failure
from pipelines.provider_settings import LOGINS, OWN_MODEL, ProviderSettings
from pipelines.store.secrets.redact import without_secrets
from pipelines.usage import FailureKind, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Row = dict[str, Any]


# Where these programs are installed outside the PATH of a timer.
_PLACES = "~/.local/bin:/usr/local/bin:/opt/homebrew/bin"
# Variables that would make a call part of the session that started us, and keys, which would be charged in place of the
# login.
_LEFT_OUT = re.compile(
    r"CLAUDECODE|CLAUDE_CODE_(?:ENTRYPOINT|EXECPATH|SESSION_ID|SSE_PORT|CHILD_SESSION)|CLAUDE_EFFORT|AI_AGENT|"
    r"CODEX_(?:SANDBOX|SANDBOX_NETWORK_DISABLED|SESSION_ID|THREAD_ID|INTERNAL_ORIGINATOR_OVERRIDE)|"
    r"(?:ANTHROPIC|CODEX|OPENAI)_API_KEY"
)
_STATUS = re.compile(r"\bstatus:? (\d{3})\b")
# Claude Code tells the model in which folder it runs; a TMPDIR of the user's own may name the account.
_TEMPORARY = "/tmp" if os.access("/tmp", os.W_OK) else None  # noqa: S108
_SHOWN = 200
_PROBE_SECONDS = 20.0
_CLAUDE = "-p --output-format json --no-session-persistence --strict-mcp-config --disable-slash-commands"
_CODEX = (
    "exec --json --ephemeral --ignore-user-config --ignore-rules --skip-git-repo-check --sandbox read-only"
    " -c include_environment_context=false -c include_permissions_instructions=false -c project_doc_max_bytes=0"
    " -c skills.include_instructions=false -c web_search=disabled -c agents.enabled=false"
    " -c tools.experimental_request_user_input.enabled=false -c include_collaboration_mode_instructions=false"
)
_SKILL = re.compile(r"\$([\w:-]+)")
# Codex's tools for files and the network, and its endless wait for a network. It ignores unknown names.
_CODEX_OFF = (
    "apps browser_use code_mode_host computer_use goals hooks image_generation multi_agent plugins shell_snapshot"
    " shell_tool skill_search sleep_tool tool_suggest unified_exec unbounded_connection_retries view_image"
)


def found_program(provider: str, named: str = "") -> str | None:
    """Return the absolute path of a provider's program, from the settings or else from the PATH."""
    path = os.pathsep.join((os.environ.get("PATH", ""), *map(os.path.expanduser, _PLACES.split(":"))))
    found = shutil.which(named, path=path) or shutil.which(LOGINS[provider].program, path=path)
    return str(Path(found).absolute()) if found else None


def check_programs(providers: Iterable[str], models: Mapping[str, ProviderSettings]) -> None:
    """Make sure that the programs of providers are on this machine.

    Raises:
        UsageFault: one is not.
    """
    for name in providers:
        if name in LOGINS and not found_program(name, models[name].program):
            raise UsageFault(
                f"{name} should read the logs, but `{LOGINS[name].program}` is not installed.",
                f"Install it, or set `program` in the table {name} of your settings.",
            )


class LoggedInModel(ProviderModel):
    """Runs a provider's program for each call. The program retries by itself, so we do not."""

    retries = 0

    def __init__(self, settings: ProviderSettings) -> None:
        super().__init__(settings)
        self._login = LOGINS[self.provider]
        self._not_logged_in = f"is not logged in here, or the login has expired; run `{self._login.login}`"
        self._model_words = () if settings.model == OWN_MODEL else ("--model", settings.model)

    def ask(self, call: Call) -> ModelAnswer:
        """Run the program once.

        Raises:
            ModelFailed: no usable answer came.
        """
        with tempfile.TemporaryDirectory(prefix="memcurate-", dir=_TEMPORARY) as folder:
            words = self._words(call, Path(folder))
            output, status, errors = self._run(folder, words, self.settings.timeout_seconds, call.user)
        rows = [row for row in map(_parsed, output.splitlines()) if row]
        return self._read(rows, errors or ending(status))

    def trouble(self) -> str:
        """Return why the program cannot be used, as the end of a sentence that begins with it; empty if it can."""
        try:
            with tempfile.TemporaryDirectory(prefix="memcurate-") as folder:
                status = self._run(folder, self._login.status.split(), _PROBE_SECONDS)[1]
        except ModelFailed as fault:
            return fault.why
        return self._not_logged_in if status else ""

    def _run(self, folder: str, words: Sequence[str], seconds: float, text: str = "") -> tuple[str, int, str]:
        """Return the program's output, its status, and the last line of its errors."""
        program = found_program(self.provider, self.settings.program)
        if program is None:
            why = f"was not found; set program in the table {self.provider} of your settings"
            raise ModelFailed(self.provider, why, FailureKind.DOWN)
        passed = {key: value for key, value in os.environ.items() if not _LEFT_OUT.fullmatch(key)}
        # A script finds its interpreter next to itself, which may be outside a timer's PATH. Without the second
        # variable, Claude Code has a model write a title of the session, which sends the text once more.
        passed["PATH"] = os.pathsep.join((str(Path(program).parent), os.environ.get("PATH", os.defpath)))
        passed["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = "1"
        # A text that says `@/some/file` would have Claude Code send that file, or the names in that folder.
        passed["CLAUDE_CODE_DISABLE_ATTACHMENTS"] = "1"
        passed["ENABLE_TOOL_SEARCH"] = "false"  # else there is a second tool, which does nothing
        passed["CLAUDE_CODE_MAX_OUTPUT_TOKENS"] = str(self.settings.max_tokens)
        passed["CLAUDE_CODE_MAX_RETRIES"] = str(RETRIES)
        with tempfile.TemporaryFile() as errors:
            command = (program, *words)
            output, status = run_program(self.provider, command, text, seconds, cwd=folder, env=passed, stderr=errors)
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4 * _SHOWN))
            lines = errors.read().decode(errors="replace").strip().splitlines()
        return output, status, _shown(lines[-1]) if lines else ""

    def _failure(self, words: str, status: int, usage: Usage) -> ModelFailed:
        """Return the failure that the program reports; `status` is that of the service, or 0."""
        # No output means no answer: the service was not reached, or nobody is logged in.
        kind, why = FailureKind.UNUSABLE if usage.output_tokens else FailureKind.DOWN, f"failed: {_shown(words)}"
        if status:
            failure = as_failure(self.provider, ErrorStatus(status, {}, words))
            kind, why = failure.kind, failure.why
            why = self._not_logged_in if kind is FailureKind.UNAUTHORISED else why
        return ModelFailed(self.provider, why, kind, usage=usage)

    def _words(self, call: Call, folder: Path) -> Sequence[str]:
        raise NotImplementedError

    def _read(self, rows: list[Row], otherwise: str) -> ModelAnswer:
        raise NotImplementedError


class ClaudeCodeModel(LoggedInModel):
    """Runs `claude -p`."""

    provider = "claude-code"

    def _words(self, call: Call, folder: Path) -> Sequence[str]:  # noqa: ARG002  Codex needs it
        asked = ("--system-prompt", call.system, "--json-schema", json.dumps(call.schema))
        return (*_CLAUDE.split(), "--tools", "", "--setting-sources", "", *self._model_words, *asked)

    def _read(self, rows: list[Row], otherwise: str) -> ModelAnswer:
        result = next((row for row in reversed(rows) if row.get("type") == "result"), None)
        if result is None:
            raise ModelFailed(self.provider, otherwise)
        models = result.get("modelUsage")  # `usage` covers only the last request
        usage = (
            sum((_usage(one, _CLAUDES) for one in models.values()), Usage()) if isinstance(models, dict) else Usage()
        )
        usage = replace(usage, input_tokens=usage.input_tokens + usage.cached_tokens + usage.written_tokens)
        if isinstance(usd := result.get("total_cost_usd"), int | float) and usd > 0:
            usage = replace(usage, usd=float(usd))
        found, words = result.get("structured_output"), str(result.get("result") or otherwise)
        failed, status = result.get("is_error"), result.get("api_error_status")
        if found is None:
            self.check_whole(result.get("stop_reason"), usage)
        if not failed:
            return ModelAnswer(words if found is None else json.dumps(found, ensure_ascii=False), usage)
        if "structured_output" in str(result.get("subtype")):
            raise ModelFailed(self.provider, "gave no answer in the requested format", usage=usage)
        if status is None and not usage.output_tokens and self.trouble() == self._not_logged_in:
            status = HTTPStatus.UNAUTHORIZED
        raise self._failure(words, as_count(status), usage)


class CodexModel(LoggedInModel):
    """Runs `codex exec`."""

    provider = "codex"

    def _words(self, call: Call, folder: Path) -> Sequence[str]:
        schema, system = folder / "schema.json", folder / "instructions.md"
        schema.write_text(json.dumps(call.schema), encoding="utf-8")
        system.write_text(call.system, encoding="utf-8")
        # A text that says `$pdf` would have Codex send its skill of that name, with orders to follow it.
        skills = ",".join(f'{{name="{name}",enabled=false}}' for name in sorted({*_SKILL.findall(call.user)}))
        options = (
            f"model_instructions_file={json.dumps(str(system))}",
            f"skills.config=[{skills}]",
            *(f"features.{one}=false" for one in _CODEX_OFF.split()),
        )
        settings = (word for one in options for word in ("-c", one))
        return (*_CODEX.split(), *settings, *self._model_words, "--output-schema", str(schema), "-")

    def _read(self, rows: list[Row], otherwise: str) -> ModelAnswer:
        usage, words, failed = Usage(), None, ""
        for row in rows:
            item, error = row.get("item"), row.get("error")
            if row.get("type") == "turn.completed":
                usage = _usage(row.get("usage"), _CODEXES)
            elif row.get("type") == "turn.failed":
                failed = str(error.get("message") if isinstance(error, dict) else error)
            elif isinstance(item, dict) and item.get("type") == "agent_message":
                words = item.get("text")
        if not failed and words is not None:
            return ModelAnswer(str(words), usage)
        named = _STATUS.search(failed)
        # For an invalid request it prints the service's own JSON, which may quote the request.
        status = int(named[1]) if named else HTTPStatus.BAD_REQUEST if _parsed(failed) else 0
        raise self._failure(failed or otherwise, status, usage)


def _parsed(line: str) -> Row | None:
    with suppress(ValueError, RecursionError):
        found = json.loads(line)
        return found if isinstance(found, dict) else None
    return None


def _shown(words: str) -> str:
    """Return the start of a program's message, made safe for reports."""
    return " ".join(without_secrets(words).split())[:_SHOWN].rstrip(".")


_CLAUDES = "inputTokens outputTokens cacheReadInputTokens cacheCreationInputTokens"
_CODEXES = "input_tokens output_tokens cached_input_tokens cache_write_input_tokens"


def _usage(counts: object, names: str) -> Usage:
    """Return the token usage in a program's reply, given its names for the four counts."""
    return Usage(*(as_count(counts.get(name)) for name in names.split())) if isinstance(counts, dict) else Usage()
