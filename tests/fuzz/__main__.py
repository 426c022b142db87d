"""Feed every reader with random inputs: `python -m tests.fuzz --inputs 1000000`."""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import SystemRandom

from tests.fuzz.running import Outcome, run
from tests.fuzz.targets import TARGETS

_SHARDS = 4


def main() -> int:
    """Run and print; 1 when anything was found."""
    args = _arguments()
    seed = args.seed or str(SystemRandom().randrange(10**9))
    print(f"seed {seed}", flush=True)
    chosen = [target for target in TARGETS if args.target in {"", target.name}]
    whole, began = sum(target.share for target in chosen), time.monotonic()
    jobs = [
        (target.name, f"{seed}/{shard}", -(-args.inputs * target.share // (whole * _SHARDS)))
        for target in chosen
        for shard in range(_SHARDS)
    ]
    with ProcessPoolExecutor(args.processes) as pool:
        outcomes = [_told(outcome) for outcome in pool.map(_job, *zip(*jobs, strict=True))]
    findings = {found.error + found.target: found for outcome in outcomes for found in outcome.findings}
    total, slowest = sum(one.inputs for one in outcomes), max(one.slowest for one in outcomes)
    took = time.monotonic() - began
    print(
        f"{total:,} inputs in {took:.0f} s, {len(findings)} findings; the slowest took {slowest:.2f} s of processor time"
    )
    if findings:
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        for found in findings.values():
            print(f"{found.keep(folder)}: {found.error}")
    return bool(findings)


def _job(name: str, seed: str, count: int) -> Outcome:
    target = next(target for target in TARGETS if target.name == name)
    with tempfile.TemporaryDirectory() as scratch:
        return run(target, seed, count, Path(scratch))


def _told(outcome: Outcome) -> Outcome:
    rate = outcome.inputs / max(outcome.seconds, 0.001)
    print(
        f"{outcome.target:14} {outcome.inputs:8,} inputs {rate:8,.0f} a second, slowest {outcome.slowest:.2f} s, "
        f"{len(outcome.findings)} findings",
        flush=True,
    )
    return outcome


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="how many in all")
    parser.add_argument("--seed", default="", help="for the same inputs again; printed at the start of a run")
    parser.add_argument(
        "--target", default="", choices=["", *(target.name for target in TARGETS)], help="one of them alone"
    )
    parser.add_argument("--processes", type=int, default=2, help="how many at the same time")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
