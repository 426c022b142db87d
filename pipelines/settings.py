"""The memory's own settings, `curate.toml`: what is safe to share.

What could spend money, name an endpoint or run a command lives in the user's own settings, outside the memory.
"""

from __future__ import annotations

import re
from pathlib import Path  # noqa: TC003  read at run time by pydantic's namespace
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError

from pipelines.errors import BadFile, BadSettings, faults_of, read_toml
from pipelines.provider_settings import restricted_keys, restricted_note, without_restricted
from pipelines.store.folders import LINKED
from pipelines.store.item import CONFIDENCE, FLOOR, HALF_LIFE_DAYS, TRUST, TYPE, Confidence, ItemType, Trust, Weights
from pipelines.store.layout import SETTINGS


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise ValueError("no such time zone; write an IANA name such as Europe/Zurich") from None
    return name


def _clock(text: str) -> str:
    if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text, re.ASCII):
        raise ValueError("no time of day; write it like 04:00")
    return text


def _nights(told: str | list[str]) -> str | list[str]:
    if isinstance(told, list):
        if not told:
            raise ValueError("a list without a time; write it like ['02:00', '14:00']")
        return [_clock(one) for one in told]
    if " " not in told:
        return _clock(told)
    from apscheduler.triggers.cron import CronTrigger  # noqa: PLC0415  only a cron line needs it

    try:
        CronTrigger.from_crontab(told)
    except ValueError:
        raise ValueError("no line of cron's; write it like '0 2,14 * * *'") from None
    if re.search(r"\d", told.split()[4]):  # to cron 1 is Monday, to APScheduler Tuesday
        raise ValueError("programs number the days of the week differently; write them like mon-fri")
    return told


def _person(text: str) -> str:
    if not re.fullmatch(r"[^\S\n]*+[^<>\s\x00][^<>\n\x00]* <[^<>\s\x00]+>", text):
        raise ValueError('no author; write it like "Name <name@example.org>"')
    return text


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Caps(_Strict):
    """How large documents may grow, in bytes."""

    briefing: Annotated[int, Field(ge=1024, le=1_000_000)] = 8192
    user: Annotated[int, Field(ge=1024, le=1_000_000)] = 4096
    document: Annotated[int, Field(ge=4096, le=10_000_000)] = 65_536


class Commit(_Strict):
    """How a run signs its commits."""

    author: Annotated[str, AfterValidator(_person)] = "memcurate <memcurate@localhost>"


class Review(_Strict):
    """What the review may decide, and when it asks."""

    idle_days: Annotated[int, Field(ge=1, le=36_500)] = 60


Share = Annotated[float, Field(ge=0, le=1)]


class Search(_Strict):
    """How hits are ranked; `pipelines.search.rank.Ranking` says what each does."""

    mode: Literal["hybrid", "keyword", "vector"] = "hybrid"
    fusion: Literal["weighted", "rrf"] = "weighted"
    vector_weight: Share = 0.5
    rrf_k: Annotated[int, Field(ge=1, le=1000)] = 60
    day_bonus: Share = 0.0
    diversity: Share = 0.0
    half_life: Annotated[float, Field(ge=0, le=36_500)] = 0.0
    access: Share = 0.0
    priority: Share = 0.0
    trust: Share = 0.0
    confidence: Share = 0.0


Days = Annotated[int, Field(ge=1, le=36_500)]


class TypeWeights(_Strict):
    """How much each type counts."""

    rule: Share = TYPE[ItemType.RULE]
    decision: Share = TYPE[ItemType.DECISION]
    fact: Share = TYPE[ItemType.FACT]
    risk: Share = TYPE[ItemType.RISK]
    todo: Share = TYPE[ItemType.TODO]


class HalfLives(_Strict):
    """After how many days without confirmation an item of each type counts half."""

    rule: Days = HALF_LIFE_DAYS[ItemType.RULE]
    decision: Days = HALF_LIFE_DAYS[ItemType.DECISION]
    fact: Days = HALF_LIFE_DAYS[ItemType.FACT]
    risk: Days = HALF_LIFE_DAYS[ItemType.RISK]
    todo: Days = HALF_LIFE_DAYS[ItemType.TODO]


