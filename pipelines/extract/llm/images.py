"""Models with vision: they describe images without a description, so that search finds them by words."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipelines.errors import BadFile, DescribingFailed, ModelFailed, NoVision
from pipelines.extract.llm.call import BadReply, Picture, load_prompt, provider_of
from pipelines.extract.llm.fallback import RetryPolicy
from pipelines.extract.llm.reply_schema import last_object, single_line
from pipelines.search.indexed_files import UNDESCRIBED, scan
from pipelines.store.files import read_bytes
from pipelines.store.secrets import load_redactor
from pipelines.store.sidecars import Described, write_sidecar
from pipelines.store.user_layout import at, layout_of
from pipelines.usage import Tally

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pipelines.extract.llm.call import Model
    from pipelines.usage import Usage
    from pipelines.user_settings import UserSettings


LONGEST: Final = 2000
TITLE_LENGTH: Final = 120
_TOLERATED: Final = 4 * LONGEST
_SENTENCE_END: Final = re.compile(r"[.!?…](?=\s)|[\u3002\uff01\uff1f]")
HOPELESS_AFTER: Final = 5
"""After this many failures in a row for one reason, stop: the provider is at fault."""
_JPEG_SIZES: Final = frozenset({*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)})
_JPEG_BARE: Final = frozenset({0x01, *range(0xD0, 0xD9)})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a provider.

    Args:
        media_types: the image types it accepts.
        most_bytes: the largest file.
        most_pixels: the longest side; 0 for no limit.
    """

    media_types: frozenset[str]
    most_bytes: int
    most_pixels: int = 0


# 5 MB in base64, which turns three bytes into four; 8000 pixels a side.
CLAUDE: Final = Limits(
    frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"}), 5 * 1024 * 1024 * 3 // 4, most_pixels=8000
)
# 20 MB for the whole request, of which base64 adds a third and the instructions next to nothing.
GEMINI: Final = Limits(frozenset({"image/png", "image/jpeg", "image/webp"}), 14 * 1024 * 1024)


@dataclass(frozen=True, slots=True)
class Looked:
    """The result for one image.

    Args:
        path: the image, relative to the memory.
        outcome: described; skipped, because the provider cannot take it; or failed, because no usable answer came.
        told: the rest of a sentence that begins with the path.
        input_tokens: the tokens counted by the provider.
        output_tokens: the tokens counted by the provider.
    """

    path: str
    outcome: Literal["described", "skipped", "failed"]
    told: str
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class DescribeReport:
    """The result of describing images.

    Args:
        by: the model.
        looked: the result for each image, in order of paths.
        left: how many images were not tried, because the provider failed too often in a row.
    """

    by: str
    looked: tuple[Looked, ...] = ()
    left: int = 0

    @property
    def counts(self) -> Counter[str]:
        """How many images were described, skipped and failed."""
        return Counter(one.outcome for one in self.looked)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return asdict(self) | {
            "input_tokens": sum(one.input_tokens for one in self.looked),
            "output_tokens": sum(one.output_tokens for one in self.looked),
        }


class Describer(Protocol):
    """Describes images."""

    @property
    def name(self) -> str:
        """Its model and the version of its prompt."""

    @property
    def limits(self) -> Limits:
        """Its limits, which the caller must respect."""

    def describe(self, picture: Picture) -> tuple[Described, Usage]:
        """Return an image's description, and its cost.

        Raises:
            DescribingFailed: no usable answer came.
        """


def choose_describer(user: UserSettings) -> Describer:
    """Return the first of the user's providers with vision. No SDK is imported here.

    Raises:
        NoVision: there is none: no key is set, or the user's `providers` leave it out.
    """
    for provider in user.providers:
        if provider == "anthropic" and user.anthropic:
            from pipelines.extract.llm.anthropic import AnthropicModel  # noqa: PLC0415  only if it is used

            return SeeingModel(AnthropicModel(user.anthropic), CLAUDE)
        if provider == "gemini" and user.gemini:
            from pipelines.extract.llm.gemini import GeminiModel  # noqa: PLC0415  as above

            return SeeingModel(GeminiModel(user.gemini), GEMINI)
    raise NoVision


def describe_images(root: Path, describer: Describer, say: Callable[[Looked], None]) -> DescribeReport:
    """Describe every image without a description; a failure does not stop the others. Call it under the run lock.

    Args:
        root: the memory.
        describer: describes the images.
        say: receives each result as it is done.

    Raises:
        NotWritable: the disk refused a description.
    """
    images = [one.path for one in scan(root)[1] if one.reason == UNDESCRIBED]
    looked: list[Looked] = []
    for path in images:
        last = looked[-HOPELESS_AFTER:]
        if len(last) == HOPELESS_AFTER and {(one.outcome, one.told) for one in last} == {("failed", last[0].told)}:
            break
        looked.append(replace(_look(root, path, describer), path=layout_of(root).real(path)))
        say(looked[-1])
    return DescribeReport(describer.name, tuple(looked), len(images) - len(looked))


