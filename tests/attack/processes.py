"""Processes that are killed, stopped, or run with a full disk, little memory or closed streams."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import child
import numpy as np
from campaign import Attack, require

ENDING_SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _kernel(out: str) -> tuple[str, ...]:
    """Returns a command that takes some tenths of a second."""
    data = ("--train", "digits", "--split", "0.8", "--kind", "nngp,ntk", "--threads", "2", "--memory", "64MiB")
    return ("kernel", "--network", "fc:20", *data, "--out", out)


def _fit(out: str) -> tuple[str, ...]:
    return ("fit", "--network", "fc:5", "--train", "digits", "--limit", "700", "--machine", "svm", "--out", out)


@cache
def _undisturbed(make: Callable[[str], tuple[str, ...]], out: str) -> bytes:
    with tempfile.TemporaryDirectory(prefix="widelimit-attack-") as name:
        ending = child.run(make(out), Path(name))
        require(ending.status == 0, str(ending))
        return (Path(name) / out).read_bytes()


def _after_signal(ending: child.Ending, number: int) -> None:
    """Requires that the command completed, or ended as documented for the signal."""
    expected = -number if number == signal.SIGKILL else 128 + number
    # A signal before the handler is installed has the default effect.
    require(ending.status in (0, expected, -number), f"{number}: {ending}")
    if ending.status == 128 + number:
        messages = ending.err.count("widelimit: error: ")
        require(messages == 1, f"{messages} messages: {ending}")


def kill_kernel(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    """A Gram matrix that is stopped repeatedly at any time is finally the same, byte for byte."""
    whole = _undisturbed(_kernel, "k.h5")
    kills = 0
    while not (folder / "k.h5").exists() and kills < 12:
        number = ENDING_SIGNALS[int(random.integers(len(ENDING_SIGNALS)))]
        ending = child.interrupted((*_kernel("k.h5"), "--resume"), folder, number, random.uniform(0, 0.6))
        _after_signal(ending, number)
        kills += ending.status != 0
        allowed = {"k.h5", "k.h5.part", "k.h5.journal"}
        require(set(_names(folder)) <= allowed, f"after {number}: {_names(folder)}")
    ending = child.run((*_kernel("k.h5"), "--resume"), folder)
    require(ending.status == 0, str(ending))
    require((folder / "k.h5").read_bytes() == whole, f"after {kills} signals the file differs")
    require(_names(folder) == ["k.h5"], f"left behind: {_names(folder)}")
    return {"signals to kernel": kills}


def kill_fit(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    """A model is complete or absent, and only a killed process leaves its own temporary file behind."""
    whole = _undisturbed(_fit, "m.h5")
    number = ENDING_SIGNALS[int(random.integers(len(ENDING_SIGNALS)))]
    ending = child.interrupted(_fit("m.h5"), folder, number, random.uniform(0, 0.7))
    _after_signal(ending, number)
    found = _names(folder)
    others = [name for name in found if name != "m.h5" and ".part-" not in name]
    require(not others, f"left behind: {found}")
    require(number == signal.SIGKILL or set(found) <= {"m.h5"}, f"left behind by {number}: {found}")
    if "m.h5" in found:
        require((folder / "m.h5").read_bytes() == whole, "a model that is not complete")
    ending = child.run(_fit("m.h5"), folder)
    require(ending.status == 0 and (folder / "m.h5").read_bytes() == whole, f"the model differs afterwards: {ending}")
    return {"signals to fit": 1}


def kill_tune(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    number = ENDING_SIGNALS[int(random.integers(1, len(ENDING_SIGNALS)))]
    words = ("tune", "--network", "fc:3", "--train", "digits", "--limit", "600", "--machine", "svm", "--folds", "5")
    ending = child.interrupted(words, folder, number, random.uniform(0, 0.7))
    _after_signal(ending, number)
    require(not _names(folder), f"left behind: {_names(folder)}")
    return {"signals to tune": 1}


def fill_disk(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    """File size limits: status 5, no partial file, and computations resume."""
    make, out = ((_kernel, "k.h5"), (_fit, "m.h5"))[int(random.integers(2))]
    whole = _undisturbed(make, out)
    limits = child.Limits(file_size=int(random.integers(0, len(whole) + 4096)))
    ending = child.run(make(out), folder, limits)
    child.require_clear(ending, f"files of {limits.file_size} bytes at most")
    require(ending.status in (0, 5), str(ending))
    if ending.status != 0:
        require(out not in _names(folder), "a partial file")
        require("space" in ending.err or "large" in ending.err, f"another reason is given: {ending}")
    words = (*make(out), "--resume") if make is _kernel else make(out)
    ending = child.run(words, folder)
    require(ending.status == 0 and (folder / out).read_bytes() == whole, f"the file differs afterwards: {ending}")
    require(_names(folder) == [out], f"left behind: {_names(folder)}")
    return {"full disks": 1}


def take_address_space(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    """Limited address space: completes, or fails with status 5; never hangs."""
    verbs = (
        ("--version",),
        ("doctor",),
        ("data", "list"),
        ("data", "show", "digits"),
        ("network", "show", "fc:3"),
        ("kernel", "--network", "fc:1", "--train", "digits", "--limit", "300", "--out", "k.npz"),
        ("kernel", "--network", "fc:1", "--train", "digits", "--limit", "300", "--out", "k.h5"),
        ("fit", "--network", "fc:1", "--train", "digits", "--limit", "300", "--machine", "ridge", "--out", "m.h5"),
        ("fit", "--network", "fc:1", "--train", "digits", "--limit", "300", "--machine", "logistic", "--out", "m.h5"),
        ("tune", "--network", "fc:1", "--train", "digits", "--limit", "300", "--machine", "ridge"),
    )
    words = verbs[int(random.integers(len(verbs)))]
    # Below 80 MiB the libraries cannot be loaded.
    space = int(random.uniform(90, 1500)) * child.MEBIBYTE
    threads = ("--threads", str(int(random.integers(1, 12)))) if len(words) > 1 else ()
    ending = child.run((*words, *threads), folder, child.Limits(address_space=space, seconds=30))
    child.require_clear(ending, f"{space >> 20} MiB of address space")
    require(ending.status in (0, 5), f"{space >> 20} MiB of address space: {ending}")
    if words[0] in ("--version", "doctor", "data", "network"):
        require(ending.status == 0, f"{space >> 20} MiB of address space: {ending}")
    return {"small address spaces": 1}


def close_streams(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    """Closed or unread streams: results on disk are complete nevertheless."""
    whole = _undisturbed(_fit, "m.h5")
    full = os.open("/dev/full", os.O_WRONLY)
    reader, pipe = os.pipe()
    os.close(reader)
    try:
        choices: list[object] = [subprocess.PIPE, full, pipe, "closed"]
        out, err = (choices[int(k)] for k in random.integers(len(choices), size=2))
        shut = [number for number, stream in ((1, out), (2, err)) if stream == "closed"]
        streams = {
            name: subprocess.DEVNULL if stream == "closed" else stream
            for name, stream in (("stdout", out), ("stderr", err))
        }

        class Closed(child.Limits):
            def apply(self) -> None:
                super().apply()
                for number in shut:
                    os.close(number)

        ending = child.run(_fit("m.h5"), folder, Closed(), **streams)
    finally:
        os.close(full)
        os.close(pipe)
    expected = 0 if out is subprocess.PIPE else 5
    require(ending.status == expected, f"standard output {out}, standard error {err}: {ending}")
    require((folder / "m.h5").read_bytes() == whole, "the model differs")
    require(_names(folder) == ["m.h5"], f"left behind: {_names(folder)}")
    return {"closed streams": 1}


def plant_links(random: np.random.Generator, folder: Path) -> Mapping[str, int]:
    """Links planted under predictable names: nothing is written through them."""
    beside = ("k.h5.part", "k.h5.journal")[int(random.integers(2))]
    victim = folder / "victim"
    victim.write_bytes(b"precious")
    plant = (os.symlink, os.link)[int(random.integers(2))]
    plant(victim, folder / beside)
    resume = ("--resume",) if random.integers(2) else ("--force",)
    words = ("kernel", "--network", "fc:1", "--train", "spirals", "--limit", "30", "--out", "k.h5", *resume)
    ending = child.run(words, folder)
    child.require_clear(ending, f"a link {beside}")
    require(ending.status == 5, f"a link {beside} was followed: {ending}")
    require(victim.read_bytes() == b"precious", f"written through {beside}")
    return {"planted links": 1}


SCENES = (
    kill_kernel,
    kill_fit,
    kill_tune,
    fill_disk,
    take_address_space,
    take_address_space,
    close_streams,
    plant_links,
)


def trial(random: np.random.Generator) -> Mapping[str, int]:
    folder = Path(tempfile.mkdtemp(prefix="widelimit-attack-"))
    try:
        return SCENES[int(random.integers(len(SCENES)))](random, folder)
    finally:
        shutil.rmtree(folder)


ATTACK = Attack(
    "processes",
    "killed, stopped, closed streams or full disk: a clear ending soon, results complete or absent, reproducible bytes",
    trial,
)
