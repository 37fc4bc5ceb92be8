"""Random trials of a promise: each draws from its own seed, so that one that breaks it can be run again by itself."""

from __future__ import annotations

import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np


class Broken(Exception):
    """What the program did against its promise, in one sentence with the numbers that show it."""


def require(holds: bool, broken: str) -> None:
    """Raises Broken unless `holds`."""
    if not holds:
        raise Broken(broken)


@dataclass(frozen=True)
class Attack:
    """One promise under attack.

    `trial` draws one case from the generator it is given, tries it, and returns what it tried, counted by name
    (``{"machines": 1, "balls": 8}``). It raises Broken where the promise does not hold; any other exception counts
    as broken too, since a program that promises clear errors has promised not to fail in another way.
    """

    name: str
    promise: str
    trial: Callable[[np.random.Generator], Mapping[str, int]]


@dataclass
class Tally:
    """What one attack tried and what it broke."""

    attack: Attack
    trials: int = 0
    tried: Counter = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def __str__(self) -> str:
        tried = ", ".join(f"{count:,} {name}" for name, count in self.tried.items())
        return f"{self.attack.name}: {tried or 'nothing tried'}; {len(self.broken)} broken ({self.seconds:.0f} s)"


def generator(attack: Attack, seed: int, trial: int) -> np.random.Generator:
    """The generator of one trial, a function of (seed, attack, trial) alone."""
    return np.random.default_rng([seed, *attack.name.encode(), trial])


def run(attack: Attack, seed: int, trials: range, seconds: float) -> Tally:
    """Trials one after the other until `trials` are done or `seconds` have passed."""
    tally = Tally(attack)
    begin = time.monotonic()
    for trial in trials:
        if time.monotonic() - begin > seconds:
            break
        tally.trials += 1
        try:
            tally.tried.update(attack.trial(generator(attack, seed, trial)))
        except Broken as broken:
            tally.broken.append(f"{broken}\n    again: make attack ONLY={attack.name} SEED={seed} TRIAL={trial}")
        except Exception:
            tally.broken.append(
                f"{traceback.format_exc()}    again: make attack ONLY={attack.name} SEED={seed} TRIAL={trial}"
            )
    tally.seconds = time.monotonic() - begin
    return tally
