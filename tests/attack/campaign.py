"""Random trials of a guarantee: each trial has its own seed, so that a failure can be reproduced alone."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np


class Broken(Exception):
    """A violated guarantee, described in one sentence with the relevant numbers."""


def require(holds: bool, broken: str) -> None:
    """Raises Broken unless `holds`."""
    if not holds:
        raise Broken(broken)


@dataclass(frozen=True)
class Attack:
    """A guarantee and its random trials.

    `trial` draws one case from the given generator, tests it, and returns counts of what it tested by name
    (``{"machines": 1, "balls": 8}``). It raises Broken if the guarantee is violated; any other exception also counts
    as a violation, since all failures are guaranteed to be clear errors.
    """

    name: str
    guarantee: str
    trial: Callable[[np.random.Generator], Mapping[str, int]]


@dataclass
class Tally:
    """Result of one attack: what it tested and which guarantees were violated."""

    attack: Attack
    trials: int = 0
    tried: Counter = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        tried = ", ".join(f"{count:,} {name}" for name, count in self.tried.items())
        return f"{self.attack.name}: {tried or 'nothing tried'}; {len(self.broken)} broken ({self.seconds:.0f} s)"


def generator(attack: Attack, seed: int, trial: int) -> np.random.Generator:
    """Returns the generator of one trial, a function of (seed, attack, trial) only."""
    return np.random.default_rng([seed, *attack.name.encode(), trial])


def run(attack: Attack, seed: int, trials: range, seconds: float) -> Tally:
    """Runs trials sequentially until `trials` are done or `seconds` have passed."""
    tally = Tally(attack)
    begin = time.monotonic()
    for trial in trials:
        if time.monotonic() - begin > seconds:
            break
        tally.trials += 1
        try:
            tally.tried.update(attack.trial(generator(attack, seed, trial)))
        except Broken as broken:
            tally.broken.append(f"{broken}\n    reproduce: make attack ONLY={attack.name} SEED={seed} TRIAL={trial}")
        except Exception:
            tally.broken.append(
                f"{traceback.format_exc()}    reproduce: make attack ONLY={attack.name} SEED={seed} TRIAL={trial}"
            )
    tally.seconds = time.monotonic() - begin
    return tally
