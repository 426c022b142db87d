"""What has been curated: a set of entry hashes per log, so that no entry is read twice, however the log grows.

`State/progress.jsonl` holds one line a log, sorted: an open day with its entries' hashes, a closed day with one digest
of them. `file` is the hash of the log as it was read: while it matches, the log need not even be parsed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True)
class LogProgress:
    """How far one log is curated.

    Args:
        file: hash of the log's bytes when it was last read.
        digest: digest of its entries' hashes, once the day is closed; empty before.
        entries: the hashes of its curated entries, while the day is open.
        by_rules: the hashes of the entries that only the rules could read, though a model was to read them.
        night: the day of the run that marked them so, `YYYY-MM-DD`; empty for none.
    """

    file: str
    digest: str = ""
    entries: frozenset[str] = frozenset()
    by_rules: frozenset[str] = frozenset()
    night: str = ""


def file_hash(data: bytes) -> str:
    """Return sixteen hex digits of SHA-256 over a file's bytes."""
    return hashlib.sha256(data).hexdigest()[:16]


def entries_digest(keys: Iterable[str]) -> str:
    """Return the digest that stands for a set of entry hashes."""
    return hashlib.sha256("\n".join(sorted(set(keys))).encode()).hexdigest()[:16]


def read_progress(data: bytes | None) -> dict[str, tuple[LogProgress, ...]]:
    """Return log path → its records; more than one where two machines' records were merged.

    Lines that cannot be read are passed over: their logs are then read again, and review drops what is known.
    """
    found: dict[str, tuple[LogProgress, ...]] = {}
    for line in (data or b"").decode(errors="replace").split("\n"):
        try:
            raw = json.loads(line)
            if "\\u" in line and "\\ud" in line.lower():
                json.dumps(raw, ensure_ascii=False).encode()  # half a character could never be written again
            record = LogProgress(
                str(raw["file"]),
                str(raw.get("digest", "")),
                frozenset(map(str, raw.get("entries", []))),
                frozenset(map(str, raw.get("by_rules", []))),
                str(raw.get("night", "")),
            )
            found[str(raw["log"])] = (*found.get(str(raw["log"]), ()), record)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
    return found


def render_progress(progress: Mapping[str, tuple[LogProgress, ...]]) -> bytes:
    """Return the bytes of `State/progress.jsonl`; the inverse of `read_progress`."""
    rows, encode = [], json.JSONEncoder(ensure_ascii=False).encode
    for path in sorted(progress):
        for record in progress[path]:
            row: dict[str, object] = {"log": path, "file": record.file}
            row |= {"digest": record.digest} if record.digest else {"entries": sorted(record.entries)}
            row |= {"by_rules": sorted(record.by_rules), "night": record.night} if record.by_rules else {}
            rows.append(encode(row) + "\n")
    return "".join(rows).encode()
