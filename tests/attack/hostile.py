"""Files for attacks: valid files of every format, and ways to corrupt them."""

from __future__ import annotations

import gzip
import io
import lzma
import shutil
import struct
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import child
import h5py
import numpy as np

SEEDS = child.ROOT / "tests" / "fuzz" / "seeds"


@dataclass(frozen=True)
class Target:
    """A valid file, and the command that reads it, run in a folder that also contains `beside`."""

    name: str
    contents: bytes
    command: tuple[str, ...]
    beside: tuple[tuple[str, bytes], ...] = ()
    checked: bool = False
    """A checksum covers everything that determines the result."""
    python: str | None = None
    """Function of the package that reads the file."""


def _npz(compressed: bool, **arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


def _hdf5(x: np.ndarray, y: np.ndarray, **how: object) -> bytes:
    file = io.BytesIO()
    with h5py.File(file, "w", libver="latest" if how else None) as h:
        h.create_dataset("x", data=x, **how)
        h.create_dataset("y", data=y, **({"chunks": (5,), "fletcher32": True} if how else {}))
    return file.getvalue()


def _idx(array: np.ndarray) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.astype("u1").tobytes()


def _tar(mode: str, members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:
        for name, contents in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(contents)
            archive.addfile(entry, io.BytesIO(contents))
    return file.getvalue()


def _data_targets() -> list[Target]:
    random = np.random.default_rng(11)
    x = random.normal(size=(12, 3))
    y = np.arange(12) % 2
    rows = "".join(",".join(f"{v:.5g}" for v in row) + f",{c}\n" for row, c in zip(x, y, strict=True)).encode()
    sparse = "".join(f"{c} 1:{r[0]:.4g} 3:{r[2]:.4g}\n" for r, c in zip(x, y, strict=True)).encode()
    npy = io.BytesIO()
    np.save(npy, x)
    graphs = (SEEDS / "graph" / "two.txt").read_bytes()

    def shown(name: str, contents: bytes, checked: bool = False) -> Target:
        return Target(name, contents, ("data", "show", name), checked=checked, python="load_data")

    targets = [
        shown("a.csv", rows),
        shown("a.csv.gz", gzip.compress(rows), checked=True),
        shown("xz.csv", lzma.compress(rows), checked=True),
        shown("a.tsv", rows.replace(b",", b"\t")),
        shown("a.libsvm", sparse),
        shown("a.libsvm.gz", gzip.compress(sparse), checked=True),
        shown("a.npy", npy.getvalue()),
        shown("a.npy.gz", gzip.compress(npy.getvalue()), checked=True),
        shown("a.npz", _npz(False, x=x, y=y), checked=True),
        shown("deflated.npz", _npz(True, x=x, y=y), checked=True),
        shown("a.h5", _hdf5(x, y)),
        shown("summed.h5", _hdf5(x, y, chunks=(4, 3), compression="gzip", fletcher32=True), checked=True),
        Target("g.txt", graphs, ("data", "show", "g.txt")),
        Target("g.txt.gz", gzip.compress(graphs), ("data", "show", "g.txt.gz"), checked=True),
    ]
    images = random.integers(0, 255, size=(5, 4, 4))
    labels = ("mnist/train-labels-idx1-ubyte", _idx(np.arange(5) % 3))
    for name, packed in (("", _idx(images)), (".gz", gzip.compress(_idx(images)))):
        targets.append(
            Target(
                f"mnist/train-images-idx3-ubyte{name}",
                packed,
                ("data", "show", "mnist:train"),
                beside=(labels,),
                checked=name == ".gz",
            )
        )
    records = np.concatenate([np.array([[k % 10] for k in range(3)]), random.integers(0, 255, size=(3, 3072))], axis=1)
    targets.append(
        Target("cifar10/test_batch.bin", records.astype("u1").tobytes(), ("data", "show", "cifar10:test"))
    )
    table = _tar("w:xz", {"uci/one.csv": rows, "uci/two.csv": rows})
    targets.append(Target("uci/uci.tar.xz", table, ("data", "show", "uci:one"), checked=True))
    for folder in ("csv", "libsvm", "npy", "npz", "hdf5"):
        ending = {"hdf5": ".h5", "libsvm": ".libsvm"}.get(folder, f".{folder}")
        for seed in sorted((SEEDS / folder).iterdir()):
            targets.append(shown(f"seed-{seed.stem}{ending}", seed.read_bytes()))
    return targets


def _network_targets() -> list[Target]:
    texts = {
        "net.json": b'[["dense", {"w_std": 1.4}], ["relu"], ["dense"]]',
        "net.txt": b"repeat(3){ dense(w_std=1.4) relu } dense",
    }
    texts |= {f"seed-{seed.name}.txt": seed.read_bytes() for seed in sorted((SEEDS / "network").iterdir())}
    return [Target(name, text, ("network", "show", f"./{name}")) for name, text in texts.items()]


def _made_targets(folder: Path) -> list[Target]:
    """Files written by the program: models, trained networks, Gram matrices, and an incomplete Gram matrix."""
    spirals = ("--network", "fc:1", "--train", "spirals(n=30)")

    def made(*words: str) -> None:
        ending = child.run(words, folder)
        assert ending.status == 0, ending

    made("fit", *spirals, "--machine", "ridge", "--out", "model.h5")
    made("train", *spirals, "--width", "8", "--steps", "3", "--rate", "0.1", "--loss", "squared", "--out", "net.h5")
    made("kernel", *spirals, "--out", "k.h5")
    work = ("kernel", "--network", "fc:9", "--train", "spirals(n=1500)", "--backend", "reference", "--out", "big.h5")
    child.interrupted(work, folder, 15, 1.5)
    read = {name: (folder / name).read_bytes() for name in ("model.h5", "net.h5", "k.h5")}
    part, journal = (folder / "big.h5.part").read_bytes(), (folder / "big.h5.journal").read_bytes()
    predict = ("predict", "--test", "spirals(n=5)", "--model")
    fit = ("fit", *spirals, "--machine", "ridge", "--gram", "k.h5", "--out", "m.h5")
    # Belongs to another computation, so that the command ends immediately even if the file is valid.
    resume = ("kernel", "--network", "fc:9", "--train", "spirals(n=40)", "--out", "big.h5", "--resume")
    return [
        Target("model.h5", read["model.h5"], (*predict, "model.h5"), checked=True, python="load_model"),
        Target("net.h5", read["net.h5"], (*predict, "net.h5"), checked=True, python="load_network"),
        Target("k.h5", read["k.h5"], fit, python="open_gram"),
        Target("big.h5.journal", journal, resume, beside=(("big.h5.part", part[:5000]),)),
        Target("big.h5.part", part[:5000], resume, beside=(("big.h5.journal", journal),)),
    ]


@cache
def targets() -> list[Target]:
    """Returns valid files of every format, made once."""
    folder = Path(tempfile.mkdtemp(prefix="widelimit-attack-"))
    try:
        return _data_targets() + _network_targets() + _made_targets(folder)
    finally:
        shutil.rmtree(folder)


# Corruptions: each draws from the generator and returns modified bytes.


def flip_bits(contents: bytes, random: np.random.Generator) -> bytes:
    spoilt = bytearray(contents)
    for place in random.integers(0, len(spoilt), size=1 + random.geometric(0.5)):
        spoilt[place] ^= 1 << int(random.integers(8))
    return bytes(spoilt)


def cut(contents: bytes, random: np.random.Generator) -> bytes:
    return contents[: int(random.integers(len(contents)))]


def lengthen(contents: bytes, random: np.random.Generator) -> bytes:
    return contents + random.bytes(int(random.integers(1, 400)))


def noise(contents: bytes, random: np.random.Generator) -> bytes:
    return random.bytes(len(contents))


def splice(contents: bytes, random: np.random.Generator) -> bytes:
    """Joins the beginning of one file with the end of another."""
    other = targets()[int(random.integers(len(targets())))].contents
    return other[: int(random.integers(1, 200))] + contents[int(random.integers(len(contents))) :]


def claim(contents: bytes, random: np.random.Generator) -> bytes:
    """Replaces a number in the file by an extreme value."""
    value = [2**31 - 1, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1][int(random.integers(6))]
    width = [2, 4, 8][int(random.integers(3))]
    order = ["little", "big"][int(random.integers(2))]
    place = int(random.integers(max(1, len(contents) - width)))
    return contents[:place] + (value % 256**width).to_bytes(width, order) + contents[place + width :]


def words(contents: bytes, random: np.random.Generator) -> bytes:
    """Inserts text that is hard to parse at a random position."""
    texts = [b"nan", b"-inf", b"1e999", b"\n\n\n", b'"', b"\x00", b"99999999999999999999", b"2147483648:1", b"[" * 2000]
    text = texts[int(random.integers(len(texts)))]
    place = int(random.integers(len(contents) + 1))
    return contents[:place] + text + contents[place:]


def repeat(contents: bytes, random: np.random.Generator) -> bytes:
    begin, end = sorted(int(k) for k in random.integers(len(contents) + 1, size=2))
    return contents[:end] + contents[begin:end] * int(random.integers(1, 50)) + contents[end:]


SPOILERS: tuple[Callable[[bytes, np.random.Generator], bytes], ...] = (
    flip_bits,
    flip_bits,
    cut,
    lengthen,
    noise,
    splice,
    claim,
    claim,
    words,
    repeat,
)


@cache
def bombs() -> list[Target]:
    """Returns small files that decompress to large ones."""
    rows = b"0,0,0\n" * 12_000_000
    npy = io.BytesIO()
    np.save(npy, np.zeros((3000, 3000)))
    chunked = io.BytesIO()
    with h5py.File(chunked, "w") as h:
        h.create_dataset("x", data=np.zeros((3000, 3000)), chunks=(500, 500), compression="gzip")
    claimed = io.BytesIO()
    with h5py.File(claimed, "w") as h:
        h.create_dataset("x", shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    contents = {
        "bomb.csv.gz": gzip.compress(rows),
        "xz.csv": lzma.compress(rows, preset=0),
        "bomb.npy.gz": gzip.compress(npy.getvalue()),
        "bomb.npz": _npz(True, x=np.zeros((3000, 3000))),
        "bomb.h5": chunked.getvalue(),
        "claimed.h5": claimed.getvalue(),
        "bomb.libsvm": (b"1" + b"".join(b" %d:1" % k for k in (*range(1, 11), 100)) + b"\n") * 150_000,
        "index.libsvm": b"1 2147483648:1\n",
    }
    return [Target(name, text, ("data", "show", name), python="load_data") for name, text in contents.items()]
