"""neural-tangents as a peer: the NTK of convolutional ReLU networks of 3x3 windows, on the CPU.

Speaks one line at a time with the benchmark that starts it, so that its timings can be taken in turn with ours:

    compute READOUT DEPTH ROWS FILE   the first ROWS images against the next ROWS; writes the kernel to FILE (raw)
    time READOUT DEPTH ROWS           answers the seconds of one evaluation of the compiled kernel
    quit
"""

import argparse
import sys
import time

import jax
import numpy as np


def kernel_function(readout, depth):
    from neural_tangents import stax

    width = 1  # a limit kernel has no width; the library asks for one all the same
    layers = []
    for _ in range(depth):
        layers += [stax.Conv(width, (3, 3), padding="SAME", W_std=2**0.5, b_std=None), stax.Relu()]
    layers += [stax.GlobalAvgPool() if readout == "pool" else stax.Flatten()]
    _, _, kernel = stax.serial(*layers, stax.Dense(1, W_std=2**0.5, b_std=None))
    return jax.jit(lambda x1, x2: kernel(x1, x2, "ntk"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=["f32", "f64"], required=True)
    parser.add_argument("--input", required=True, help="raw little-endian float64, image by image")
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--side", type=int, required=True, help="height and width of the images")
    arguments = parser.parse_args()

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", arguments.precision == "f64")
    dtype = np.float64 if arguments.precision == "f64" else np.float32
    shape = (arguments.rows, arguments.side, arguments.side, 3)
    x = np.fromfile(arguments.input, dtype="<f8").reshape(shape).astype(np.float32).astype(dtype)
    compiled = {}
    print("ready", flush=True)

    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "quit":
            break
        readout, depth, rows = rest[0], int(rest[1]), int(rest[2])
        x1, x2 = jax.device_put(x[:rows]), jax.device_put(x[rows : 2 * rows])
        if verb == "compute":
            compiled[readout, depth] = kernel_function(readout, depth)
            np.asarray(compiled[readout, depth](x1, x2).block_until_ready()).tofile(rest[3])
            print("ok", flush=True)
        elif verb == "time":
            start = time.perf_counter()
            compiled[readout, depth](x1, x2).block_until_ready()
            print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
