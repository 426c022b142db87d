"""Measure what one memory's size costs: processor seconds of `curate run`, and how they grow.

usage: python -m benchmarks.scale [--items N] [--chat LOGS] [--nights N] [--local-model]

`--items` reads one log of N/2 and one of N new items, in words of their own and in one number each: twice the items
should take about twice the time. `--chat` repeats the daily logs of a folder until they make a year of 17 MB.
`--nights` runs so many nights of three new items; the last ones and those around the thirtieth are run in turn, so that
a machine whose speed drifts treats both alike. With `--local-model`, the model that `make install` fetches embeds what
is new, as it does for a user; without it, words alone are indexed. No language model is asked.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from datetime import date, timedelta
from itertools import cycle
from pathlib import Path
from statistics import median

FIRST = date(2025, 1, 1)
YEAR, YEAR_BYTES = 365, 17_000_000
SYLLABLES = "ka lo mi ter ran do ve shi pol gan bur nel sto fri wen dra cu pe lim bo ras qui zen hol mar".split()
COMMON = "server cache team budget report customer schema release backup office contract index worker region".split()
VERBS = "uses needs keeps sends reads follows replaces blocks supports".split()
KINDS = "Fact Decision Rule Todo Risk".split()
EARLY, TURNS, SETTLING = 8, 42, 2
"""The night whose memory is copied; how many nights are run in turn; how many of them the copy needs to settle."""
CACHE = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))


def main() -> None:
    """Print the figures that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--chat", type=Path)
    parser.add_argument("--nights", type=int, default=0)
    parser.add_argument("--local-model", action="store_true")
    asked = parser.parse_args()
    if asked.local_model and not (Path(CACHE) / "memcurate" / "models").is_dir():
        parser.error("the local model is not on this machine; run `make install`")
    for what in ("words", "numbers") if asked.items else ():
        half, whole = (one_log(count, what) for count in (asked.items // 2, asked.items))
        print(
            f"{asked.items} items that differ in {what}: {whole:.1f} s; half as many {half:.1f} s: {whole / half:.2f}"
        )
    if asked.chat:
        print(f"a year of chat logs, {YEAR_BYTES / 1e6:.0f} MB: {chat(asked.chat):.1f} s")
    if asked.nights:
        took = nights(asked.nights, CACHE if asked.local_model else "")
        early, late = map(median, zip(*took, strict=True))
        ratio = median(last / first for first, last in took)
        print(f"night 30: {early:.2f} s, night {asked.nights}: {late:.2f} s: {ratio:.2f} times, in the median of pairs")


def one_log(count: int, what: str) -> float:
    """Return the seconds of a night that reads so many new items in one log."""
    chance = random.Random(7)

    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))

    def sentence(at: int) -> str:
        if what == "numbers":
            return f"Fact: The staging server number {at} is rented from the provider in Frankfurt"
        here, there = chance.choices(COMMON, k=2)
        said = f"The {here} {word()} {chance.choice(VERBS)} {word()} for the {there} of {word().title()}"
        return f"{KINDS[at % len(KINDS)]}: {said}"

    with tempfile.TemporaryDirectory() as folder:
        memory = made(Path(folder))
        write(memory, FIRST, "".join(f"- {sentence(at)}.\n" for at in range(count)))
        return night(memory, FIRST)


def chat(logs: Path) -> float:
    """Return the seconds of a night that reads a year of logs, made by repeating those of a folder."""
    texts, size = cycle([path.read_text() for path in sorted(logs.glob("*.md"))]), 0
    with tempfile.TemporaryDirectory() as folder:
        memory = made(Path(folder))
        for number in range(YEAR):
            day: list[str] = []
            while size < YEAR_BYTES * (number + 1) / YEAR:
                day.append(next(texts))
                size += len(day[-1].encode())
            write(memory, FIRST + timedelta(days=number), "\n".join(day))
        return night(memory, FIRST + timedelta(days=YEAR))


def nights(count: int, cache: str) -> list[tuple[float, float]]:
    """Return pairs of seconds: of a night around the thirtieth, and of one of the last of so many."""
    with tempfile.TemporaryDirectory() as folder:
        memory, early = made(Path(folder), cache), Path(folder) / "early"
        for number in range(count - TURNS):
            if number == EARLY:
                shutil.copytree(memory, early, symlinks=True)
            one_night(memory, number)
        took = [(one_night(early, EARLY + turn), one_night(memory, count - TURNS + turn)) for turn in range(TURNS)]
    return took[SETTLING:]


def one_night(memory: Path, number: int) -> float:
    """Return the seconds of a night that reads three new items."""
    day = FIRST + timedelta(days=number)
    lines = (f"- {kind}: Crate {number} goes to berth {number * 7 % 90}.\n" for kind in KINDS[:3])
    write(memory, day, "".join(lines))
    return night(memory, day)


def made(folder: Path, cache: str = "") -> Path:
    """Return a new memory, in a home of its own; the local model takes part if its cache is named."""
    (folder / "config.toml").touch()
    own = {"HOME": str(folder), "CURATE_CONFIG": str(folder / "config.toml")}
    os.environ |= own | {"XDG_CACHE_HOME": cache or str(folder)}
    subprocess.run(
        [*CURATE, "init", str(folder / "memory"), "--now", FIRST.isoformat()], check=True, capture_output=True
    )
    return folder / "memory"


CURATE = [sys.executable, "-c", "from pipelines.start import main; main()"]


def write(memory: Path, day: date, text: str) -> None:
    """Write a day's log."""
    (memory / "Logs" / f"{day}.md").write_text(f"# {day}\n\n{text}")


def night(memory: Path, day: date) -> float:
    """Return the processor seconds of the night after a day."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    now = f"{day + timedelta(days=1)}T03:00"
    subprocess.run([*CURATE, "run", "--memory", str(memory), "--now", now], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
