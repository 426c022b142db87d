"""`curate recall`: the few live beliefs that bear on one prompt, found by words alone, Rules first.

An item bears on a prompt when they share words that tell something: two at least, more where either is long. Words of
everyday prompts tell nothing, and a word tells less the more of the memory holds it. The index only says where to look:
what is shown is read from the documents as they are now, so an item that was struck a minute ago is not shown.
"""

from __future__ import annotations

import math
import re

from pipelines.queries.startup.fast import find_root, hook_answer, hook_event, put_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable
    from pathlib import Path


BUDGET = 300
"""The most tokens of an answer, with the line above the items."""
HEAD = "From memory, for this prompt:"

_MOST_CHARACTERS = 20_000  # of a prompt; a pasted page goes on
_MOST_TERMS = 64
_COMMON = 1000
"""A word that so many places hold leads to none of them."""
_MOST_LOOKED_AT = 200
_LEAST, _MOST_NEEDED = 2, 4
_ONE_IN = 4  # words of a prompt, of which one has to be shared
_ITEM_ONE_IN = 6  # words of an item, likewise: a long one shares a word with anything
_SHARE = 0.5  # of what the rarest word would tell: what the shared words must tell together, and of the best item's
_RARE, _RARE_ONE_IN = 12, 500
_FEWEST_WORDS, _FEW_WORDS = 3, 10

_ROWS = "SELECT rowid FROM units_fts WHERE units_fts MATCH ? LIMIT ?"
_ITEMS = """
    SELECT units.id, item, path, text, title || ' ' || project FROM units JOIN files ON files.id = units.file
    WHERE units.id IN (SELECT value FROM json_each(?)) AND item != '' AND NOT hidden AND status IN ('live', 'open')
        AND trust IN ('owner', 'self') AND path NOT LIKE 'Archives/%'
"""

# Words that prompts are made of, whatever they are about. That a memory holds them, too, means nothing.
EVERYDAY = frozenset(
    """
    a about above across actually add added adding additional after again against ago all allow allowed allows almost
    along already also although always am among an and annoying another answer answered answers any anybody anyone
    anything anyway anywhere apart appear apply are aren around arrange as ask asked asking assume at available avoid
    away awesome back bad based basic be because become becoming been before begin behind being believe belong belongs
    below best better between big bigger bit blank book both bottom box break bring broken bug build built but button by
    call called came can cannot case cause center change changed changes check choose chosen class clean clear clearer
    clearly close code color colour column com combine come comes command comment commit common compare complete
    completely consider contain contained contains content continue continued continues corner corners could couldn
    count couple create created current currently cut d data date day days deal decide default define defined definition
    delete depend depends describe despite detail details determine develop developed did didn diff differ difference
    different directly directory discuss do document does doesn doing don done double down draft during e each earlier
    early easier easily easy edge edit effect effective effort either else email empty enable end english enjoy enough
    ensure entire entirely error errors especially etc evaluate even ever every everyone everything everywhere exactly
    example examples except exist existing expect explain explore express extend extra fail failed failing fails fall
    false far fast faster feature feel few fewer field figure file files final finally find fine finish first fit five
    fix fixed focus follow following for format found four free friend from front full fun function funny further g gave
    general generate get gets getting give given gives go goes going gone good got great group guess guide had hadn half
    hand handle happen happened happens hard has hasn have haven having he hear heard hello help helpful helps hence her
    here hers herself hey hi high him himself his hold home hope hopefully hour hours how however i idea ideas identify
    if image imagine implement import important improve in include included includes including increase increased indeed
    indicate individual inform inside install instead intend interesting into involve involved is isn issue issues it
    item items its itself job just keep kept key kind know known large last late later latest lead least leave leaving
    left length less let letter level like likely likewise line lines list little ll load local long longer look looking
    looks lot lots love low m made main maintain make makes making manage many matter may maybe me mean means meeting
    message method might mind minute minutes miss missing modify moment more morning most mostly move much multiple must
    my myself name named names nearly necessary need needed needs never new next nice nicely night no non none nor
    normal not note nothing now null number numbers o object obtain occur of off offer ok okay old on once one ones only
    open option options or order other others otherwise our ours ourselves out output over overall own page paragraph
    part particular pass past path people per perfect perform perhaps person personal pick picture piece place plan
    please plus point points polite possible post potential prefer prepare present pretend previous print probably
    problem process produce program project proper properly propose prove provide pull purpose push put question
    questions quick quickly quite quote raise range rather re reach read readme ready real really reason receive recent
    recommend red reduce refactor refer regular related rely relying remain remember remove rename repeat replace reply
    repo report represent request require required respond rest result results return reveal review rewrite right row
    rule run running runs s said same save say saying says second seconds section see seek seem seems seen select send
    sense sentence separate serve set several shall she short shorter should shouldn show showing shows side similar
    simple simply since single situation six size small smaller so solution solve some somebody someone something
    sometimes somewhere soon sorry sort sound specific spelling spoken standard start started state statement statements
    step steps still stop string structure stuff style succeed success successful such suggest suitable summarize
    summary support sure t table take takes task tell ten tend test tested testing tests text than thank thanks that the
    their theirs them themselves then there therefore these they thing things think third this those though thought
    three through thus time times title to today together told tomorrow tonight too took top topic total toward towards
    transform translate tried true try trying turn twice two type types typical under understand understood unique until
    up update updated use used useful user uses using usually value values variable various ve version very via view
    wait want wanted wants was wasn way ways we week weekend weeks well went were weren what whatever when where whereas
    whether which while who whole whom whose why will window wish with within without woman won wonder word words work
    worked working works world worse worth would wouldn write writing written wrong wrote x year years yes yesterday yet
    you your yours yourself yourselves zero
    """.split()
)


