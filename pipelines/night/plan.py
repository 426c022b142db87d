"""The plan of a night: from the memory as it is to one change set and its report, stage by stage.

`plan_night` is the order of the stages. Each is a function that takes the `Run`, and leaves in it what the later ones
need. Nothing here writes. What a plan would do can be shown (`--dry-run`) or applied (`pipelines.night.run_night`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pipelines.extract.claims import Verdict, Verified, told_claim
from pipelines.extract.extract_days import DayToRead, days_to_read, extract
from pipelines.extract.extraction import Candidate, Operation, Place, as_said
from pipelines.extract.rules.labels import read_label
from pipelines.extract.rules.rules_extractor import RulesExtractor
from pipelines.night.caps import prune, with_true_now
from pipelines.night.file_items import Catalog, document_choices, file_candidate, filed_candidates, promote
from pipelines.night.fold_logs import take_logs
from pipelines.night.quiet import asked_about_quiet, with_quiet
from pipelines.night.report import RunReport, Watch
from pipelines.night.run import Night, Run
from pipelines.night.sentences import told_sentences, with_episodes
from pipelines.review.outcomes import Question, asked, claimed, linkable, without_questions
from pipelines.review.review import ReviewContext, review
from pipelines.review.rulings import KnownItems, evidence_of
from pipelines.review.trust import TrustGate
from pipelines.review.verification import judged, posed, with_unsettled, with_unsettled_pairs
from pipelines.store.change_set import Change, check_documents, document_changes, items_by_id
from pipelines.store.evidence import Quotes, voice_in
from pipelines.store.generated import vetoed_by
from pipelines.store.git import Git, run_id
from pipelines.store.item import ItemType, Trust
from pipelines.store.layout import PROGRESS, REVIEW, SETTINGS, TOMBSTONES, day_of_log, is_note, kind_of
from pipelines.store.log import parse_entries
from pipelines.store.provenance import is_told
from pipelines.store.review_queue import read_queue
from pipelines.store.secrets.redact import format_found, load_redactor, without_secrets
from pipelines.store.session_state import NAME, load_seals, read_kept
from pipelines.store.spoken_lines import is_of_program, parse_spoken, read_lines
from pipelines.store.state import LogProgress, Reason, file_hash, render_progress, render_tombstones, wording_hash
from pipelines.store.template import missing_files
from pipelines.store.trees import read_documents_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pipelines.extract.llm.verifier import ModelVerifier
    from pipelines.night.manual import HeldMemory
    from pipelines.store.document import Documents


def plan_night(night: Night, held: HeldMemory, watch: Watch, before: Documents, earlier: Run | None = None) -> Run:
    """Decide everything; write nothing.

    Args:
        night: the input.
        held: the memory, with people's edits and answers understood.
        watch: told of each stage.
        before: the documents before that.
        earlier: the run of the day before in the same night, if there was one.

    Raises:
        BrokenChangeSet: the changes would break a promise.
    """
    run = _begun(night, held, watch, before, earlier)
    with watch.stage("capture"):
        take_logs(run)
    with watch.stage("extract"):
        _read(run)
    with watch.stage("review"):
        _rule(run)
    if night.writer and not (run.later or run.extracted.pending):  # no day is left to read
        from pipelines.night.brief import write_brief  # noqa: PLC0415  only a model writes one

        with watch.stage("brief"):
            run.briefed = write_brief(run, night.writer, _promoted(run)[0])
    if night.verifier:
        with watch.stage("verify"):
            _verify(run, night.verifier)
    with watch.stage("promote"):
        _file(run)
    with watch.stage("prune"):
        pruned = prune(run.documents, night.settings, run.snapshot.unreadable(), run.vetoed)
        run.documents = pruned.documents
        run.report.evicted = pruned.moved
    _finish(run)
    return run


def _begun(night: Night, held: HeldMemory, watch: Watch, before: Documents, earlier: Run | None) -> Run:
    snapshot, people, again = held.snapshot, held.people, night.again
    template = missing_files(night.root)
    left = [str(one) for one in snapshot.warnings if one.pending]
    notes = [str(one) for one in snapshot.warnings if not one.pending]
    report = RunReport(
        run_id(night.now, held.git.head()), night.now.isoformat(timespec="seconds"), night.today, again=again or None,
        extractor=night.extractor.name, pending=bool(left),
        warnings=[*left, *night.notes, *notes],  # the reason something is pending comes first
        people={
            kind: len(getattr(people, kind, ())) for kind in ("edited", "numbered", "retracted", "restored", "asked")
        },
    )  # fmt: skip
    if report.people["asked"]:
        report.warnings.append(f"Items are gone from their documents. Retract or restore them in {REVIEW}.")
    if people and people.foreign:
        report.warnings.append(f"Items came from elsewhere ({len(people.foreign)}). Keep or drop them in {REVIEW}.")
    report.warnings += people.notes if people else ()
    found = {**held.documents, **read_documents_in(template)}
    over = [ident for ident, (_, item) in items_by_id(found).items() if not item.active]
    documents = without_questions(found, over)
    return Run(
        night, held.git, watch, snapshot, found, earlier.before if earlier else before,
        earlier.failed | {one.day for one in earlier.extracted.pending} if earlier else frozenset(), report, documents,
        {path: data for path, data in template.items() if not kind_of(path) and path != SETTINGS},
        held.stones, vetoed_by(held.stones, snapshot.documents), Catalog(documents, snapshot.unreadable()),
        {path: known for path, known in held.progress.items() if not again or day_of_log(path) != again},
    )  # fmt: skip


def _read(run: Run) -> None:
    """Have the extractor read what no run has read: with a model, of one day."""
    night, catalog = run.night, run.catalog
    before = partial(_read_before, run.git)
    gone = {(one.file, line) for one in read_kept(night.root).values() for line in one.gone}  # since they were captured
    days = days_to_read(run.logs, run.progress, run.night.today, before, gone)
    run.days = [one for one in days if one.day not in run.failed or not one.fresh]
    if night.verifier:  # one day, or all before the first one that a model reads; what needs no reading goes with it
        unread = sorted({one.day for one in run.days if one.fresh})
        first = set([day for day in unread if day < night.rules_before] or unread[:1])
        run.later = [one for one in run.days if one.fresh and one.day not in first]
        run.days = [one for one in run.days if not one.fresh or one.day in first]
    waiting: list[DayToRead] = []
    if any(one.is_still for one in run.documents.values()):  # with marks of a conflict: a log may speak of that page
        run.days, waiting = waiting, run.days
    is_old = any(one.fresh and one.day < night.rules_before for one in run.days)
    reader = RulesExtractor() if is_old else night.extractor
    nearby, seals = None, load_seals()
    if not isinstance(reader, RulesExtractor):
        from pipelines.extract.nearby import Nearby  # noqa: PLC0415  the rules are shown none

        shown = ((path.removesuffix(".md"), item) for path, item in linkable(catalog.items))
        nearby = Nearby(shown, max((one.newest for one in run.documents.values()), default=""))
    extracted = run.extracted = extract(
        run.days, reader, document_choices(catalog) if nearby else (),
        lambda done: run.watch.advance(done, len(run.days)), nearby, seals,
    )  # fmt: skip
    if extracted.is_stopped or waiting:
        run.leave(waiting)
    report = run.report
    report.tally.add(extracted.tally)
    report.failure = without_secrets(extracted.failure)
    report.over_budget = extracted.over_budget
    notes = (f"{path}: {note}" for path, note in extracted.notes)
    report.warnings += map(without_secrets, notes)
    fresh = [(day.day, one, voice) for day in run.days for one in day.fresh if (voice := voice_in(one.head))]
    theirs = ((day, one) for day, one, voice in fresh if voice[2] is Trust.OWNER)  # sealed, but with another key
    if foreign := [day for day, one in theirs if seals.trust_of(one.path, one.text.split("\n")) is Trust.SELF]:
        lines = "1 line" if len(foreign) == 1 else f"{len(foreign)} lines"
        report.warnings.append(
            f"{lines} signed as yours cannot be checked here, so the agent's word is assumed. If you said it on another"
            f" machine, copy {NAME} from there next to your settings, then `curate run --again {foreign[0]}`."
        )


def _read_before(git: Git, path: str, file: str) -> frozenset[str]:
    """Return the entries of the version of a log with this hash; none if git has no such version."""
    for commit in git.versions(path):
        data = git.show(commit, path) or b""
        if file_hash(data) == file:
            return frozenset(entry.key for entry in parse_entries(path, "", data.decode(errors="replace")))
    return frozenset()


def _rule(run: Run) -> None:
    """Rule on the candidates, and on what the log says of existing items."""
    night, items, extracted = run.night, run.catalog.items, run.extracted
    gate = TrustGate(
        run.days, load_seals(), night.rules_from, frozenset(item.id for _, item in items), run.catalog.person
    )
    hashes = {stone.hash for stone in run.stones}
    for_good = {stone.hash for stone in run.stones if stone.reason in {Reason.FORGOTTEN, Reason.CORRECTED}}
    run.context = context = ReviewContext(
        KnownItems(items),
        # A model may give a sentence another type on another night.
        lambda one: any(
            wording_hash(kind, one.text) in (for_good if one.entry.day == night.again else hashes) for kind in ItemType
        ),
        partial(file_candidate, catalog=run.catalog),
        gate.word_of,
    )
    filed, unplaced = filed_candidates(as_said(extracted.candidates, lambda one: one.entry), run.catalog, gate)
    run.rulings = review(filed, extracted.operations, as_said(extracted.forms, lambda one: one.place.entry), context)
    run.told = {  # what rests on the words of the owner and the agent alone
        day: [
            one
            for one in some
            if all(
                context.word_of(place.entry, line).reaches(Trust.SELF)
                for place in one.places
                for line in place.lines
                if line.strip()
            )
        ]
        for day, some in extracted.episodes.items()
    }
    run.report.skipped = _skipped_lines(run, unplaced)


def _verify(run: Run, verifier: ModelVerifier) -> None:
    """Ask the second reader about everything that is not a line's own words, in one call.

    What it does not support is dropped. If it fails, no day counts as read.
    """
    known, report = run.context.known, run.report
    of_rulings = posed(run.rulings, known)
    proposals = run.briefed.proposals if run.briefed else ()
    sentences = [(one, claim) for one in proposals if (claim := one.claim)]
    told = [(day, one) for day, some in run.told.items() for one in some]
    claims = [*(one.claim for one in of_rulings), *(claim for _, claim in sentences)]
    claims += [told_claim(one) for _, one in told]
    found, run.told = verifier.verify(claims) if claims else Verified(), {}
    report.tally.add(found.tally)
    if found.failure or len(found.verdicts) < len(claims):
        why = without_secrets(found.failure or "It gave no verdicts.")
        report.failure = " ".join(filter(None, (report.failure, why)))
        run.extracted = replace(run.extracted, candidates=(), operations=(), seen={}, read=(), pending=())
        run.leave(run.days)
        run.rulings, run.briefed, report.skipped = [], None, []
        return
    verdicts = iter(found.verdicts)
    run.rulings = judged(run.rulings, of_rulings, [next(verdicts) for _ in of_rulings], known)
    lost = {one for one, _ in sentences if next(verdicts) is not Verdict.SUPPORTED}
    if run.briefed:
        run.briefed = run.briefed._replace(proposals=tuple(one for one in proposals if one not in lost))
    for day, one in told:
        if next(verdicts) is Verdict.SUPPORTED:
            run.told.setdefault(day, []).append(one)


def _promoted(run: Run) -> tuple[Documents, KnownItems]:
    """Return the documents with the rulings carried out, each item marked that is quiet, and the items."""
    extracted = run.extracted
    rulings = with_unsettled(run.rulings, run.context.known)
    documents, known = promote(rulings, run.catalog.documents, extracted.seen)
    unread = {day.day for day in extracted.pending}  # what no run has read yet is no silence
    last = max((day.day for day in extracted.read), default=run.night.today)
    days = [day for day in run.log_days if day not in unread and day <= last]
    return with_quiet(documents, extracted.open_lists, extracted.seen, days, run.night.today), known


def _file(run: Run) -> None:
    """Carry out the rulings, add the questions for a person, and write the episodes and what the model wrote."""
    (documents, known), report, today = _promoted(run), run.report, run.night.today
    run.added = [one.item.id for one in known.all if one.was is None]
    superseded = [one.item.id for one in known.all if one.successor]
    report.verdicts = Counter("ask" if one.asks else str(one.kind) for one in run.rulings)
    report.items = {
        "added": len(known.added),
        "confirmed": len(known.confirmed),
        "superseded": len(superseded),
        "closed": len(known.closed),
        "by_document": Counter(one.document for one in known.added),
    }
    questions = [
        Question(mine.item, why, last.item if rival and (last := known.find(rival.name)) else None)
        for mine, why, rival in known.questions
    ]
    questions.sort(key=lambda one: one.rival is None)  # contradictions first
    quote, settled = Quotes(run.night.root).text, (*known.closed, *superseded, *known.confirmed)
    waited = {one.id for one in read_queue(documents.get(REVIEW))}
    documents = asked(without_questions(documents, settled), questions, quote, today)
    documents = asked_about_quiet(claimed(documents, known.claims, quote, today), today)
    run.documents = with_unsettled_pairs(
        documents, run.log_days, today, to_person=not run.night.agents, rules_from=run.night.rules_from
    )
    if new := {one.id for one in read_queue(run.documents.get(REVIEW))} - waited:
        report.people["asked"] += len(new)
        report.warnings.append(f"New questions wait in {REVIEW}; `curate review` shows them.")
    told = {day: told_sentences(run.documents, day, some) for day, some in run.told.items()}
    documents = with_episodes(run.documents, run.vetoed, run.catalog.closed, told)
    if run.briefed:
        from pipelines.night.brief import with_brief  # noqa: PLC0415  as above

        documents = with_brief(documents, run.briefed)
    run.documents = with_true_now(documents, today, run.vetoed)


def _finish(run: Run) -> None:
    """Check the documents, and make one change set of them and all other files."""
    night, snapshot, extracted, report = run.night, run.snapshot, run.extracted, run.report
    cap = night.settings.caps.briefing
    if faults := check_documents(run.found, run.documents, cap, added=run.added):
        raise snapshot.refusal(faults)
    progress = dict(run.progress)
    for day in extracted.read:
        is_over = day.file and day.day < night.today and not is_note(day.path)
        keys = frozenset[str]() if is_over else frozenset(entry.key for entry in day.entries)
        # While it has marks of a conflict, the records from before know what stands between them.
        kept = () if day.file else tuple(record for record in run.progress.get(day.path, ()) if record.file)
        progress[day.path] = (*kept, LogProgress(day.file, keys))
    redactor = load_redactor(night.root)
    for path, data in run.files.items():  # what was known as secret only after the logs were read, as by a reply
        if data and data != snapshot.logs.get(path) and redactor.find(data):
            run.files[path], found = redactor.redact_bytes(data)
            report.warnings.append(f"{path}: {format_found(found)} redacted.")
    run.files |= {PROGRESS: render_progress(progress), TOMBSTONES: render_tombstones(run.stones)}
    was = {**snapshot.logs, **snapshot.partials, **snapshot.state}
    run.changes = [
        *(Change(path, was.get(path), data) for path, data in run.files.items() if was.get(path, b"") != data),
        *document_changes(snapshot.documents, run.documents, snapshot.state),
    ]
    report.logs["read"] = sum(bool(day.fresh) for day in extracted.read)
    report.read_days = tuple(dict.fromkeys(day.day for day in extracted.read if day.fresh))
    report.pending_days = tuple(day.day for day in extracted.pending if day.fresh)
    report.entries = {
        "read": sum(len(day.fresh) for day in extracted.read),
        "pending": sum(len(day.fresh) for day in extracted.pending),
        "left": len(report.skipped),
    }


# ---------------------------------------- what was not understood
# The run made nothing of these lines, and no person would know.


def _skipped_lines(run: Run, unplaced: Sequence[Candidate]) -> list[dict[str, object]]:
    """Return what was not understood of the entries that were read for the first time, in order of the logs.

    Each row is a line, or an entry that was not understood as a whole: where it is, and why nothing came of it, as a
    clause. The report keeps no text of the logs. Text of external origin and code are not meant to be kept.

    Args:
        run: the run, with its rulings.
        unplaced: proposed items that were dropped since they name no subject.
    """
    extracted, context = run.extracted, run.context
    ruled = {place for one in run.rulings for place in one.operation.places}
    why = {one.places[0]: "it does not say whose it is" for one in unplaced}
    for form in (one for one in extracted.forms if one.how and one.place not in ruled):
        same = [context.known.same(kind, form.target, "") for kind in ItemType]
        if all(one is None or one.item.active for one in same):  # or it repeats what is over already
            why[form.place] = "no single open item matches it"
    proposed: list[Candidate | Operation] = [*extracted.candidates, *extracted.operations, *unplaced]
    heard = {place.entry for one in proposed for place in one.places} | {one.place.entry for one in extracted.forms}
    for entry in (one for day in extracted.read for one in day.fresh if one not in heard and not is_of_program(one)):
        spoken = [line.spoken for line in read_lines(entry) if line.spoken]
        if any(map(str.isalpha, "".join([one.said for one in spoken]))):  # it has words outside code
            is_labelled = any(map(read_label, spoken))
            by_rules = "what its label says is no statement" if is_labelled else "it has no label and no known form"
            why[Place.whole(entry)] = "the model kept nothing of it" if run.night.verifier else by_rules
    own = (
        place
        for place in why
        if context.word_of(place.entry, place.lines[0]).reaches(Trust.SELF)
        or is_told(parse_spoken(place.lines[0]).marked)
    )
    rows = [{**evidence_of(place)._asdict(), "why": why[place]} for place in own]
    return sorted(rows, key=lambda row: [*row.values()][:3])
