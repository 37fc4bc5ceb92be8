"""`python tests/attack`: random tests of the guarantees of widelimit (docs/reliability.md).

Every trial is a function of the seed, which is printed. The last line counts attacks, not trials.
"""

from __future__ import annotations

import argparse
import sys
import time

import attacks
from campaign import run


def main() -> int:
    named = {attack.name: attack for attack in attacks.ALL}
    parser = argparse.ArgumentParser(prog="tests/attack", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=named, metavar="NAME", help=f"some of: {', '.join(named)}")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds per attack (default 60)")
    parser.add_argument("--trials", type=int, default=10**9, help="maximum number of trials per attack")
    parser.add_argument("--seed", type=int, default=None, help="default: the current time")
    parser.add_argument("--trial", type=int, default=None, help="run only this trial, whose number a failure reports")
    arguments = parser.parse_args()

    seed = int(time.time()) if arguments.seed is None else arguments.seed
    trials = range(arguments.trials) if arguments.trial is None else range(arguments.trial, arguments.trial + 1)
    print(f"seed {seed}", flush=True)
    failed = 0
    for name in arguments.only or named:
        print(f"{name}: {named[name].guarantee}", flush=True)
        tally = run(named[name], seed, trials, arguments.seconds)
        for broken in tally.broken:
            print(f"  BROKEN {broken}")
        print(f"  {tally}", flush=True)
        failed += bool(tally.broken) or tally.trials == 0
    print(f"{len(arguments.only or named) - failed} passed, {failed} failed, 0 skipped")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
