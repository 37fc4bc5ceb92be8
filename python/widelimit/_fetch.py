"""Download of public data sets."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from widelimit import _core


class FetchedFile(NamedTuple):
    """A file of a downloaded data set."""

    spec: str
    """The data set of the file: 'mnist', 'uci:iris'."""
    path: Path
    bytes: int
    fetched: bool
    """False if the file already existed."""


def fetch_data(
    *names: str | Iterable[str],
    mirror: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    stall: float | None = None,
    retries: int | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> list[FetchedFile]:
    """Downloads data sets into the user cache, where load_data finds them, and returns the files.

    names: 'mnist', 'cifar10', 'uci' (all 90 tables) or 'uci:NAME'. The SHA-256 checksum of every file is verified
    before it is moved into place. An interrupted download resumes at the next call; valid existing files are kept.

    mirror: a URL used instead of the public ones, with the directory layout of the cache
    (MIRROR/mnist/train-images-idx3-ubyte.gz); folder: a data folder used instead of the cache, which load_data finds
    if $WIDELIMIT_DATA is set to it; force: download again and replace; stall: seconds without data before a transfer is
    aborted (30); retries: attempts after the first (4); progress: called with the bytes received and the total, or
    False for none; default: a progress line on standard error if that is a terminal.

    Raises InputError for an unknown name, an unreachable server or a wrong checksum, and ResourceError if the disk is
    full.

    >>> import widelimit as wl
    >>> wl.fetch_data("mnits")
    Traceback (most recent call last):
    ...
    widelimit.InputError: 'mnits' cannot be fetched; there are mnist, cifar10, uci (all 90 tables) and uci:NAME
    """
    shown = sys.stderr.isatty() if progress is None else progress
    line = _ProgressLine() if shown is True else None
    report = line if line is not None else (progress if callable(progress) else None)
    requested = [name for part in names for name in ([part] if isinstance(part, str) else part)]
    place = None if folder is None else os.fspath(folder)
    try:
        files = _core.fetch(requested, mirror, place, force, stall, retries, report)
    finally:
        if line is not None:
            line.clear()
    return [FetchedFile(spec, Path(path), size, fetched) for spec, path, size, fetched in files]


class _ProgressLine:
    """Progress line on standard error, redrawn in place."""

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

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
