"""Sidecars: the description of an image, in a small JSON file beside it, `photo.png.meta.json` or `photo.meta.json`.

A person or a vision model may write one. An existing file is never replaced: delete it to have the image described
again.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from pipelines.store.files import create_file
from pipelines.store.layout import sidecar_names
from pipelines.store.user_layout import at
from pipelines.text import clean

if TYPE_CHECKING:
    from pathlib import Path


MAX_BYTES: Final = 1024 * 1024
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")
_SHORT: Final = 200


@dataclass(frozen=True, slots=True)
class Described:
    """The content of a sidecar.

    Args:
        description: what the image shows; not empty.
        title: its title, or empty.
        date: its day, `YYYY-MM-DD`, or empty.
        by: who described it: a model and its prompt (`anthropic:claude-haiku-5-5@describe/1`), or any text by a person.
    """

    description: str
    title: str = ""
    date: str = ""
    by: str = ""


class BadSidecar(ValueError):
    """Raised when a sidecar is not valid; the text is the predicate of a sentence about it."""


def parse_sidecar(data: bytes) -> Described:
    """Return the content of a sidecar, ignoring unknown fields.

    Raises:
        BadSidecar: it is not a JSON object with a description.
    """
    if len(data) > MAX_BYTES:
        raise BadSidecar(f"is larger than {MAX_BYTES >> 20} MB")
    try:
        raw = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise BadSidecar(f"is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise BadSidecar(f"is not JSON (line {error.lineno})") from None
    except (ValueError, RecursionError):
        raise BadSidecar("is not readable JSON") from None
    if not isinstance(raw, dict) or not (description := _text(raw.get("description"))):
        raise BadSidecar('has no text under "description"')
    date = _text(raw.get("date"))[:10]
    return Described(
        description,
        title=" ".join(_text(raw.get("title")).split())[:_SHORT],
        date=date if _DAY.fullmatch(date) else "",
        by=" ".join(_text(raw.get("by")).split())[:_SHORT],
    )


def write_sidecar(root: Path, image: str, described: Described) -> bool:
    """Write the sidecar of an image, and return whether it was written: an existing one stays.

    Call it under the run lock.

    Raises:
        BadFile: a folder above is a symbolic link.
        NotWritable: the disk refused; nothing was written.
    """
    first, second = sidecar_names(image)
    if at(root, second).is_symlink() or at(root, second).exists():
        return False
    fields = {key: value for key, value in asdict(described).items() if value}
    text = json.dumps(fields, ensure_ascii=False, indent=2)
    return create_file(root, first, f"{text}\n".encode())


def _text(value: object) -> str:
    return clean(value) if isinstance(value, str) else ""
