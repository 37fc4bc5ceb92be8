"""Common setup of all tests."""

import os
import signal
from pathlib import Path

# Default data folder beside the source tree.
os.environ.setdefault("WIDELIMIT_DATA", str(Path(__file__).resolve().parents[3] / "shared" / "data"))

# A background job of a shell ignores SIGINT, and its child processes inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