class ConfidenceWeights(_Strict):
    """How much confidence counts."""

    high: Share = CONFIDENCE[Confidence.HIGH]
    medium: Share = CONFIDENCE[Confidence.MEDIUM]
    low: Share = CONFIDENCE[Confidence.LOW]
    speculative: Share = CONFIDENCE[Confidence.SPECULATIVE]


class TrustWeights(_Strict):
    """How much it counts whose word it is."""

    owner: Share = TRUST[Trust.OWNER]
    self: Share = TRUST[Trust.SELF]
    external: Share = TRUST[Trust.EXTERNAL]
    untrusted: Share = TRUST[Trust.UNTRUSTED]


class WeightSettings(_Strict):
    """What the priority of an item is made of; `pipelines.store.item` says how."""

    type: TypeWeights = TypeWeights()
    confidence: ConfidenceWeights = ConfidenceWeights()
    trust: TrustWeights = TrustWeights()
    half_life: HalfLives = HalfLives()
    floor: Share = FLOOR


class Schedule(_Strict):
    """When `curate schedule` does what; 0 switches a job off."""

    night: Annotated[str | list[str], AfterValidator(_nights)] = "02:00"
    capture_hours: Annotated[int, Field(ge=0, le=168)] = 4
    index_minutes: Annotated[int, Field(ge=0, le=10_080)] = 15
    stop_seconds: Annotated[int, Field(ge=0, le=3600)] = 30


class Settings(_Strict):
    """Everything that curate.toml may say; every key has a default.

    A `[layout]`, which only a memory that was adopted in place has, is read by `pipelines.store.user_layout`.
    """

    timezone: Annotated[str, AfterValidator(_zone)] = "UTC"
    day_end: Annotated[str, AfterValidator(_clock)] = "00:00"
    track_sessions: bool = False
    caps: Caps = Caps()
    commit: Commit = Commit()
    search: Search = Search()
    review: Review = Review()
    weights: WeightSettings = WeightSettings()
    schedule: Schedule = Schedule()
    _restricted: tuple[str, ...] = PrivateAttr(default=())

    def model_post_init(self, restricted: tuple[str, ...] | None, /) -> None:
        """Keep the names of the keys that were set aside, which are given as the context of reading the file."""
        self._restricted = restricted or ()

    @property
    def ignored_note(self) -> list[str]:
        """As a list of one, the sentence that names what only the user's settings can say; empty without any."""
        return restricted_note(SETTINGS, self._restricted)

    @property
    def author(self) -> tuple[str, str]:
        """The name and the mail address of the commits' author."""
        name, _, mail = self.commit.author.rpartition(" <")
        return name.strip(), mail.rstrip(">")

    @property
    def priority(self) -> Weights:
        """What the priority of items is made of."""
        told = self.weights
        return Weights(
            type={kind: getattr(told.type, kind.lower()) for kind in ItemType},
            confidence={one: getattr(told.confidence, one) for one in Confidence},
            trust={one: getattr(told.trust, one) for one in Trust},
            half_life={kind: getattr(told.half_life, kind.lower()) for kind in ItemType},
            floor=told.floor,
        )


def load_settings(root: Path) -> Settings:
    """Return the settings of the memory at `root`. What only the user's settings can say counts for nothing.

    Raises:
        BadFile: the file is a symbolic link.
        BadSettings: the file has faults; every one of them is named, with key and value.
    """
    path = root / SETTINGS
    if path.is_symlink():
        raise BadFile(SETTINGS, LINKED)
    raw, restricted = without_restricted(read_toml(path), Settings)
    faults: list[str] = []
    if (layout := raw.pop("layout", None)) is not None:
        from pipelines.store.user_layout import KEYS, layout_faults, read_layout  # noqa: PLC0415  most memories have none

        if isinstance(layout, dict):
            restricted += tuple(f"layout.{key}" for key in restricted_keys(layout, KEYS))
        faults = layout_faults(layout, root)
        if not faults and not read_layout(root).in_place:
            faults = ["layout: write its name as it is, without escapes"]
    try:
        settings = Settings.model_validate(raw, context=restricted)
    except ValidationError as error:
        raise BadSettings(path, [*faults_of(error, raw), *faults]) from None
    if faults:
        raise BadSettings(path, faults)
    return settings
