"""What only the user's own settings can say: providers, prices, caps, the embedder; and what a memory says of it.

A memory may be somebody else's repository. So that none of its keys can stop a night, let alone run a command, name
an address, a model, a remote or a key, or raise trust, those that belong to the user's settings are set aside before
curate.toml is read; so is what would do such a thing if there were a setting of that name. They are named, and count
for nothing. Importing this brings in no pydantic.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from pipelines.errors import BadSettings, read_toml
from pipelines.usage import Usage

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from pydantic import BaseModel

    Prices = tuple["Price", ...]


Table = dict[str, object]
_MEANT: Final = (
    "command", "commands", "shell", "hook", "hooks", "editor", "pager", "endpoint", "endpoints", "address",
    "host", "proxy", "webhook", "models", "remotes", "origin", "upstream", "key", "keys", "token", "secret", "password",
    "credentials", "env", "environment", "trusted",
)  # fmt: skip
"""No settings have such keys: who writes one wants a program run, an address asked, a key used or words believed."""
_USERS: Final = (
    "anthropic", "api_key", "api_key_env", "base_url", "cached", "claude-code", "codex", "concurrency", "embedder",
    "exec", "folder", "gemini", "headless", "input", "input_tokens", "limits", "max_minutes", "max_tokens", "max_usd",
    "memories", "model", "openai", "output", "ping", "precision", "prices", "program", "provider", "providers",
    "push", "remote", "rules_from", "threads", "timeout_seconds", "tools", "tries", "trust", "url", "verify", "written",
)  # fmt: skip
"""Every key of the user's settings, in whatever table; a test holds it against them."""


def without_restricted(raw: Mapping[str, object], known: type[BaseModel]) -> tuple[Table, tuple[str, ...]]:
    """Return a table without the keys that belong to the user's settings, and those keys with their tables' names.

    Args:
        raw: the table.
        known: what the memory itself may set; its own keys are never restricted, whatever they are called.
    """
    own: Table = {}
    restricted: list[str] = []
    for key, value in raw.items():
        field = known.model_fields.get(key)
        table = field.annotation if field else None
        if field is None and restricted_keys([key]):
            restricted.append(key)
        elif isinstance(value, dict) and hasattr(table, "model_fields"):
            own[key], further = without_restricted(value, cast("type[BaseModel]", table))
            restricted += (f"{key}.{one}" for one in further)
        else:
            own[key] = value
    return own, tuple(restricted)


def restricted_keys(keys: Iterable[str], own: Container[str] = ()) -> tuple[str, ...]:
    """Return those keys of a table that belong to the user's settings, or that mean what only those can say.

    Args:
        keys: of a table; case, `-` and `_` make no difference.
        own: keys that the table itself has, which are never restricted.
    """
    users = {_folded(name) for name in (*_USERS, *_MEANT)}
    return tuple(key for key in keys if key not in own and _folded(key) in users)


def _folded(key: str) -> str:
    return key.casefold().replace("_", "").replace("-", "")


_USERINFO: Final = re.compile(r"(?<=://)[^/?#\s]*@")

PREFIX: Final = "exec:"
SECONDS: Final = 600.0
"""How long one run of a program may take, unless the user says otherwise."""
OWN_MODEL: Final = "default"
"""The name that stands for whatever model a program that is logged in chooses itself."""
DEFAULT_MODELS: Final = {
    "anthropic": "claude-haiku-5-5",
    "gemini": "gemini-3.8-flash",
    "claude-code": "haiku",
    "codex": OWN_MODEL,
}


@dataclass(frozen=True, slots=True)
class Login:
    """A program that a person is logged in to, and that can read in place of a key.

    Args:
        program: what it is called on the PATH.
        title: what people call it.
        vendor: who gets the text.
        status: the words by which it says, by its exit code, whether somebody is logged in.
        login: the command by which somebody logs in.
        added_tokens: the most that it sends besides what it was given: its tools and instructions.
    """

    program: str
    title: str
    vendor: str
    status: str
    login: str
    added_tokens: int


LOGINS: Final = {
    "claude-code": Login("claude", "Claude Code", "Anthropic", "auth status", "claude auth login", 1000),
    "codex": Login("codex", "Codex", "OpenAI", "login status", "codex login", 7000),
}


def added_tokens(model: str) -> int:
    """Return how many tokens a model's provider sends with each call besides what it is given."""
    login = LOGINS.get(model.partition(":")[0])
    return login.added_tokens if login else 0


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One provider, as the user set it.

    Args:
        model: the model's name, as the provider spells it.
        api_key: the key itself; it is in no `repr` and no message.
        base_url: where the provider's wire is spoken; empty for the provider's own address.
        max_tokens: the most a reply may hold, thinking included.
        timeout_seconds: how long one call may take.
        max_retries: how often a call is made again after a failure that may pass.
        input_tokens: the most log text in one call, at four bytes a token; longer days are cut.
        concurrency: how many calls at the same time.
        program: where the program is that is run, for who is logged in to one; empty to look for it on the PATH.
    """

    model: str
    api_key: str = field(default="", repr=False)
    base_url: str = ""
    max_tokens: int = 8192
    timeout_seconds: float = 120.0
    max_retries: int = 2
    input_tokens: int = 24_000
    concurrency: int = 4
    program: str = ""

    @property
    def address(self) -> str:
        """The `base_url` as it may be written down: without a user's name and password."""
        return _USERINFO.sub("", self.base_url)


