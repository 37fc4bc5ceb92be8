"""Hostile files: for any content, the program ends clearly, within limits, and without wrong checksummed values."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import child
import hostile
import numpy as np
from campaign import Attack, require
from hostile import Target

MEMORY = 64 * child.MEBIBYTE
# The program and its libraries take 70 MiB; OpenBLAS takes some hundred more if products are computed.
READING = child.Limits(address_space=MEMORY + 250 * child.MEBIBYTE)
WORKING = child.Limits(address_space=2048 * child.MEBIBYTE)
PACKAGE = child.Limits(address_space=4096 * child.MEBIBYTE)

LOADING = """
import sys, numpy as np, widelimit as wl
for word in sys.argv[1:]:
    how, path = word.split(":", 1)
    try:
        found = getattr(wl, how)(path, **({"memory": "64MiB"} if how == "load_data" else {}))
        if how == "load_data":
            assert np.isfinite(found.x).all()
        print("read")
    except (wl.InputError, wl.NumericalError, wl.ResourceError) as error:
        assert str(error).strip()
        print("refused")
"""


def _lay_out(folder: Path, target: Target, contents: bytes) -> None:
    for name, text in (*target.beside, (target.name, contents)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)


def _results(ending: child.Ending) -> object:
    """Returns the results of a run, without values that differ between runs."""
    record = json.loads(ending.out)["results"]
    record.pop("seconds", None)
    return record


@cache
def _sound_results(target: Target) -> object:
    with tempfile.TemporaryDirectory(prefix="widelimit-attack-") as name:
        _lay_out(Path(name), target, target.contents)
        ending = child.run((*target.command, "--json", "--quiet"), Path(name))
        require(ending.status == 0, f"a valid file is rejected: {ending}")
        return _results(ending)


def _try_program(target: Target, contents: bytes, spoilt_by: str, folder: Path) -> int:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    _lay_out(folder, target, contents)
    reads_only = target.command[:2] in (("data", "show"), ("network", "show"))
    command = [*target.command, "--json", "--quiet"]
    command += ["--memory", "64MiB"] if reads_only else []
    ending = child.run(command, folder, READING if reads_only else WORKING)
    what = f"{target.name} after {spoilt_by}"
    child.require_clear(ending, what)
    # If the internal memory limit is respected, the system limit is never reached.
    require("out of memory" not in ending.err, f"{what}: memory limit exceeded: {ending}")
    if ending.status == 0 and target.checked and spoilt_by in ("flip_bits", "cut"):
        require(_results(ending) == _sound_results(target), f"{what}: values differ although the checksum is valid")
    return ending.status


def _try_package(files: list[tuple[str, Path]], folder: Path) -> None:
    words = [f"{how}:{path}" for how, path in files]
    ending = child.run_python(LOADING, words, folder, PACKAGE)
    told = len(ending.out.split())
    require(ending.status == 0, f"the package ended with {ending.status} after {told} files: {ending}")
    require(told == len(words), f"the package read fewer files than it was given: {ending}")


def _special(random: np.random.Generator, folder: Path) -> None:
    """Cyclic and dangling links, pipes, folders and devices in place of a file."""
    folder.mkdir(exist_ok=True)
    name = ["a.csv", "a.npy", "a.npz", "a.h5", "a.libsvm", "g.txt"][int(random.integers(6))]
    path = folder / name
    kind = int(random.integers(5))
    if kind == 0:
        path.symlink_to(name)
    elif kind == 1:
        path.symlink_to("absent")
    elif kind == 2:
        os.mkfifo(path)
    elif kind == 3:
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    ending = child.run(("data", "show", name), folder, READING)
    child.require_clear(ending, f"{name} of kind {kind}")
    require(ending.status == 3, f"{name}, not a regular file (kind {kind}), was read: {ending}")


def trial(random: np.random.Generator) -> Mapping[str, int]:
    tried: Counter[str] = Counter()
    every = hostile.targets()
    folder = Path(tempfile.mkdtemp(prefix="widelimit-attack-"))
    try:
        package: list[tuple[str, Path]] = []
        for k in range(8):
            target = every[int(random.integers(len(every)))]
            spoil = hostile.SPOILERS[int(random.integers(len(hostile.SPOILERS)))]
            contents = spoil(target.contents, random)
            status = _try_program(target, contents, spoil.__name__, folder / "program")
            tried["files"] += 1
            tried["refused" if status else "read"] += 1
            if target.python is not None:
                path = folder / str(k) / Path(target.name).name
                path.parent.mkdir()
                path.write_bytes(contents)
                package.append((target.python, path))
        if random.integers(4) == 0:
            bomb = hostile.bombs()[int(random.integers(len(hostile.bombs())))]
            status = _try_program(bomb, bomb.contents, "nothing", folder / "program")
            # More than the bytes of a file can hold is damage, as is a column index beyond the maximum.
            refused = (3, 5) if bomb.name in ("claimed.h5", "index.libsvm") else (5,)
            require(status in refused, f"{bomb.name} exceeds the memory limit and ended with {status}")
            path = folder / bomb.name
            path.write_bytes(bomb.contents)
            package.append((bomb.python or "", path))
            tried["bombs"] += 1
        if random.integers(4) == 0:
            _special(random, folder / "special")
            tried["special files"] += 1
        if package and random.integers(3) == 0:
            _try_package(package, folder)
            tried["files by the package"] += len(package)
    finally:
        shutil.rmtree(folder)
    return tried


ATTACK = Attack(
    "files",
    "for any file content: status 0 to 5, one message, memory within its limit, no wrong checksummed value",
    trial,
)
