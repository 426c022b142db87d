"""Measure whether search knows what the memory believes, and marks hits on what it does not know.

usage: python -m benchmarks.belief_search believed|absent [--locomo DIR] [--json]

`believed` asks 60 questions about beliefs of examples/month that changed, ended or were rejected: how often the first
hit says what is believed now, how many overruled lines stand above true ones, how often what a web page ordered is
shown unmarked, and how many of the first ten hits repeat one above them.

`absent` asks about what the memory does not hold: 60 subjects that examples/month never mentions, and, of LoCoMo (as
downloaded, or folders with Logs/ and queries.jsonl), the questions of one conversation in the memory of another whose
speakers have other names. It asks what the memory does hold, too: a conversation's own questions. Hits are returned
either way; printed is how often they are said to be close to the question (`yes`), not close (`little`) or none
(`nothing`), by words alone and, where your settings choose an embedder, by words and meaning. Half of the subjects, and
the first, third and fifth conversation, were looked at when the search was made; the others are `held out`.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.believed import believed
from benchmarks.conversations import read_conversations
from benchmarks.month import live
from benchmarks.month_gold import read_month
from pipelines.errors import CurateError
from pipelines.night.run import night_of
from pipelines.search.build import rebuild_index
from pipelines.search.embed import chosen_embedder, embed_index
from pipelines.search.query import SearchRequest, answer
from pipelines.search.schema import reading
from pipelines.user_settings import load_user_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.conversations import Conversation
    from pipelines.search.embedders.embedder import Embedder

MONTH = Path(__file__).resolve().parents[1] / "examples/month"
ABSENT = """\
What is Tove's blood type?
Which hospital was the knee operation in?
Which Kubernetes cluster do we deploy to?
How many replicas does the Postgres cluster have?
How are the Kafka topics partitioned?
Why did we leave RabbitMQ?
What is the name of Tove's cat?
Which vet looks after the rabbit?
What did we decide about GraphQL?
Do we write our frontends in Svelte or React?
Which gym does Tove go to?
What is the marathon training plan?
Who is our landlord?
How high is the rent of the studio?
How do we sign the iOS app for the App Store?
Which push notification service do we use on phones?
What is the recipe for sourdough bread?
Which wine goes with the salmon?
Do we use Terraform or Pulumi?
Where are the Ansible playbooks kept?
When is the wedding anniversary of my parents?
What present did we buy for grandmother's birthday?
Which guitar strings should I buy?
Who teaches the piano lessons?
redis eviction policy
elasticsearch shard count
What did the therapist recommend?
Is anybody allergic to peanuts?
Which neural network did we train, and on which GPU?
What was the accuracy of the classifier?
Who is Priya Raman?
What did Mr. Okafor say about the merger?
How much is left of the mortgage?
Which pension fund do I pay into?
What is the thermostat of the greenhouse set to?
When were the tomatoes planted?
How does the OAuth login with Google work?
What does the SAML assertion have to contain?
Which airline did we fly to Lisbon with?
What is the address of the hotel in Tokyo?
Where did we park the car?
When does the car need new tyres?
Who won the chess tournament?
What is the score of the football match?
Which university did Tove study at?
What is the subject of her doctoral thesis?
What is our parental leave policy?
How many vacation days do the interns have?
When is the asteroid survey published?
Which telescope was used for the galaxy images?
unity shader compilation
Blender rendering of the spaceship
How many subscribers does the podcast have?
Who edits the YouTube videos?
What is the boiling point of liquid nitrogen?
Which enzyme cuts the plasmid?
Did the senator vote for the bill?
Which candidate won the election?
What was the closing price of the Tesla shares?
How many bitcoins are in the cold wallet?""".split("\n")
ANSWERS = ("nothing", "little", "yes")
STRANGERS = 40
OWN = 100
Case = tuple[str, list[str]]


def lived_month(root: Path) -> None:
    """Let a memory live through the month, read by whoever knows its outcomes."""
    user = load_user_settings(f"exec:{sys.executable} {MONTH / 'answer.py'}")
    live(read_month(MONTH), "5", root, lambda home, how, when: night_of(home, how, when, "", user), lambda _, __: None)


def conversation_cases(conversations: Sequence[Conversation]) -> Iterator[tuple[Conversation, list[Case]]]:
    """Yield each conversation with what is asked of it: its own questions, strangers', and the absent subjects."""
    for number, one in enumerate(conversations):
        half = "held out" if number % 2 else "seen"
        queries = [question.query for question in one.questions]
        cases = [(f"LoCoMo, its own questions, {half}", random.Random(1).sample(queries, min(OWN, len(queries))))]
        for other in conversations:
            if not speakers(one) & speakers(other):
                asked = [question.query for question in other.questions]
                strange = random.Random(2).sample(asked, min(STRANGERS, len(asked)))
                cases.append((f"LoCoMo, strangers' questions, {half}", strange))
        yield one, [*cases, (f"LoCoMo, absent subjects, {half}", ABSENT[number % 2 :: 2])]


