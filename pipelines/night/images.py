"""Images: a model that can see describes those that nobody has, and the description stands beside each.

A description is written once and never again, so whatever a person makes of it stays. Its trust is `external`: an image
may show anybody's words.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from pipelines.errors import BadFile, ModelFailed
from pipelines.extract.llm.call import BadReply, Image, load_prompt
from pipelines.extract.llm.reply_json import last_object, single_line
from pipelines.store.change_set import Change
from pipelines.store.files import read_bytes
from pipelines.store.layout import DESCRIPTIONS, PARA, is_image
from pipelines.store.secrets.redact import without_secrets
from pipelines.store.template import own_files
from pipelines.usage import FailureKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pipelines.extract.llm.fallback import Chain
    from pipelines.night.report import RunReport
    from pipelines.store.git import Git


MOST_IMAGES: Final = 20
"""The limit of images that one night describes; the others wait for the next."""
MOST_BYTES: Final = 3_500_000
"""The size of an image that every provider takes."""
_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
_SCHEMA = {
    "type": "object",
    "properties": {"description": {"type": "string"}},
    "required": ["description"],
    "additionalProperties": False,
}


def describe_images(root: Path, git: Git, chain: Chain, report: RunReport) -> list[Change]:
    """Return the files that describe the images without one in the documents' folders; it never raises for a model.

    A model that cannot see after all describes nothing, and that is no failure.

    Args:
        root: the memory.
        git: its repository; what it ignores is left alone.
        chain: the models, with the night's budget.
        report: the night's report, which is told of the costs, and why images are left.
    """
    changes, prompt = list[Change](), load_prompt("describe")
    images = islice(_undescribed(root, git) if chain.sees else (), MOST_IMAGES)
    for path, image in images:
        name = path.rpartition("/")[2]
        call = replace(prompt.call({"name": name}, _SCHEMA), image=image)
        tally = chain.new_tally()
        try:
            text, _ = chain.ask(call, _read, tally)
        except ModelFailed as fault:
            if fault.kind is FailureKind.BAD_REQUEST:
                break
            report.tally.add(tally)
            if fault.kind is not FailureKind.UNUSABLE:
                report.warnings.append(f"Images are left without a description. {fault.sentence}")
                break
            continue
        report.tally.add(tally)
        said = f"---\ntrust: external\n---\n{name}: {text}\n"  # so that no text begins as an item
        changes.append(Change(path + DESCRIPTIONS[0], None, said.encode()))
    report.brief |= {"images": len(changes)} if changes else {}
    return changes


def _undescribed(root: Path, git: Git) -> Iterator[tuple[str, Image]]:
    """Yield images that a provider takes; what they are, their first bytes say."""
    there = set(own_files(root, PARA))
    bare = {path for path in there if is_image(path) and not {path + one for one in DESCRIPTIONS} & there}
    for path in sorted(bare - git.ignored([*bare])) if bare else ():
        with contextlib.suppress(BadFile):
            data = read_bytes(root, path, MOST_BYTES) or b""
            yield from ((path, Image(f"image/{kind}", data)) for mark, kind in _KINDS.items() if data.startswith(mark))


def _read(text: str) -> str:
    """Return the description in a reply, on one line.

    Raises:
        BadReply: there is none.
    """
    said = last_object(text, "description").get("description")
    if not isinstance(said, str) or not (line := without_secrets(single_line(said))):
        raise BadReply("described nothing")
    return line