def answer_hook(options: dict[str, str]) -> int | None:
    """Print what bears on the prompt that a UserPromptSubmit hook has on standard input, and return the exit code, 0.

    Where no hook asks, return None: the verb proper has to look.

    Nothing is printed where nothing bears on it, and nothing either where anything is wrong: no prompt ever waits for
    its memory, or fails by it.

    Args:
        options: what stands behind `curate recall`, by name.
    """
    if "hook" not in options:
        return None
    try:
        event, root = hook_event(), find_root(options.get("memory", ""))
        if root and (found := recall(root, event.get("prompt", ""), event.get("cwd", ""))):
            put_out(hook_answer("UserPromptSubmit", "\n".join([HEAD, *found])))
    except Exception:  # noqa: BLE001  see above
        return 0
    return 0


def recall(root: str, prompt: str, folder: str = "") -> list[str]:
    """Return the live beliefs that bear on a prompt, a line each, within `BUDGET` with `HEAD`.

    Left out is whatever is not the owner's or the agent's own word, and what is doubted, over, or waits for a person.
    Rules come first, then what belongs to the project of the working directory, then what shares most with the prompt.

    Args:
        root: the memory.
        prompt: what a person typed.
        folder: the session's working directory, or empty.

    Raises:
        IndexUnusable, BadFile: the index or a document cannot be read.
    """
    from pathlib import Path  # the most common answer is that nothing bears on a prompt

    memory = Path(root)
    if not (places := _bearing(memory, prompt)):
        return []
    from pipelines.queries.startup.context import project_of_folder
    from pipelines.queries.startup.listed import words_of
    from pipelines.queries.startup.read import is_shown, kind_of_item, redacted, tokens
    from pipelines.store.document import document_at
    from pipelines.store.files import read_bytes
    from pipelines.store.ledger import ledger_on_disk
    from pipelines.store.snapshot import document_paths

    rows = ledger_on_disk(memory)
    project, found = project_of_folder(memory, document_paths(memory), folder), []
    pages = {path: (read_bytes(memory, path) or b"").decode(errors="replace") for path in {one[2] for one in places}}
    for score, ident, path in places:
        page = document_at(path, pages[path], rows)
        _, item = page.held.get(ident, ("", None))
        if item and is_shown(page, item) and not item.doubted:
            kind = kind_of_item(item)
            line = redacted(f"- {ident} {kind}: {words_of(item)} ({path})")
            found.append(((kind != "Rule", path != project, -score, ident), line))
    kept, left = list[str](), BUDGET - tokens(HEAD)
    for _, line in sorted(found):
        if (size := tokens(line) + 1) <= left:
            kept.append(line)
            left -= size
    return kept


