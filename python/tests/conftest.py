"""What all tests of the package need."""

import os
import signal
from pathlib import Path

# Shared data beside the tree, unless the environment names others.
os.environ.setdefault("WIDELIMIT_DATA", str(Path(__file__).resolve().parents[3] / "shared" / "data"))

# A shell that starts the tests in the background makes them ignore Ctrl-C, and so would the programs they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
