"""How a peer speaks with the benchmark that starts it: a line at a time, so that its timings come in turn with ours.

    compute QUESTION FILE   writes the answer to FILE (raw, row by row) and says "ok"
    time QUESTION           says the seconds of one evaluation, and those of the processor
    quit

What a QUESTION is, every peer says itself.
"""

import argparse
import sys
import time

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64}


def parser(description):
    """The options that every peer takes."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--precision", choices=DTYPES, required=True)
    result.add_argument("--input", required=True, help="raw little-endian float64, sample by sample")
    result.add_argument("--rows", type=int, required=True)
    return result


def read_input(arguments, *sample_shape):
    """The samples as the benchmark wrote them, in the precision asked for."""
    x = np.fromfile(arguments.input, dtype="<f8").reshape(arguments.rows, *sample_shape)
    return x.astype(DTYPES[arguments.precision])


def converse(evaluate, answer=np.asarray):
    """Answers until the benchmark quits.

    `evaluate` takes the words of a question and returns what is timed, finished; `answer` makes of it what is written.
    """
    print("ready", flush=True)
    for line in sys.stdin:
        verb, *words = line.split()
        if verb == "quit":
            break
        if verb == "compute":
            *question, file = words
            answer(evaluate(*question)).tofile(file)
            print("ok", flush=True)
        elif verb == "time":
            wall, processor = time.perf_counter(), time.process_time()
            evaluate(*words)
            print(time.perf_counter() - wall, time.process_time() - processor, flush=True)
