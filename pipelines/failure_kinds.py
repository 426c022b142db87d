"""The ways in which a call of a model fails."""

from __future__ import annotations

from enum import StrEnum


class FailureKind(StrEnum):
    """How a call of a model failed; a report counts failures by provider and kind."""

    DOWN = "down"
    TIMED_OUT = "timed-out"
    CUT_OFF = "cut-off"
    RATE_LIMITED = "rate-limited"
    OVER_QUOTA = "over-quota"
    UNAUTHORISED = "unauthorised"
    UNKNOWN_MODEL = "unknown-model"
    BAD_REQUEST = "bad-request"
    TOO_LONG = "too-long"
    REFUSED = "refused"
    BLOCKED = "blocked"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    OUTSIDE_SCHEMA = "outside-schema"
    GARBLED = "garbled"
    NOT_ASKED = "not-asked"
    OVER_BUDGET = "over-budget"
    FAILED = "failed"

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed a moment later."""
        return self in {self.DOWN, self.TIMED_OUT, self.CUT_OFF, self.RATE_LIMITED}

    @property
    def is_final(self) -> bool:
        """Whether no other call of this run can succeed at this provider."""
        return self in {self.OVER_QUOTA, self.UNAUTHORISED, self.UNKNOWN_MODEL, self.OVER_BUDGET}

    @property
    def concerns_content(self) -> bool:
        """Whether it is what was sent that made the call fail, so that it says nothing about the provider."""
        return self in {self.REFUSED, self.BLOCKED, self.TOO_LONG}

    @property
    def concerns_provider(self) -> bool:
        """Whether other days would fail alike. Of the other kinds that cannot be told: it may be the day itself."""
        return self.is_final or self in {self.DOWN, self.RATE_LIMITED, self.GARBLED, self.NOT_ASKED}
