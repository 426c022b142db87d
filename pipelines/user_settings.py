"""The user's own settings: which models may read the logs, with which keys. They live outside the memory.

A memory may be somebody else's repository, so nothing in it may name a provider, an address or a key. The file is
`$XDG_CONFIG_HOME/memcurate/config.toml`, or the one named by `CURATE_CONFIG`; without it, the keys in the environment
decide. This module imports pydantic: import it only where the settings are needed.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pipelines.errors import BadSettings, UsageFault, faults_of, read_toml
from pipelines.provider_settings import (
    DEFAULT_MODELS,
    LOGINS,
    PREFIX,
    VOYAGE_KEY,
    Embedder,
    EmbedderSettings,
    ProviderSettings,
    command_of,
    user_file,
)
from pipelines.usage import price_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


KEY_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai": ("OPENAI_API_KEY",),
}
PROVIDERS = (*KEY_VARIABLES, *LOGINS, "rules")
_SECONDS, _OWN_SECONDS = 120.0, 600.0  # a model on a small machine takes minutes
_NO_KEY = "none"  # for local servers without keys, since some libraries insist on one


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class CostCaps(_Table):
    """`[limits]`: the caps of a night; None for no cap."""

    max_usd: Annotated[float, Field(ge=0, le=100_000, allow_inf_nan=False)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=10**12)] | None = None


class PushTable(_Table):
    """`[push]`: `remote` for every memory, `[push.memories]` per folder of a memory; an empty remote means none."""

    remote: str = ""
    memories: dict[str, str] = Field(default_factory=dict)

    def remote_of(self, root: Path) -> str:
        """Return the remote of the memory at `root`, or an empty string."""
        own = {Path(folder).expanduser().resolve(): remote for folder, remote in self.memories.items()}
        return own.get(root.resolve(), self.remote)


def _matching(pattern: str, should: str) -> AfterValidator:
    """Return a validator for values that are empty or match a pattern; `should` describes them."""

    def check(value: str) -> str:
        if value and not re.fullmatch(pattern, value):
            raise ValueError(f"it should be {should}")
        return value

    return AfterValidator(check)


Address = Annotated[str, _matching(r"https?://[^\s/?#]++[!-~]*", "an address: https:// or http://, and a host")]


class PingTable(_Table):
    """The address of a monitor that is pinged on each run."""

    url: Address = ""


class _Endpoint(_Table):
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    base_url: Address = ""
    api_key_env: Annotated[
        str, _matching("[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, not the key itself")
    ] = ""
    api_key: object = None

    @field_validator("api_key")
    @classmethod
    def _is_elsewhere(cls, _: object) -> object:
        raise ValueError(
            "a key does not belong in this file; put it in an environment variable and name that in api_key_env"
        )


MaxTokens = Annotated[int, Field(ge=256, le=128_000)]


class _Provider(_Endpoint):
    max_tokens: MaxTokens = 8192


class _LoggedIn(_Table):
    """`[claude-code]` and `[codex]`: the program's model, its path, and its longest answer."""

    model: Annotated[str, _matching(r"[^-\s].{0,199}", "the name of a model")] | None = None
    program: Annotated[str, _matching("/.+", "the program's absolute path")] = ""
    max_tokens: MaxTokens = 8192


class ProgramTable(_Table):
    """`[exec]`: the timeout of each call of a program."""

    timeout_seconds: Annotated[float, Field(ge=1, le=86_400)] = _OWN_SECONDS


def _named(provider: str) -> str:
    if provider in PROVIDERS or (provider.startswith(PREFIX) and command_of(provider)):
        return provider
    if provider.startswith(PREFIX):
        raise ValueError("it should have a command after exec:, written as for a shell")
    raise ValueError(f"it is none of {', '.join(PROVIDERS)}, or exec: and a command")


Named = Annotated[str, AfterValidator(_named)]


def _models(providers: list[str]) -> list[str]:
    """Return the models, or the rules: beside models they do nothing, since a day that none can read waits."""
    return [one for one in providers if one != "rules"] or providers[:1]


