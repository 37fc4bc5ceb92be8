"""What all tests of the package need."""

import signal

# A shell that starts the tests in the background makes them ignore Ctrl-C, and so would the programs they start.
signal.signal(signal.SIGINT, signal.default_int_handler)
