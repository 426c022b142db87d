"""Measure how long the page takes to answer, on a memory of many items.

usage: python -m benchmarks.view [--items N] [--times N] [--commits N]

A memory of so many items in twenty projects is made, read by the rules, and served as `curate view` serves it. Printed
is the median of so many requests for each page, after a first one, over a connection of its own as a browser's; and
that of presses of "Pin" and "Unpin", each a whole change with its check, its commit and its line in the index, and
what it takes to answer 32 questions alike at once. The
processor's time, with that of the git processes, is printed beside it, for a machine that is busy with something else.
Then git gets so many commits, each of which changes one line of one document, and the memory is served anew.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import shutil
import subprocess
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlencode

from benchmarks.scale import COMMON, CURATE, FIRST, KINDS, SYLLABLES, VERBS, made, night, write
from pipelines.cli.serve_commands import run_verb
from pipelines.store.layout import slug
from pipelines.store.snapshot import read_documents
from pipelines.view.app import serve

if TYPE_CHECKING:
    from collections.abc import Sequence


GIT = shutil.which("git") or "git"
PROJECTS, DAYS = 20, 25
PRESSES = 3
ALIKE = 32


def main() -> None:
    """Print a line for each page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--commits", type=int, default=1_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memory = filled(Path(folder), asked.items)
        documents = read_documents(memory)
        path, item = next(
            (path.removesuffix(".md"), one.items[0].item) for path, one in documents.items() if "Projects/" in path
        )
        words = "+".join(item.text.split()[2:5])
        print(f"{sum(len(one.items) for one in documents.values()):,} items in {len(documents)} documents")
        pages = ["/", "/inbox", f"/document/{path}", f"/edit/{path}", f"/item/{item.id}"]
        pages += [
            f"/items?q={words}",
            f"/items?q={COMMON[0]}",
            "/items?type=Todo",
            "/nights",
            "/agents",
            f"/file/{path}.md?at=90",
        ]
        measure(memory, pages, asked.times)
        if asked.commits:
            lengthen(memory, path, asked.commits)
            print(f"the same after {asked.commits:,} more commits")
            measure(memory, pages, asked.times)


