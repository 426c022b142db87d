"""The part of the user's settings that says by which remote a memory is shared. No memory can say so itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _no_program(remote: str) -> str:
    if "::" in remote or remote.startswith("-") or any(c.isspace() for c in remote):
        raise ValueError("it should be the name of a remote, or an address such as git@host:me/memory.git")
    return remote


RemoteName = Annotated[str, AfterValidator(_no_program)]


class PushTable(BaseModel):
    """`[push]`: `remote` for every memory, `[push.memories]` for one, by its folder; an empty remote is none."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    remote: RemoteName = ""
    memories: dict[str, RemoteName] = Field(default_factory=dict)
    timeout_seconds: Annotated[float, Field(ge=1, le=3600)] = 60.0
    tries: Annotated[int, Field(ge=1, le=10)] = 3

    def remote_of(self, root: Path) -> str:
        """Return the remote of the memory at `root`, or an empty string."""
        own = {Path(folder).expanduser().resolve(): remote for folder, remote in self.memories.items()}
        return own.get(root.resolve(), self.remote)
