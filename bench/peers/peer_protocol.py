"""Line-based protocol between a peer and the benchmark that starts it, so that timings of both can alternate.

    compute REQUEST FILE   writes the result to FILE (raw, row-major) and prints "ok"
    time REQUEST           prints the wall-clock seconds and CPU seconds of one evaluation
    quit

Each peer documents its REQUEST.
"""

import argparse
import sys
import time

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64}


def parser(description):
    """Returns a parser with the options common to all peers."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--precision", choices=DTYPES, required=True)
    result.add_argument("--input", required=True, help="raw little-endian float64, sample by sample")
    result.add_argument("--rows", type=int, required=True)
    return result


def read_input(arguments, *sample_shape):
    """Returns the samples written by the benchmark, in the requested precision."""
    x = np.fromfile(arguments.input, dtype="<f8").reshape(arguments.rows, *sample_shape)
    return x.astype(DTYPES[arguments.precision])


def serve(evaluate, to_array=np.asarray):
    """Serves requests until the benchmark quits.

    `evaluate` takes the words of a request and returns a finished result, which is timed; `to_array` converts it to the
    array that is written.
    """
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "quit":
            break
        if verb == "compute":
            *request, file = words
            to_array(evaluate(*request)).tofile(file)
            print("ok", flush=True)
        elif verb == "time":
            wall, cpu = time.perf_counter(), time.process_time()
            evaluate(*words)
            print(time.perf_counter() - wall, time.process_time() - cpu, flush=True)