def _terms(prompt: str) -> dict[str, int]:
    """Return the words of a prompt that tell something, each with how many it counts for: a name of code is two."""
    found: dict[str, int] = {}
    for word in re.findall(r"\w+", prompt[:_MOST_CHARACTERS]):
        parts = word.lower().replace("_", " ").split()
        if len(parts) > 1 or (word[:1].islower() and not word.islower()):
            found[" ".join(parts)] = 2
        elif parts and parts[0] not in EVERYDAY and not (word.isdecimal() and len(word) <= _LEAST):
            found.setdefault(parts[0], 1)
    if not prompt.isascii():  # scripts without blanks are found by pairs of characters
        from pipelines.search.chunk_context import unspaced_pairs

        found |= dict.fromkeys(unspaced_pairs(prompt[:_MOST_CHARACTERS]), 1)
    return dict(list(found.items())[:_MOST_TERMS])


def _bearing(root: Path, prompt: str) -> list[tuple[float, str, str]]:
    """Return score, id and path of the items that share enough with a prompt.

    Raises:
        IndexUnusable: there is no index, or it cannot be read.
    """
    terms = _terms(prompt)
    if not terms:
        return []
    from pipelines.search.schema import reading  # a prompt of everyday words needs no index

    with reading(root) as index:
        (units,) = index.execute("SELECT count(*) FROM units").fetchone()
        rows, worth = _places(index, terms, units)
        shared: dict[int, set[str]] = {}
        for term, places in rows.items():
            for unit in places if len(places) < _COMMON else ():
                shared.setdefault(unit, set()).add(term)
        best = sorted(shared, key=lambda unit: -sum([worth[term] for term in shared[unit]]))[:_MOST_LOOKED_AT]
        least = _least(prompt, terms, rows, units)
        found = []
        for unit, ident, path, text, about in index.execute(_ITEMS, (f"[{','.join(map(str, best))}]",)):
            said = set(re.findall(r"\w+", text.lower().partition(":")[2]))
            if least == 1 and not shared[unit] & said:
                continue  # one word is little: at least it is to be the very word
            both = shared[unit] | {term for term in rows if term in about.lower().split()}
            if sum([terms[term] for term in both]) >= max(least, -(-len(said - EVERYDAY) // _ITEM_ONE_IN)):
                found.append((sum([worth[term] for term in both]), ident, path))
        bar = max([_SHARE * math.log(units + 1), *(_SHARE * score for score, _, _ in found)])
        return [one for one in found if one[0] >= bar]


def _least(prompt: str, terms: dict[str, int], rows: dict[str, tuple[int, ...]], units: int) -> int:
    """Return how many words an item has to share: one where a short prompt has no more to tell, and that is rare."""
    is_short = _FEWEST_WORDS <= len(prompt.split()) <= _FEW_WORDS
    if (
        list(terms.values()) == [1]
        and is_short
        and all(len(one) <= max(_RARE, units // _RARE_ONE_IN) for one in rows.values())
    ):
        return 1
    return max(_LEAST, min(_MOST_NEEDED, -(-len(rows) // _ONE_IN)))


def _places(
    index: sqlite3.Connection, terms: Iterable[str], units: int
) -> tuple[dict[str, tuple[int, ...]], dict[str, float]]:
    """Return where each word stands, and what it tells; of two forms of one word, the first."""
    rows: dict[str, tuple[int, ...]] = {}
    for term in terms:
        asked = f'{{text grams}} : "{term}"'
        found = tuple([unit for (unit,) in index.execute(_ROWS, (asked, _COMMON))])
        if not found or not any(term[:_LEAST] == other[:_LEAST] and found == rows[other] for other in rows):
            rows[term] = found
    return rows, {term: math.log((units + 1) / (len(found) + 1)) for term, found in rows.items()}
