"""Runs the program and the package in child processes with limits, and checks how they end."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from campaign import require

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "bin" / "widelimit"

MEBIBYTE = 1 << 20
ENDINGS = (0, 2, 3, 4, 5)
"""Success; usage error; invalid input; numerical failure; out of memory or disk."""


@dataclass(frozen=True)
class Limits:
    """Limits of a child. `seconds` is a generous wall-clock timeout."""

    address_space: int | None = None
    file_size: int | None = None
    seconds: float = 60.0

    def apply(self) -> None:
        """Called between fork and exec."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self.address_space, self.address_space))
        if self.file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_size, self.file_size))


@dataclass(frozen=True)
class Ending:
    """How a child ended: `status` is negative if a signal killed it."""

    words: tuple[str, ...]
    status: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"`widelimit {' '.join(self.words)}` ended with {self.status}: {self.err.strip()[:300]}"


def _finish(process: subprocess.Popen[bytes], words: Sequence[str], seconds: float) -> Ending:
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        require(False, f"`widelimit {' '.join(words)}` did not end within {seconds:.0f} s")
    text = (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace")
    return Ending(tuple(words), process.returncode, *text)


FREE = Limits()


def start(words: Sequence[str], folder: Path, limits: Limits = FREE, **streams: object) -> subprocess.Popen[bytes]:
    """Starts the program in `folder`, with the caches and data of that folder only."""
    surroundings = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "WIDELIMIT_DATA": str(folder)}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.Popen(
        [str(PROGRAM), *words], cwd=folder, env=surroundings, preexec_fn=limits.apply, **streams
    )


def run(words: Sequence[str], folder: Path, limits: Limits = FREE, **streams: object) -> Ending:
    """Runs the program to completion."""
    return _finish(start(words, folder, limits, **streams), words, limits.seconds)


def interrupted(words: Sequence[str], folder: Path, number: int, after: float) -> Ending:
    """Runs the program and sends a signal after some time, unless it has ended before."""
    process = start(words, folder)
    time.sleep(after)
    process.send_signal(number)
    return _finish(process, words, FREE.seconds)


def run_python(code: str, arguments: Sequence[str], folder: Path, limits: Limits) -> Ending:
    """Runs the package to completion."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limits.apply,
    )
    return _finish(process, ("(python)", *arguments), limits.seconds)


def require_clear(ending: Ending, what: str) -> None:
    """Requires a documented status, and exactly one error message if it is not 0."""
    name = signal.Signals(-ending.status).name if ending.status < 0 else ending.status
    require(ending.status in ENDINGS, f"{what}: {name}: {ending}")
    if ending.status != 0:
        lines = [line for line in ending.err.splitlines() if line.startswith("widelimit: error: ")]
        require(len(lines) == 1, f"{what}: {len(lines)} messages: {ending}")
    require("Traceback" not in ending.err, f"{what}: a stack trace: {ending}")
