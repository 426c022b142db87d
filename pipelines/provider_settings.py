"""Settings that only the user's own file may have: providers and the embedder.

This module does not import pydantic.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from pipelines.errors import BadSettings, CurateError, read_toml

Table = dict[str, object]
_USERINFO = re.compile(r"(?<=://)[^/?#\s]*@")

PREFIX = "exec:"
OWN_MODEL = "default"
"""The name for the model that a logged-in program chooses itself."""
DEFAULT_MODELS = {
    "anthropic": "claude-haiku-5-5",
    "gemini": "gemini-3.8-flash",
    "claude-code": "haiku",
    "codex": OWN_MODEL,
}


class Login(NamedTuple):
    """A program that a person is logged in to, and that can read the logs without a key.

    Args:
        program: its name on the PATH.
        title: its name for people.
        vendor: who receives the text.
        status: the arguments whose exit code tells whether somebody is logged in.
        login: the command to log in.
        added_tokens: the most tokens that it sends on top of its input: tools and instructions.
    """

    program: str
    title: str
    vendor: str
    status: str
    login: str
    added_tokens: int


LOGINS = {
    "claude-code": Login("claude", "Claude Code", "Anthropic", "auth status", "claude auth login", 1000),
    "codex": Login("codex", "Codex", "OpenAI", "login status", "codex login", 4000),
}


def added_tokens(model: str) -> int:
    """Return how many tokens a model's provider adds to each call."""
    login = LOGINS.get(model.partition(":")[0])
    return login.added_tokens if login else 0


@dataclass(frozen=True)
class ProviderSettings:
    """One provider, as the user set it.

    Args:
        model: the model's name, as the provider spells it.
        api_key: the key itself; it is in no `repr` and no message.
        base_url: the address of the API; empty for the provider's own.
        max_tokens: the most a reply may hold, thinking included.
        timeout_seconds: the timeout of one call.
        program: the path of the program to run, for logins; empty to search the PATH.
    """

    model: str
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    max_tokens: int = 8192
    timeout_seconds: float = 600.0
    program: str = ""

    @property
    def address(self) -> str:
        """The `base_url` without user name and password, safe to show."""
        return _USERINFO.sub("", self.base_url)


def command_of(provider: str) -> list[str]:
    """Return the words of the command in `exec:COMMAND`; none if it is empty or has an open quote."""
    try:
        return shlex.split(provider.removeprefix(PREFIX))
    except ValueError:
        return []


Embedder = Literal["voyage", "local", "openai", "none"]

VOYAGE_KEY = "VOYAGE_API_KEY"
VOYAGE_MODEL = "voyage-4-lite"


@dataclass(frozen=True)
class EmbedderSettings:
    """The `[embedder]` table of the user's settings, with the key looked up.

    Args:
        provider: the embedder; None for Voyage if there is a key, else the local model if it is installed.
        model: the model's name, as the provider spells it; empty for Voyage's default.
        base_url: the address of the API; empty for Voyage's own.
        key_variable: the environment variable with the key; empty if no key is needed.
        api_key: the key itself, empty if the variable is not set; it is in no `repr` and no message.
        timeout_seconds: the timeout of one call.
        max_retries: how often to retry a call after a temporary failure.
    """

    provider: Embedder | None = None
    model: str = ""
    base_url: str = ""
    key_variable: str = VOYAGE_KEY
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 60.0
    max_retries: int = 2


def config_folder(variable: str = "XDG_CONFIG_HOME", usual: str = ".config") -> Path | None:
    """Return the folder of the user's settings and keys; None if the environment gives no place for it.

    Args:
        variable: what names the folder in which it is.
        usual: where that is in the home, unless named.
    """
    named, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if Path(named).is_absolute():  # the XDG rules say to ignore a relative one
        return Path(named, "memcurate")
    return Path(home, usual, "memcurate") if home else None


def models_folder() -> Path:
    """Return the folder of all models: `$XDG_CACHE_HOME/memcurate/models`, else the same below `~/.cache`.

    Raises:
        CurateError: neither XDG_CACHE_HOME nor HOME is set.
    """
    if folder := config_folder("XDG_CACHE_HOME", ".cache"):
        return folder / "models"
    raise CurateError("There is nowhere to store models.", "Set HOME or XDG_CACHE_HOME.")


def user_file() -> Path | None:
    """Return the path of the user's settings, which may not exist; None if the environment gives no place for it.

    Raises:
        BadSettings: CURATE_CONFIG names a missing file.
    """
    if named := os.environ.get("CURATE_CONFIG"):
        path = Path(named).expanduser()
        if not path.exists():
            raise BadSettings(path, ["CURATE_CONFIG names this file, and it does not exist"])
        return path
    folder = config_folder()
    return folder / "config.toml" if folder else None


def user_table(name: str) -> Table:
    """Return a table of the user's settings; faults never stop what only needs one, and an unreadable file has none."""
    try:
        path = user_file()
        table = read_toml(path).get(name) if path else None
    except BadSettings:
        table = None
    return table if isinstance(table, dict) else {}


def trust_settings() -> tuple[bool, frozenset[str]]:
    """Return the user's settings for sessions, from their table `[trust]`.

    Returns:
        Whether prompts sent by a program are the owner's (`headless = "owner"`), and the names of `tools` that bring in
        nothing from outside.
    """
    table = user_table("trust")
    tools = table.get("tools")
    return table.get("headless") == "owner", frozenset(map(str, tools if isinstance(tools, list) else ()))
