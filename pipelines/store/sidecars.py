"""Sidecars: the description of an image, in a small JSON file beside it, `photo.png.meta.json` or `photo.meta.json`.

A person may write one, or a model that can see. A file that is there is never replaced: whoever wants an image
described anew deletes its sidecar.
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
    """What a sidecar says of its image.

    Args:
        description: what the image shows; not empty.
        title: what it is called, or empty.
        date: its day, `YYYY-MM-DD`, or empty.
        by: who described it: a model and its prompt (`anthropic:claude-haiku-5-5@describe/1`), or what a person wrote.
    """

    description: str
    title: str = ""
    date: str = ""
    by: str = ""


class BadSidecar(ValueError):
    """Raised when a sidecar describes nothing; its text ends a sentence that begins with the sidecar's name."""


def parse_sidecar(data: bytes) -> Described:
    """Return what a sidecar says. Other fields than those of `Described` are passed over; they are somebody's.

    Raises:
        BadSidecar: it is no JSON object with a description.
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
        raise BadSidecar("is no JSON that can be read") from None
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
    """Write the sidecar of an image whole, and return whether it was written: where one stands, that one stays.

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
