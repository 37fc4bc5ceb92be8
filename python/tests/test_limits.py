"""Resource use: address space, threads, memory limits of reading."""

import gzip
import resource
import struct
import subprocess
import sys
import zipfile

import h5py
import numpy as np
import pytest

import widelimit as wl


def limited(code: str, mebibytes: int) -> subprocess.CompletedProcess[str]:
    """Runs `code` with limited address space; the timeout catches OpenBLAS retrying an allocation forever."""
    size = mebibytes << 20

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))

    return subprocess.run(
        [sys.executable, "-c", code], preexec_fn=limit, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("mebibytes", [400, 600, 4000])
def test_import_needs_no_blas(mebibytes):
    run = limited("import widelimit as wl; print(wl.Network('fc:1'))", mebibytes)
    assert run.returncode == 0, run.stderr
    assert "dense" in run.stdout


def test_a_product_without_address_space_is_a_resource_error():
    code = """
import numpy as np, widelimit as wl
x = np.ones((300, 5)) + np.arange(300)[:, None]
try:
    wl.kernel("fc:1", x, threads=8)
except wl.ResourceError as error:
    print(error)
"""
    run = limited(code, 700)
    assert run.returncode == 0, run.stderr
    assert "address space" in run.stdout or "threads" in run.stdout


def test_threads_of_ones_own_share_the_buffers():
    """All Python threads can call concurrently, each with its own OpenMP team."""
    code = """
import concurrent.futures, numpy as np, widelimit as wl
x = np.random.default_rng(0).normal(size=(400, 7))
whole = wl.kernel("fc:2", x)
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    for part in pool.map(lambda _: wl.kernel("fc:2", x, threads=2), range(16)):
        assert np.array_equal(whole, part)
"""
    assert limited(code, 8000).returncode == 0


def test_memory_bounds_reading(tmp_path):
    path = tmp_path / "zeros.npz"
    np.savez_compressed(path, x=np.zeros((3000, 3000)))
    assert path.stat().st_size < 100_000
    with pytest.raises(wl.ResourceError, match="the limit is 10 MiB"):
        wl.load_data(path, memory="10MiB")
    assert wl.load_data(path, memory="200MiB").x.shape == (3000, 3000)
    table = tmp_path / "zeros.csv.gz"
    with gzip.open(table, "wb") as file:
        file.write(b"0,0,1\n" * 1_000_000)
    with pytest.raises(wl.ResourceError, match="needs about"):
        wl.load_data(table, memory=1 << 20)
    with pytest.raises(wl.InputError, match="memory"):
        wl.load_data(table, memory="much")


def test_64_bit_zip_fields(tmp_path):
    """Rewrites an npz with zip64 sizes, although the sizes fit in 32 bits."""
    path = tmp_path / "a.npz"
    np.savez(path, x=np.arange(12.0).reshape(4, 3))
    old = path.read_bytes()
    end = old.rindex(b"PK\x05\x06")
    count, size, place = struct.unpack("<HII", old[end + 10 : end + 20])
    directory = old[place : place + size]
    # The directory entry refers to its extra field for sizes and offset.
    packed, unpacked = struct.unpack("<II", directory[20:28])
    names = struct.unpack("<H", directory[28:30])[0]
    wide = struct.pack("<HHQQQ", 1, 24, unpacked, packed, 0)
    entry = (
        directory[:20]
        + b"\xff" * 8
        + struct.pack("<HH", names, len(wide))
        + directory[32:42]
        + b"\xff" * 4
        + directory[46 : 46 + names]
        + wide
    )
    new = old[:place] + entry
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count, count, len(entry), place)
    locator = struct.pack("<IIQI", 0x07064B50, 0, len(new), 1)
    last = struct.pack("<IHHHHIIH", 0x06054B50, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    path.write_bytes(new + end64 + locator + last)
    assert zipfile.ZipFile(path).testzip() is None
    assert np.array_equal(wl.load_data(path).x, np.arange(12.0).reshape(4, 3))


@pytest.mark.parametrize("how", [{}, {"chunks": (700, 9, 13)}])
def test_large_hdf5_arrays_are_read_in_pieces(tmp_path, how):
    x = np.random.default_rng(3).integers(0, 100, size=(9001, 31, 37)).astype(np.float32)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=x, **how)
    assert np.array_equal(wl.load_data(tmp_path / "a.h5").x[..., 0], x)


def test_reading_hears_control_c(tmp_path):
    table = tmp_path / "a.csv"
    table.write_bytes(b"0.123456789,0.987654321,1\n" * 6_000_000)
    code = f"""
import os, signal, sys, threading, time
import widelimit as wl
sent = []
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.3, interrupt).start()
try:
    wl.load_data({str(table)!r})
except KeyboardInterrupt:
    print(time.monotonic() - sent[0])
    sys.exit(0)
sys.exit("not interrupted")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < 5  # seconds; generous for a loaded machine
