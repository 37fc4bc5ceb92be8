"""The threads of OpenMP do not survive a fork: a child that used them again would deadlock."""

from __future__ import annotations

import os

from widelimit._core import InputError

_started = False
_lost = False


def usable(threads: int | None) -> int | None:
    """threads, or 1 in a child forked from a process that has computed; the result does not depend on it."""
    global _started
    if not _lost:
        _started = True
        return threads
    if threads not in (None, 1):
        raise InputError(
            f"threads = {threads} in a process forked after its parent had computed; use one thread, "
            "or start processes with multiprocessing's method 'spawn'"
        )
    return 1


def _after_fork() -> None:
    global _lost
    _lost = _started


os.register_at_fork(after_in_child=_after_fork)
