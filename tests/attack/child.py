"""The program and the package in child processes with limits, and what every ending must be like."""

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
"""Done; usage; bad file; a numerical ending; not enough memory or disk."""


@dataclass(frozen=True)
class Limits:
    """Limits of a child. `seconds` is wall-clock time, more than any of these runs needs."""

    address_space: int | None = None
    file_size: int | None = None
    seconds: float = 60.0

    def apply(self) -> None:
        """Between fork and exec."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if self.address_space is not None:
            resource.setrlimit(resource.RLIMIT_AS, (self.address_space, self.address_space))
        if self.file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_size, self.file_size))


@dataclass(frozen=True)
class Ending:
    """How a child ended: `status` is negative where a signal did it."""

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
    """The program in `folder`; only caches and data of that folder are read."""
    surroundings = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "WIDELIMIT_DATA": str(folder)}
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.Popen(
        [str(PROGRAM), *words], cwd=folder, env=surroundings, preexec_fn=limits.apply, **streams
    )


def run(words: Sequence[str], folder: Path, limits: Limits = FREE, **streams: object) -> Ending:
    """The program to its end."""
    return _finish(start(words, folder, limits, **streams), words, limits.seconds)


def interrupted(words: Sequence[str], folder: Path, number: int, after: float) -> Ending:
    """The program with a signal some time after its start, unless it has ended before."""
    process = start(words, folder)
    time.sleep(after)
    process.send_signal(number)
    return _finish(process, words, FREE.seconds)


def run_python(code: str, arguments: Sequence[str], folder: Path, limits: Limits) -> Ending:
    """The package to its end."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limits.apply,
    )
    return _finish(process, ("(python)", *arguments), limits.seconds)


def require_clear(ending: Ending, what: str) -> None:
    """One of the statuses, and one message where it is not 0."""
    name = signal.Signals(-ending.status).name if ending.status < 0 else ending.status
    require(ending.status in ENDINGS, f"{what}: {name}: {ending}")
    if ending.status != 0:
        lines = [line for line in ending.err.splitlines() if line.startswith("widelimit: error: ")]
        require(len(lines) == 1, f"{what}: {len(lines)} messages: {ending}")
    require("Traceback" not in ending.err, f"{what}: a stack trace: {ending}")