def _look(root: Path, path: str, describer: Describer) -> Looked:
    """Describe one image, and write the description beside it."""
    picture = _picture(root, path, describer.limits)
    if isinstance(picture, str):
        return Looked(path, "skipped", picture)
    try:
        seen, usage = describer.describe(picture)
    except DescribingFailed as fault:
        return Looked(path, "failed", f"has no description yet: {fault.provider} {fault.why}")
    try:
        redact = load_redactor(root).redact
        seen = replace(seen, description=redact(seen.description).text, title=redact(seen.title).text)
        written = write_sidecar(root, path, seen)
    except BadFile as fault:
        return Looked(path, "skipped", f"cannot be given a description: {fault.sentence}")
    words = "is described" if written else "was described by somebody else meanwhile"
    return Looked(path, "described" if written else "skipped", words, usage.input_tokens, usage.output_tokens)


def _picture(root: Path, path: str, limits: Limits) -> Picture | str:
    """Return an image to send, or the reason why not."""
    most = f"is larger than the provider's limit of {limits.most_bytes / (1 << 20):.1f} MB"
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
        return f"has a type that the provider does not accept ({kind or 'unknown'})"
    if limits.most_pixels and (side := longer_side(data)) > limits.most_pixels:
        return f"has {side:,} pixels on a side; the provider accepts {limits.most_pixels:,}"
    return most if len(data) > limits.most_bytes else Picture(kind, data)


# ---------------------------------------- the request about an image, and its reply


class SeeingModel:
    """A model with vision, as a describer of images.

    Args:
        model: the model.
        limits: its provider's limits.
    """

    def __init__(self, model: Model, limits: Limits) -> None:
        self._model, self.limits, self._prompt = model, limits, load_prompt("describe")
        self.name = f"{model.name}@{self._prompt.tag}"

    def describe(self, picture: Picture) -> tuple[Described, Usage]:
        """Return an image's description, and its cost.

        Raises:
            DescribingFailed: the call failed or its answer cannot be used.
        """
        tally = Tally()
        call = self._prompt.call({}, DescriptionReply.model_json_schema(), image=picture)
        try:
            title, description = read_description(RetryPolicy().ask(self._model, call, tally).text)
        except ModelFailed as fault:
            raise DescribingFailed(fault.provider, fault.why) from None
        except BadReply as fault:
            raise DescribingFailed(provider_of(self._model.name), str(fault)) from None
        return Described(description, title, by=self.name), tally.usage


class DescriptionReply(BaseModel):
    """The whole reply about one image."""

    model_config = ConfigDict(extra="forbid", strict=True)

    title: Annotated[str, Field(max_length=_TOLERATED, description="At most eight words.")]
    description: Annotated[str, Field(min_length=1, max_length=_TOLERATED, description="Two to six sentences.")]


def read_description(text: str) -> tuple[str, str]:
    """Return the title and description of a reply, each on one line; a long description is cut at a sentence.

    Raises:
        BadReply: the reply has no object of the schema.
    """
    try:
        reply = DescriptionReply.model_validate(last_object(text, "description"))
    except ValidationError:
        raise BadReply("answered outside the schema") from None
    description = single_line(reply.description)
    if not description:
        raise BadReply("gave an empty description")
    if len(description) > LONGEST:
        ends = [found.end() for found in _SENTENCE_END.finditer(description, 0, LONGEST)]
        whole = ends and ends[-1] > LONGEST // 2
        description = description[: ends[-1]] if whole else f"{description[: LONGEST - 1]}…"
    return single_line(reply.title)[:TITLE_LENGTH].strip(), description


# ---------------------------------------- an image's type by its first bytes, since a provider rejects a wrong one


def media_type(data: bytes) -> str:
    """Return `image/png`, `image/jpeg`, `image/gif` or `image/webp`, or an empty string for anything else."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if data.startswith(b"RIFF") and data[8:12] == b"WEBP" else ""


def longer_side(data: bytes) -> int:
    """Return the longer side in pixels, as stated in the file; 0 if unknown."""
    kind, number = media_type(data), int.from_bytes
    if kind == "image/png":
        return max(number(data[16:20]), number(data[20:24]))
    if kind == "image/gif":
        return max(number(data[6:8], "little"), number(data[8:10], "little"))
    if kind == "image/webp" and data[12:16] == b"VP8X":
        return 1 + max(number(data[24:27], "little"), number(data[27:30], "little"))
    at = 2 if kind == "image/jpeg" else len(data)  # follow the segments to the one with the size
    while at + 9 <= len(data) and data[at] == 0xFF:  # noqa: PLR2004  the start of every segment
        marker = data[at + 1]
        if marker in _JPEG_SIZES:
            return max(number(data[at + 5 : at + 7]), number(data[at + 7 : at + 9]))
        at += 1 if marker == 0xFF else 2 if marker in _JPEG_BARE else 2 + number(data[at + 2 : at + 4])  # noqa: PLR2004
    return 0
