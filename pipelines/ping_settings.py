"""The table `[ping]` of the user's settings. Importing this brings in pydantic."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, field_validator


class PingTable(BaseModel):
    """Where a monitor waits to hear of each run."""

    model_config = ConfigDict(extra="forbid", strict=True)

    url: str = ""

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        if value and not re.fullmatch(r"https?://[^\s/?#]++[!-~]*", value):
            raise ValueError("it should be an address that begins with https:// or http://")
        return value
