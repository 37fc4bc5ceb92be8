"""Protection against fork: OpenMP threads do not survive a fork, and a child that uses them would deadlock."""

from __future__ import annotations

import os

from widelimit._core import InputError

_used = False
_forked_after_use = False


def usable(threads: int | None) -> int | None:
    """Returns threads, or 1 in a child forked after a computation; the result does not depend on it."""
    global _used
    if not _forked_after_use:
        _used = True
        return threads
    if threads not in (None, 1):
        raise InputError(
            f"threads = {threads} in a process forked after a computation of its parent; use one thread, "
            "or the start method 'spawn' of multiprocessing"
        )
    return 1


def _after_fork() -> None:
    global _forked_after_use
    _forked_after_use = _used


os.register_at_fork(after_in_child=_after_fork)
