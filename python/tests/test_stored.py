"""Stored Gram matrices have the entries of kernel() and are read in blocks."""

import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time

import h5py
import numpy as np
import pytest

import widelimit as wl

RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(600, 4))
NET = wl.Network("fc:2(b_std=0.1)")


@pytest.fixture
def stored(tmp_path):
    return wl.kernel(NET, X, out=tmp_path / "k.h5")


def test_is_the_kernel_bit_for_bit(stored):
    expected = wl.kernel(NET, X)
    assert stored.shape == (600, 600) and stored.dtype == np.float64 and len(stored) == 600
    np.testing.assert_array_equal(np.asarray(stored), expected)
    np.testing.assert_array_equal(np.asarray(stored, dtype=np.float32), expected.astype(np.float32))


@pytest.mark.parametrize(
    "index",
    [
        np.s_[3, 5],
        np.s_[-1, -600],
        np.s_[7],
        np.s_[...],
        np.s_[..., 2],
        np.s_[5, ...],
        np.s_[510:515, 500:530],
        np.s_[:3],
        np.s_[::100, 1::250],
        np.s_[10:2:-3, ::-200],
        np.s_[5:5, 3:9],
        np.s_[590:700],
        np.s_[np.int64(4), 2:5],
    ],
    ids=str,
)
def test_indexing_is_that_of_numpy(stored, index):
    found = stored[index]
    expected = wl.kernel(NET, X)[index]
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


def test_bad_indices(stored):
    for index in (600, -601, (0, 0, 0), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            stored[index]
    for index in ([1, 2], "ntk", None, 1.0):
        with pytest.raises(wl.InputError):
            stored[index]
    with pytest.raises(ValueError):
        np.array(stored, copy=False)


def test_any_reader_sees_an_ordinary_dataset(stored, tmp_path):
    with h5py.File(tmp_path / "k.h5") as file:
        assert file["ntk"].shape == (600, 600) and file["ntk"].chunks == (512, 512)
        whole = file["ntk"][...]
    np.testing.assert_array_equal(whole, wl.kernel(NET, X))
    np.testing.assert_array_equal(whole, whole.T)


def test_kinds_precision_and_blocks(tmp_path):
    both = wl.kernel(NET, X[:37], X, kind=("ntk", "nngp"), precision="f32", out=str(tmp_path / "k.h5"))
    expected = wl.kernel(NET, X[:37], X, kind=("ntk", "nngp"), precision="f32")
    assert both._fields == ("ntk", "nngp")
    for found, value in zip(both, expected, strict=True):
        assert found.shape == (37, 600) and found.dtype == np.float32
        np.testing.assert_array_equal(found[30:, 500:], value[30:, 500:])
    assert both.ntk.settings["network"] == str(NET)
    assert wl.open_gram(tmp_path / "k.h5", "nngp").names == ["nngp", "ntk"]


def test_several_networks(tmp_path):
    nets = ("fc:1", wl.Network("fc:3"))
    found = wl.kernel(nets, X[:50], out=tmp_path / "k.h5")
    assert [k.name for k in found] == ["network1/ntk", "network2/ntk"]
    for net, k in zip(nets, found, strict=True):
        np.testing.assert_array_equal(k, wl.kernel(net, X[:50]))


def test_pickle_and_text(stored):
    again = pickle.loads(pickle.dumps(stored))
    np.testing.assert_array_equal(again[3], stored[3])
    assert "600×600" in repr(stored)


def test_memory_and_resume(tmp_path):
    path = tmp_path / "k.h5"
    with pytest.raises(wl.ResourceError, match="at least"):
        wl.kernel(NET, X, out=path, memory="100KiB")
    assert list(tmp_path.iterdir()) == []
    wl.kernel(NET, X, out=path, memory=2**28)
    with pytest.raises(wl.InputError, match="precision: f64 there, f32 here"):
        wl.kernel(NET, X, out=path, precision="f32", resume=True)
    wl.kernel(NET, X, out=path, resume=True)
    wl.kernel(NET, X, out=path, precision="f32", resume=False)
    assert wl.open_gram(path).dtype == np.float32
    with pytest.raises(wl.InputError, match="out"):
        wl.kernel(NET, X, resume=True)


def test_what_cannot_be_opened(tmp_path):
    with pytest.raises(wl.InputError):
        wl.open_gram(tmp_path / "none.h5")
    (tmp_path / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(wl.InputError):
        wl.open_gram(tmp_path / "bad.h5")
    wl.kernel(NET, X[:9], out=tmp_path / "k.h5")
    with pytest.raises(wl.InputError, match="it has: ntk"):
        wl.open_gram(tmp_path / "k.h5", "nngp")


def test_interrupted_work_is_kept(tmp_path):
    script = textwrap.dedent(
        """
        import sys, numpy as np, widelimit as wl
        x = np.random.default_rng(3).normal(size=(1500, 4))
        print("ready", flush=True)
        wl.kernel("fc:9", x, backend="reference", out=sys.argv[1])
        """
    )
    path = tmp_path / "k.h5"
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.readline()
        for _ in range(600):
            if os.path.exists(f"{path}.journal") and os.path.getsize(f"{path}.journal") > 2000:
                break
            time.sleep(0.05)
        run.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in run.stderr.read()
    with pytest.raises(wl.InputError, match="resume=True"):
        wl.open_gram(path)
    with pytest.raises(wl.InputError, match="unfinished"):
        wl.kernel("fc:9", np.random.default_rng(3).normal(size=(1500, 4)), backend="reference", out=path)


def test_large_blocks_are_read_in_pieces(tmp_path):
    x = RANDOM.normal(size=(3100, 5))
    stored = wl.kernel("fc:1", x, precision="f32", out=tmp_path / "large.h5")
    expected = wl.kernel("fc:1", x, precision="f32")
    np.testing.assert_array_equal(stored[...], expected)
    np.testing.assert_array_equal(stored[37:3090, 11:3099], expected[37:3090, 11:3099])


@pytest.mark.skipif(shutil.which("widelimit") is None, reason="the command line is not on the path")
def test_numpy_reads_the_settings_of_the_command_line(tmp_path):
    words = ["widelimit", "kernel", "--network", "fc:1", "--train", "digits", "--limit", "9"]
    subprocess.run([*words, "--out", tmp_path / "k.npz"], check=True, capture_output=True)
    k = np.load(tmp_path / "k.npz")
    assert k["ntk"].shape == (9, 9)
    assert json.loads(k["settings"].item())["network"] == "dense relu dense"