def _verifying(provider: str) -> str:
    if provider == "rules":
        raise ValueError(
            f"rules cannot verify; it should be one of {', '.join(PROVIDERS[:-1])}, or exec: and a command"
        )
    return provider


class VerifyTable(_Table):
    """`[verify]`: the providers that verify, in order; None for those that read."""

    providers: Annotated[list[Annotated[Named, AfterValidator(_verifying)]], Field(min_length=1)] | None = None


class _Embedder(_Endpoint):
    provider: Embedder | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.provider == "openai" and not (self.base_url and self.model):
            raise ValueError("the provider openai needs base_url and model")
        if self.provider not in {"voyage", "openai"} and (self.base_url or self.model or self.api_key_env):
            raise ValueError('model, base_url and api_key_env need provider = "voyage" or "openai" beside them')
        return self


class TrustTable(_Table):
    """`[trust]`: whose word prompts sent by a program are, and the tools that bring in nothing from outside.

    `trust_settings` reads it.
    """

    headless: Literal["self", "owner"] = "self"
    tools: list[str] = Field(default_factory=list)


class UserFile(_Table):
    """The contents of the file."""

    providers: Annotated[list[Named], Field(min_length=1), AfterValidator(_models)] | None = None
    verify: VerifyTable = VerifyTable()
    anthropic: _Provider = _Provider()
    gemini: _Provider = _Provider()
    openai: _Provider = _Provider()
    claude_code: Annotated[_LoggedIn, Field(alias="claude-code")] = _LoggedIn()
    codex: _LoggedIn = _LoggedIn()
    exec: ProgramTable = ProgramTable()
    limits: CostCaps = CostCaps()
    embedder: _Embedder = _Embedder()
    ping: PingTable = PingTable()
    rules_from: Literal["self", "owner"] = "self"
    push: PushTable = PushTable()
    trust: TrustTable = TrustTable()


_GONE = (
    "prices", "limits.max_minutes", "embedder.folder", "push.timeout_seconds", "push.tries", "exec.input_tokens",
    *(f"{name}.{key}" for name in (*KEY_VARIABLES, *LOGINS) for key in ("input_tokens", "timeout_seconds")),
)  # fmt: skip
"""Keys of earlier versions."""


@dataclass(frozen=True)
class UserSettings:
    """The user's settings, complete.

    Args:
        providers: the extractors in order, never empty: names, `rules`, or `exec:COMMAND`.
        models: the settings of each provider that lacks nothing, and of the programs that a person is logged in to.
        file: what else their file says; the address of a monitor in it is as secret as a key.
        embedder: the settings of the embedder.
        verify: the verifiers in order; empty for the extractors.
        chosen: whether a person named the extractors.
        keys: the providers with a key, if that decides.
        ignored: a sentence that names the keys that this version no longer knows, or none.
    """

    providers: tuple[str, ...] = ("rules",)
    models: Mapping[str, ProviderSettings] = field(default_factory=dict)
    file: UserFile = field(default_factory=UserFile, repr=False)
    embedder: EmbedderSettings = field(default_factory=EmbedderSettings)
    verify: tuple[str, ...] = ()
    chosen: bool = False
    keys: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()


