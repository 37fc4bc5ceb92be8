"""neural-tangents as a peer: the NTK of fully-connected ReLU networks, x against itself, on the CPU.

Speaks one line at a time with the benchmark that starts it, so that its timings can be taken in turn with ours:

    compute DEPTH FILE   compiles for DEPTH hidden layers, writes the kernel to FILE (raw, row by row); answers "ok"
    time DEPTH           answers the seconds of one evaluation of the compiled kernel
    quit
"""

import argparse
import sys
import time

import jax
import numpy as np


def kernel_function(depth):
    from neural_tangents import stax

    width = 1  # a limit kernel has no width; the library asks for one all the same
    layers = []
    for _ in range(depth):
        layers += [stax.Dense(width, W_std=2**0.5), stax.Relu()]
    _, _, kernel = stax.serial(*layers, stax.Dense(1, W_std=2**0.5))
    return jax.jit(lambda x: kernel(x, None, "ntk"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=["f32", "f64"], required=True)
    parser.add_argument("--input", required=True, help="raw little-endian float64, row by row")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--cols", type=int, required=True)
    arguments = parser.parse_args()

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", arguments.precision == "f64")
    dtype = np.float64 if arguments.precision == "f64" else np.float32
    x = np.fromfile(arguments.input, dtype="<f8").reshape(arguments.rows, arguments.cols).astype(dtype)
    x = jax.device_put(x)
    compiled = {}
    print("ready", flush=True)

    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "quit":
            break
        depth = int(rest[0])
        if verb == "compute":
            compiled[depth] = kernel_function(depth)
            np.asarray(compiled[depth](x).block_until_ready()).tofile(rest[1])
            print("ok", flush=True)
        elif verb == "time":
            start = time.perf_counter()
            compiled[depth](x).block_until_ready()
            print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
