"""What is wrong in a settings file, said so that a person can mend it: one line a fault, with its key and value.

Every settings file is read through here, so that all faults of a file are named at once and no secret is ever shown.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pydantic import ValidationError

SHOWN_LENGTH: Final = 80
MAX_BYTES: Final = 1024 * 1024
HIDDEN: Final = "(not shown)"

_SECRET_KEY = re.compile(
    r"(?:^|[_.\-])(?:api_?key|key|token|secret|passw(?:or)?d|passphrase|credentials?|bearer|auth(?:orization)?)s?$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"\b(?:sk-|sk_|pk_|AIza|gh[pousr]_|xox[abp]-|al-|pa-)[\w-]{6,}|\b(?=\w*\d)(?=\w*[A-Za-z])\w{24,}"
)
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NOT_SECRET: Final = frozenset({"max_tokens"})


def read_toml(path: Path) -> dict[str, object]:
    """Return the tables of a TOML file; of one that does not exist, none.

    Raises:
        BadSettings: the file cannot be read, is too large, is not UTF-8, or is not TOML; the sentence says where.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise BadSettings(path, [f"it has more than the {MAX_BYTES:,} bytes that settings may have"])
        return tomllib.loads(data.decode("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except OSError as fault:
        raise BadSettings(path, [f"it cannot be read: {fault.strerror}"]) from fault
    except UnicodeDecodeError as fault:
        raise BadSettings(path, [f"it is not UTF-8 text (byte {fault.start})"]) from None
    except tomllib.TOMLDecodeError as fault:
        raise BadSettings(path, [f"it is not TOML: {fault}"]) from None
    except RecursionError:
        raise BadSettings(path, ["its brackets are nested too deep"]) from None
    except ValueError:  # what Python refuses as a number or a date although its form is TOML's
        raise BadSettings(path, ["it holds a number or a date that cannot be read"]) from None


def faults_of(error: ValidationError, raw: Mapping[str, object]) -> list[str]:
    """Return each fault as `key = value: what is wrong`, in the order in which pydantic found them.

    Args:
        error: what the validation of `raw` raised.
        raw: what was read from the file, to show values as the person wrote them.

    Returns:
        One line a fault. The value of a key that looks like a secret, and a value that does, is never in it.
    """
    lines = []
    for found in error.errors(include_url=False):
        location = found["loc"]
        if found["type"] == "missing":
            lines.append(f"{_key(location)}: this key is missing")
        else:
            value = _value_at(raw, location, found["input"])
            key = _key(location)
            lines.append(fault_line(key, value, _sentence(found["type"], found["msg"], key)))
    return list(dict.fromkeys(lines))


def fault_line(key: str, value: object, what: str) -> str:
    """Return `key = value: what`, with the value as TOML shows it, shortened, and hidden where it may be a secret."""
    return f"{_one_line(key)} = {shown(key, value)}: {_one_line(what)}" if key else _one_line(what)


def shown(key: str, value: object) -> str:
    """Return a value as TOML shows it, shortened; `(not shown)` where the key or the value looks like a secret."""
    if key == "ping.url":
        return HIDDEN  # who knows it can ping in the user's name
    if any(_SECRET_KEY.search(part) for part in re.split(r"[.\[\]]", key) if part not in _NOT_SECRET):
        return HIDDEN
    if key.endswith("_env") and not _VARIABLE_NAME.fullmatch(str(value)):
        return HIDDEN  # where the name of a variable belongs, people paste the key itself
    if isinstance(value, dict):
        return "{…}"
    text = json.dumps(value, ensure_ascii=False, default=str)
    if _SECRET_VALUE.search(text):
        return HIDDEN
    text = _USER_INFO.sub("…@", text)
    return text if len(text) <= SHOWN_LENGTH else text[: SHOWN_LENGTH - 1] + "…"


def _key(location: Sequence[int | str]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


def _value_at(raw: Mapping[str, object], location: Sequence[int | str], otherwise: object) -> object:
    value: object = raw
    for part in location:
        try:
            value = value[part]  # type: ignore[index]  # what is no table or list refuses, and that is the answer
        except (TypeError, LookupError):
            return otherwise
    return value


_TABLES: Final = frozenset({"model_type", "model_attributes_type", "dict_type"})


def _sentence(kind: str, message: str, key: str) -> str:
    if kind == "extra_forbidden":
        return "there is no such key"
    if kind in _TABLES:
        return f"it should be one table, [{key}]"
    message = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return re.sub(r"^Input should", "it should", message)


def _one_line(text: str) -> str:
    return " ".join(text.split())