def filled(folder: Path, items: int) -> Path:
    """Return a memory that holds so many items."""
    chance = random.Random(7)

    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))

    memory = made(folder)
    names = [f"Project {word().title()}" for _ in range(PROJECTS)]
    for name in names:
        (memory / "Projects" / f"{slug(name)}.md").write_text(f"# {name}\n")
    for number in range(DAYS):
        text = ""
        for name in names:
            text += f"\n## {name}\n\n"
            for at in range(items // (PROJECTS * DAYS)):
                here, there = chance.choices(COMMON, k=2)
                said = f"The {here} {word()} {chance.choice(VERBS)} {word()} for the {there} of {word().title()}"
                text += f"- {KINDS[at % len(KINDS)]}: {said}.\n"
        asked = ALIKE // DAYS + (number < ALIKE % DAYS)
        text += "".join(f"\n> Rule: Never {word()} the {word()}.\n" for _ in range(asked))
        write(memory, FIRST + timedelta(days=number), text)
    night(memory, FIRST + timedelta(days=DAYS - 1))
    return memory


def lengthen(memory: Path, page: str, commits: int) -> None:
    """Give a memory more commits of runs, each of which rewords an item; every fourth in one page."""
    chance, documents = random.Random(7), read_documents(memory)
    homes = [path for path, one in documents.items() if "Projects/" in path and one.items]
    lines = {path: [*documents[path].lines] for path in homes}
    with subprocess.Popen([GIT, "fast-import", "--quiet"], cwd=memory, stdin=subprocess.PIPE) as git:
        into = cast("BinaryIO", git.stdin)
        for number in range(commits):
            path = chance.choice(homes) if number % 4 else f"{page}.md"
            placed = chance.choice(documents[path].items)
            lines[path][placed.line] = lines[path][placed.line].translate(str.maketrans(".!", "!."))
            when = int(datetime.combine(FIRST + timedelta(days=DAYS), datetime.min.time(), UTC).timestamp()) + number
            said = f"Pin\n\nRun-Id: bench-{number}\nExtractor: owner\n".encode()
            head = (
                f"commit refs/heads/main\ncommitter Bench <bench@localhost> {when} +0000\ndata {len(said)}\n".encode()
            )
            text = "\n".join([*lines[path], ""]).encode()
            onto = b"" if number else b"from refs/heads/main^0\n"
            into.write(head + said + onto + f'M 100644 inline "{path}"\ndata {len(text)}\n'.encode() + text)
    for path in homes:
        (memory / path).write_text("\n".join([*lines[path], ""]))
    subprocess.run([GIT, "reset", "--quiet"], cwd=memory, check=True)
    subprocess.run([*CURATE, "index", "--memory", str(memory)], check=True, capture_output=True)


def measure(memory: Path, pages: Sequence[str], times: int) -> None:
    """Serve a memory, and print how long each page takes."""
    ready, entry = threading.Event(), [""]

    def opened(address: str) -> None:
        entry[0] = address
        ready.set()

    def clock() -> datetime:
        return datetime.combine(FIRST + timedelta(days=DAYS), datetime.min.time(), UTC) + timedelta(hours=8)

    def serving() -> None:
        serve(memory, lambda words: run_verb(memory, words), clock, opened)

    threading.Thread(target=serving, daemon=True).start()
    ready.wait()
    host, code = re.findall(r"http://(.+)/enter#(.+)", entry[0])[0]
    form = {"Host": host, "Origin": "null", "Content-Type": "application/x-www-form-urlencoded"}
    cookie = ask(host, "POST", "/enter", form, f"code={code}")[0].partition(";")[0]
    reads = {"Host": host, "Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
    for page in pages:
        tell(page, [timed(host, "GET", page, reads) for _ in range(times + 1)])
    back = next(page for page in pages if page.startswith("/item/"))
    _, text = ask(host, "GET", back, reads)
    token = re.findall(r'name="token" value="([^"]+)"', text)[0]
    values = {"token": token, "id": back.rpartition("/")[2], "back": back}
    writes = {**reads, "Origin": f"http://{host}", "Content-Type": form["Content-Type"]}
    pressed = (urlencode({**values, "verb": verb}) for verb in ("pin", "unpin") * PRESSES)
    tell("Pin", [timed(host, "POST", "/do", writes, body) for body in pressed])
    _, text = ask(host, "GET", "/inbox", reads)
    (first, also) = (re.findall(rf'name="{name}" value="([^"]+)"', text)[0] for name in ("id", "also"))
    answer = urlencode({**values, "verb": "review", "choice": "drop", "id": first, "also": also})
    tell(f"{1 + len(also.split())} answers", [timed(host, "POST", "/do", writes, answer)] * 2)


def tell(name: str, took: Sequence[tuple[float, float]]) -> None:
    """Print the median of what requests took after the first one."""
    wall, busy = (median(times) for times in zip(*took[1:], strict=True))
    print(f"{name[:40]:40} {wall:6.0f} ms, {busy:6.0f} of the processor; the first {took[0][0]:6.0f} ms")


def timed(host: str, method: str, path: str, headers: dict[str, str], body: str = "") -> tuple[float, float]:
    """Return how many milliseconds an answer took, and how many of the processor, for its git processes too."""
    begun, before = time.perf_counter(), worked()
    ask(host, method, path, headers, body)
    return (time.perf_counter() - begun) * 1000, (worked() - before) * 1000


def worked() -> float:
    """Return the seconds of the processor that this process and its ended children have had."""
    had = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in had)


def ask(host: str, method: str, path: str, headers: dict[str, str], body: str = "") -> tuple[str, str]:
    """Return the cookie and the text of an answer; one that is no page ends the measurement."""
    connection = HTTPConnection(host, timeout=60)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    if answer.status not in {HTTPStatus.OK, HTTPStatus.SEE_OTHER}:
        raise SystemExit(f"{path} answered {answer.status}.")
    return answer.getheader("Set-Cookie") or "", text


if __name__ == "__main__":
    main()
