"""Describe: images that have no description are looked at by a model, and what it saw is written beside them."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from pipelines.errors import BadFile, DescribingFailed
from pipelines.models.describing import Picture
from pipelines.models.vision.kinds import longer_side, media_type
from pipelines.search.indexed_files import UNDESCRIBED, scan
from pipelines.store.files import read_bytes
from pipelines.store.secrets import load_redactor
from pipelines.store.sidecars import Described, write_sidecar
from pipelines.store.user_layout import at, real_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.models.describing import Describer, Limits

ALIKE: Final = 5
"""So many failures in a row for one reason are the provider's, and to ask on would only cost time."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What became of one image.

    Args:
        path: the image, relative to the memory.
        outcome: described; skipped, because it is not for this provider; or failed, because no usable answer came.
        told: the rest of a sentence that begins with the path.
        input_tokens: what the provider counted.
        output_tokens: likewise.
    """

    path: str
    outcome: Literal["described", "skipped", "failed"]
    told: str
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class DescribeReport:
    """What describing came to.

    Args:
        by: who described.
        looked: what became of each image, in order of paths.
        left: images that were not asked about, because the provider failed too often in a row.
    """

    by: str
    looked: tuple[Looked, ...] = ()
    left: int = 0

    @property
    def counts(self) -> Counter[str]:
        """How many images were described, skipped and failed."""
        return Counter(one.outcome for one in self.looked)

    def to_json(self) -> dict[str, Any]:
        """Return it as what `json` can write."""
        return asdict(self) | {
            "input_tokens": sum(one.input_tokens for one in self.looked),
            "output_tokens": sum(one.output_tokens for one in self.looked),
        }


def undescribed(root: Path) -> list[str]:
    """Return the images that have no description, in order of paths."""
    return [one.path for one in scan(root).skipped if one.reason == UNDESCRIBED]


def describe_images(root: Path, describer: Describer, say: Callable[[Looked], None]) -> DescribeReport:
    """Describe every image that has no description; one that fails stops no other. Call it under the run lock.

    Args:
        root: the memory.
        describer: who looks at them.
        say: is told of each image when it is done.

    Raises:
        NotWritable: the disk refused a description.
    """
    images = undescribed(root)
    looked: list[Looked] = []
    for path in images:
        if _hopeless(looked[-ALIKE:]):
            break
        looked.append(replace(_look(root, path, describer), path=real_path(root, path)))
        say(looked[-1])
    return DescribeReport(describer.name, tuple(looked), len(images) - len(looked))


def _hopeless(last: list[Looked]) -> bool:
    return len(last) == ALIKE and {(one.outcome, one.told) for one in last} == {("failed", last[0].told)}


def _look(root: Path, path: str, describer: Describer) -> Looked:
    picture = _picture(root, path, describer.limits)
    if isinstance(picture, str):
        return Looked(path, "skipped", picture)
    try:
        seen = describer.describe(picture)
    except DescribingFailed as fault:
        return Looked(path, "failed", f"has no description yet: {fault.provider} {fault.why}")
    try:
        told = [load_redactor(root).redact(text).text for text in (seen.description, seen.title)]
        written = write_sidecar(root, path, Described(told[0], title=told[1], by=seen.by))
    except BadFile as fault:
        return Looked(path, "skipped", f"cannot be given a description: {fault.sentence}")
    outcome = "is described" if written else "was described by somebody else meanwhile"
    return Looked(path, "described" if written else "skipped", outcome, seen.input_tokens, seen.output_tokens)


def _picture(root: Path, path: str, limits: Limits) -> Picture | str:
    """Return an image as it is sent, or the reason why it is not."""
    most = f"is larger than the {limits.most_bytes / (1 << 20):.1f} MB that the provider takes"
    try:
        if os.lstat(at(root, path)).st_size > limits.most_bytes:
            return most
        data = read_bytes(root, path)
    except BadFile as fault:
        return fault.why
    except OSError:
        data = None
    if not data:
        return "is gone" if data is None else "is empty"
    kind = media_type(data)
    if kind not in limits.media_types:
        return f"is of a kind that the provider does not take ({kind or 'unknown'})"
    if limits.most_pixels and (side := longer_side(data)) > limits.most_pixels:
        return f"has {side:,} pixels on a side, and the provider takes {limits.most_pixels:,}"
    return most if len(data) > limits.most_bytes else Picture(kind, data)
