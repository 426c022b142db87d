"""The second reader: it sees every sentence of a run that is not a line's own words, before anything is filed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pipelines.extract.claims import Verdict, Verified, told_claim
from pipelines.review.verification import judged, posed
from pipelines.store.secrets.redact import without_secrets

if TYPE_CHECKING:
    from pipelines.extract.claims import Verifier
    from pipelines.night.run import Run


def verify(run: Run, verifier: Verifier) -> None:
    """Ask the second reader about everything that is not a line's own words, in one call.

    What it does not support is dropped. If it fails, no day counts as read.
    """
    known, report, sayings = run.context.known, run.report, run.told
    run.told = {}
    of_rulings = posed(run.rulings, known)
    proposals = run.briefed.proposals if run.briefed else ()
    sentences = [(one, claim) for one in proposals if (claim := one.claim)]
    told = [(day, one) for day, some in sayings.items() for one in some]
    claims = [*(one.claim for one in of_rulings), *(claim for _, claim in sentences)]
    claims += [told_claim(one) for _, one in told]
    found = verifier.verify(claims) if claims else Verified()
    report.tally.add(found.tally)
    if found.failure or len(found.verdicts) < len(claims):
        why = without_secrets(found.failure or "It gave no verdicts.")
        report.failure = " ".join(filter(None, (report.failure, why)))
        run.extracted = replace(run.extracted, candidates=(), operations=(), seen={}, read=(), pending=())
        run.leave(run.days)
        run.rulings, run.briefed, report.skipped = [], None, []
        return
    verdicts = iter(found.verdicts)
    run.rulings, counts = judged(run.rulings, of_rulings, [next(verdicts) for _ in of_rulings], known)
    report.review = {**counts, "claims": len(claims)}
    lost = {one for one, _ in sentences if next(verdicts) is not Verdict.SUPPORTED}
    if run.briefed:
        run.briefed = replace(run.briefed, proposals=tuple(one for one in proposals if one not in lost))
    for day, one in told:
        if next(verdicts) is Verdict.SUPPORTED:
            run.told.setdefault(day, []).append(one)
