"""Data sets downloaded from their public addresses."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from widelimit import _core


class FetchedFile(NamedTuple):
    """A file of a data set that is in place."""

    spec: str
    """The set it belongs to: 'mnist', 'uci:iris'."""
    path: Path
    bytes: int
    fetched: bool
    """False where it was there already."""


def fetch_data(
    *names: str | Iterable[str],
    mirror: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    stall: float | None = None,
    retries: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> list[FetchedFile]:
    """Downloads data sets into the user's cache, where load_data finds them; returns the files.

    names: 'mnist', 'cifar10', 'uci' (all 90 tables) or 'uci:NAME'. Every file is compared with its SHA-256 before it
    gets its name. A download that broke or was stopped by Ctrl-C goes on where it ended when it is called again; files
    that are there and right are left alone.

    mirror: an address in place of the public ones, with the files where the cache has them
    (MIRROR/mnist/train-images-idx3-ubyte.gz); folder: a data folder to fill in place of the cache, for which
    $WIDELIMIT_DATA must be set; force: fetch again and replace; stall: seconds without data after which a transfer is
    given up (30); retries: attempts after the first (4); progress: called with bytes that came and bytes in all, or
    False for none, else a line on standard error where that is a terminal.

    InputError: an unknown name, a server that cannot be reached, or a file that is not the right one. ResourceError: a
    full disk.

    >>> import widelimit as wl
    >>> wl.fetch_data("mnits")
    Traceback (most recent call last):
    ...
    widelimit.InputError: 'mnits' cannot be fetched; there are mnist, cifar10, uci (all 90 tables) and uci:NAME
    """
    shown = sys.stderr.isatty() if progress is None else progress
    line = _ProgressLine() if shown is True else None
    report = line if line is not None else (progress if callable(progress) else None)
    wanted = [name for part in names for name in ([part] if isinstance(part, str) else part)]
    place = None if folder is None else os.fspath(folder)
    try:
        files = _core.fetch(wanted, mirror, place, force, stall, retries, report)
    finally:
        if line is not None:
            line.wipe()
    return [FetchedFile(spec, Path(path), size, fetched) for spec, path, size, fetched in files]


class _ProgressLine:
    """A line on standard error, redrawn in place."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        seconds = time.monotonic() - self._start
        if done <= 0 or seconds < 0.3:
            return
        left = (total - done) * seconds / done
        text = f"{100 * done / total:3.0f} %  {done / 1e6:.1f} of {total / 1e6:.1f} MB  {left:.0f} s left"
        sys.stderr.write(f"\r{text}\x1b[K")
        sys.stderr.flush()
        self._drawn = True

    def wipe(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
