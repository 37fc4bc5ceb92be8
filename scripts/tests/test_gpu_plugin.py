"""The plug-in of NVIDIA devices as built: which devices it has code for, and which libraries it needs to be loaded."""

import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "build/release/bin/libwidelimit_cuda.so"
MACHINE_CODE, PTX = 2, 1

pytestmark = pytest.mark.skipif(not PLUGIN.exists(), reason="the plug-in is not built (no nvcc)")


def device_codes(data: bytes) -> Counter:
    """Returns how many device programs of each (kind, compute capability) the fat binaries in `data` contain."""
    found = Counter()
    begin = data.find(struct.pack("<IH", 0xBA55ED50, 1))
    while begin >= 0:
        header, size = struct.unpack_from("<HQ", data, begin + 6)
        entry, end = begin + header, begin + header + size
        while entry < end:
            kind, header, size = struct.unpack_from("<H2xIQ", data, entry)
            (capability,) = struct.unpack_from("<I", data, entry + 28)
            found[kind, capability] += 1
            entry += header + size
        begin = data.find(struct.pack("<IH", 0xBA55ED50, 1), end)
    return found


def test_has_code_for_ampere_and_hopper_and_ptx_for_later_devices():
    found = device_codes(PLUGIN.read_bytes())
    assert set(found) == {(MACHINE_CODE, 80), (MACHINE_CODE, 90), (PTX, 90)}
    assert len(set(found.values())) == 1, "every source has code for every device"


def test_needs_no_library_of_cuda_to_be_loaded():
    listed = subprocess.run(["readelf", "-d", PLUGIN], capture_output=True, text=True, check=True).stdout
    needed = [line.split("[")[1].rstrip("]") for line in listed.splitlines() if "(NEEDED)" in line]
    assert needed
    assert not [name for name in needed if any(part in name for part in ("cuda", "cublas", "cusolver", "nvidia"))]