def load_user_settings(provider: str = "") -> UserSettings:
    """Return the user's settings from their file and from the keys in the environment; both may be missing.

    Without `providers`, the first with a key is chosen: Claude, Gemini, and else the rules, which need none. An
    OpenAI-compatible address is used only if it is named.

    Args:
        provider: a provider from the command line, which replaces all of the file's; empty for none.

    Raises:
        BadSettings: the file cannot be read, has faults (the message lists all), or names a provider without its key.
        UsageFault: `provider` is not a provider, or lacks its key.
    """
    path = user_file()
    raw = read_toml(path) if path else {}
    gone = ", ".join(_taken_out(raw))
    try:
        file = UserFile.model_validate(raw)
    except ValidationError as error:
        raise BadSettings(path or Path(), faults_of(error)) from None
    tables = {name: getattr(file, name.replace("-", "_")) for name in (*KEY_VARIABLES, *LOGINS)}
    found = {name: _provider(name, table) for name, table in tables.items()}
    lacks = {name: one for name, one in found.items() if isinstance(one, str)}
    models = {name: one for name, one in found.items() if not isinstance(one, str)}
    named = {} if provider else {"providers": file.providers, "verify.providers": file.verify.providers}
    faults = [
        f"{key}[{at}]: {lacks[name]}"
        for key, names in named.items()
        for at, name in enumerate(names or ())
        if name in lacks
    ]
    if faults and path:
        raise BadSettings(path, faults)
    with_key = [name for name in ("anthropic", "gemini") if name in models and models[name].api_key != _NO_KEY]
    table = file.embedder
    variable = table.api_key_env or ("" if table.provider in {"openai", "local", "none"} else VOYAGE_KEY)
    user = UserSettings(
        (_from_command_line(provider, lacks),) if provider else tuple(file.providers or [*with_key, "rules"][:1]),
        models,
        file,
        # A missing key is no error here: search by words still works, and status warns.
        EmbedderSettings(
            model=table.model or "",
            key_variable=variable,
            api_key=os.environ.get(variable, "").strip() if variable else "",
            **table.model_dump(exclude={"model", "api_key", "api_key_env"}),
        ),
        verify=() if provider else tuple(file.verify.providers or ()),
        chosen=bool(provider or file.providers),
        keys=tuple(with_key),
        ignored=(f"{path} sets {gone}, which this version no longer knows; that is ignored.",) * bool(gone),
    )
    asked = dict.fromkeys(name for name in (*user.providers, *user.verify) if name in models)
    used = (f"{name}:{models[name].model}" for name in asked)
    why = "is not known, so limits.max_usd cannot hold; set limits.max_tokens in its place"
    if file.limits.max_usd is not None and (
        unpriced := [f"the price of {model} {why}" for model in used if not price_of(model)]
    ):
        raise BadSettings(path or Path(), unpriced)
    return user


def _taken_out(raw: dict[str, Any]) -> Iterator[str]:
    """Take keys of earlier versions out of the file's contents, and yield each."""
    for name in _GONE:
        above, _, key = name.rpartition(".")
        table = raw.get(above) if above else raw
        if isinstance(table, dict) and table.pop(key, None) is not None:
            yield f"`{name}`"


def _from_command_line(provider: str, lacks: Mapping[str, str]) -> str:
    lack = lacks.get(provider)
    try:
        _named(provider)
    except ValueError as fault:
        lack = str(fault)
    if lack:
        raise UsageFault(f"The provider {provider} cannot be used: {lack}.", "docs/models.md shows how to set it.")
    return provider


def _provider(name: str, table: _Provider | _LoggedIn) -> ProviderSettings | str:
    """Return a provider's settings, or what it lacks. The user's own address may need no key; a login needs none."""
    if isinstance(table, _LoggedIn):
        return ProviderSettings(**table.model_dump() | {"model": table.model or DEFAULT_MODELS[name]})
    variables = (table.api_key_env,) if table.api_key_env else KEY_VARIABLES[name]
    if name == "openai" and table.base_url and not table.api_key_env:
        variables = ()  # OpenAI's own key is never sent to another address unasked
    key = next(filter(None, (os.environ.get(variable, "").strip() for variable in variables)), "")
    if name == "openai" and not table.model:
        return "its model is missing; set model in the table openai of your settings"
    if not key and (not table.base_url or table.api_key_env or name == "gemini"):
        return f"its key is missing; put it in the environment variable {' or '.join(variables)}"
    return ProviderSettings(
        model=table.model or DEFAULT_MODELS[name],
        api_key=key or ("" if name == "openai" else _NO_KEY),
        timeout_seconds=_OWN_SECONDS if table.base_url else _SECONDS,
        **table.model_dump(exclude={"model", "api_key", "api_key_env"}),
    )