def command_of(provider: str) -> list[str]:
    """Return the words of the command in `exec:COMMAND`; none where it is empty or a quote in it is not closed."""
    try:
        return shlex.split(provider.removeprefix(PREFIX))
    except ValueError:
        return []


_MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in USD per million tokens.

    Args:
        model: a pattern for the names of the models that it is for (`anthropic:claude-haiku-5-5*`).
        input: tokens sent.
        output: tokens received, thinking included.
        cached: tokens sent that came out of the provider's cache; the price of input where it is not told.
        written: tokens sent that were written into it; likewise.
        long_from: the tokens of input above which a call costs more; 0 for never.
        long_input: how many times as much its input costs then.
        long_output: and its output.
        date: the day on which it was looked up.
        source: where.
    """

    model: str
    input: float
    output: float
    cached: float | None = None
    written: float | None = None
    long_from: int = 0
    long_input: float = 1.0
    long_output: float = 1.0
    date: str = ""
    source: str = ""

    def cost(self, usage: Usage) -> float:
        """Return what one call of this usage costs, in USD; what the provider says of it comes before the table."""
        if usage.usd and self.date:
            return usage.usd
        is_long = 0 < self.long_from < usage.input_tokens
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
        sent = plain * self.input
        sent += usage.cached_tokens * (self.input if self.cached is None else self.cached)
        sent += usage.written_tokens * (self.input if self.written is None else self.written)
        received = usage.output_tokens * self.output
        return (sent * (self.long_input if is_long else 1) + received * (self.long_output if is_long else 1)) / _MILLION

    def worst(self, input_tokens: int, output_tokens: int) -> float:
        """Return the most that a call of so many tokens may cost: everything is written into the cache."""
        usages = (Usage(input_tokens, output_tokens), Usage(input_tokens, output_tokens, 0, input_tokens))
        return max(map(self.cost, usages))


def price_of(model: str, own: Prices = ()) -> Price | None:
    """Return the price of a model, by its name (`anthropic:claude-haiku-5-5`), or None where nobody knows it.

    Args:
        model: provider and model, as `Model.name` has it.
        own: the user's own prices; one of them that fits comes before the table's.
    """
    for prices in (own, price_table()):
        if fitting := [price for price in prices if fnmatchcase(model, price.model)]:
            return max(fitting, key=lambda price: len(price.model))
    return None


@cache
def price_table() -> Prices:
    """Return the prices that come with the package, `prices.toml`."""
    data: dict[str, list[dict[str, Any]]] = tomllib.loads(Path(__file__).with_name("prices.toml").read_text("utf-8"))
    return tuple(Price(**row) for row in data["price"])


Provider = Literal["voyage", "local", "openai", "none"]
Precision = Literal["int8", "fp32"]

VOYAGE_KEY: Final = "VOYAGE_API_KEY"
VOYAGE_MODEL: Final = "voyage-4-lite"


@dataclass(frozen=True, slots=True)
class EmbedderSettings:
    """The `[embedder]` table of the user's settings, with the key looked up.

    Args:
        provider: who embeds, or None to take Voyage where there is a key, else the local model where it is fetched.
        model: the model's name as the provider spells it; empty for Voyage's default.
        base_url: where the wire is spoken; empty for Voyage's own address.
        key_variable: the environment variable that holds the key; empty where no key is needed.
        api_key: the key itself, empty where the variable is not set; it is in no `repr` and no message.
        folder: a sentence-transformers folder to use as the local model; empty for the one that is fetched.
        precision: how the local model computes: `int8`, or `fp32`, which is exact and slower.
        threads: how many threads the local model uses; 0 for one for each processor.
        timeout_seconds: how long one call may take.
        max_retries: how often a call is made again after a failure that may pass.
    """

    provider: Provider | None = None
    model: str = ""
    base_url: str = ""
    key_variable: str = VOYAGE_KEY
    api_key: str = field(default="", repr=False)
    folder: str = ""
    precision: Precision = "int8"
    threads: int = 0
    timeout_seconds: float = 60.0
    max_retries: int = 2


def user_file(environ: Mapping[str, str]) -> Path | None:
    """Return the file of the user's settings, which may be missing; None where the environment names no place for it.

    Raises:
        BadSettings: CURATE_CONFIG names a file that is not there.
    """
    if named := environ.get("CURATE_CONFIG"):
        path = Path(named).expanduser()
        if not path.exists():
            raise BadSettings(path, ["CURATE_CONFIG names this file, and it does not exist"])
        return path
    config, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if Path(config).is_absolute():  # the XDG rules say that a relative one is to be ignored
        return Path(config, "memcurate", "config.toml")
    return Path(home, ".config", "memcurate", "config.toml") if home else None


def trust_settings(environ: Mapping[str, str]) -> tuple[bool, frozenset[str]]:
    """Return what the user's settings say of sessions, in their table `[trust]`.

    What else is wrong with the settings costs no session its capture; a file that cannot be read says nothing.

    Returns:
        Whether the prompts that a program sent are the owner's (`headless = "owner"`), and the names of `tools` that
        bring nothing from outside.
    """
    try:
        path = user_file(environ)
        trust = read_toml(path).get("trust") if path else None
    except BadSettings:
        trust = None
    told = trust if isinstance(trust, dict) else {}
    tools = told.get("tools")
    return told.get("headless") == "owner", frozenset(map(str, tools if isinstance(tools, list) else ()))
