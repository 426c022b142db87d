"""What goes to who describes images and what comes back: the one interface that every provider that can see fills."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as it is sent: its bytes, and what they are by their own beginning, as `image/png`."""

    media_type: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a provider takes.

    Args:
        media_types: the kinds of images.
        most_bytes: the size of the file.
        most_pixels: the longer side, where the provider has such a limit; 0 where it has none.
    """

    media_types: frozenset[str]
    most_bytes: int
    most_pixels: int = 0


@dataclass(frozen=True, slots=True)
class Description:
    """What a model saw.

    Args:
        description: one paragraph, at most `pipelines.models.vision.reply.LONGEST` characters; not empty.
        title: what the image is called; may be empty.
        by: who described it, as the sidecar records it (`anthropic:claude-haiku-5-5@describe/1`).
        input_tokens: what the provider counted.
        output_tokens: likewise.
    """

    description: str
    title: str
    by: str
    input_tokens: int = 0
    output_tokens: int = 0


class Describer(Protocol):
    """Who looks at an image and says what it shows."""

    @property
    def name(self) -> str:
        """Who it is, with its model and the version of its prompt."""

    @property
    def limits(self) -> Limits:
        """What it takes; whoever calls keeps to it."""

    def describe(self, picture: Picture) -> Description:
        """Return what an image shows.

        Raises:
            DescribingFailed: no usable answer came.
        """