def speakers(conversation: Conversation) -> set[str]:
    """Return who speaks in a conversation."""
    return {name for log in conversation.logs.values() for name in re.findall(r"^- \*\*(.+?):\*\*", log, re.MULTILINE)}


def asked_of(root: Path, cases: Sequence[Case], embedder: Embedder | None) -> dict[tuple[str, str], Counter[str]]:
    """Return how often each answer was given, by case and by way of searching."""
    rebuild_index(root)
    if embedder:
        embed_index(root, embedder)
    told: dict[tuple[str, str], Counter[str]] = {}
    with reading(root) as connection:
        for name, queries in cases:
            for query in queries:
                ways = {"words": SearchRequest()}
                if embedder:
                    ways["both"] = SearchRequest(vector=embedder.embed_query(query), embedder=embedder.name)
                for way, asked in ways.items():
                    _, found = answer(root, connection, query, 10, (), asked)
                    told.setdefault((name, way), Counter())[found] += 1
    return told


def absent(locomo: Path | None, embedder: Embedder | None) -> list[dict[str, object]]:
    """Return a row for each case and way of searching."""
    told: dict[tuple[str, str], Counter[str]] = {}
    with tempfile.TemporaryDirectory() as home:
        lived_month(Path(home) / "month")
        cases = [("month, absent subjects, seen", ABSENT[::2]), ("month, absent subjects, held out", ABSENT[1::2])]
        told |= asked_of(Path(home) / "month", cases, embedder)
        for number, (one, cases) in enumerate(conversation_cases(read_conversations(locomo) if locomo else [])):
            root = Path(home) / f"talk-{number}"
            (root / "Logs").mkdir(parents=True)
            (root / "curate.toml").touch()
            for path, text in one.logs.items():
                (root / path).write_text(text, "utf-8")
            for key, count in asked_of(root, cases, embedder).items():
                told[key] = told.get(key, Counter()) + count
            print(f"{one.name}: done", file=sys.stderr)
    return [
        {"asked": name, "by": way, "questions": count.total()}
        | {one: round(count[one] / count.total(), 3) for one in ANSWERS}
        for (name, way), count in sorted(told.items())
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["believed", "absent"])
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    try:
        embedder, why = chosen_embedder()
        print(why, file=sys.stderr)
        if given.part == "believed":
            with tempfile.TemporaryDirectory() as home:
                lived_month(root := Path(home) / "month")
                print(json.dumps(believed(root, MONTH), indent=2, ensure_ascii=False))
            return
        rows = absent(given.locomo, embedder)
    except CurateError as fault:
        raise SystemExit(f"{fault}") from None
    if given.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print("  ".join(f"{value:<42}" if name == "asked" else f"{name} {value}" for name, value in row.items()))


if __name__ == "__main__":
    main()
