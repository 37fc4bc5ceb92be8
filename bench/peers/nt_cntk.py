"""neural-tangents as a peer: the NTK of convolutional ReLU networks of 3x3 windows, on the CPU.

A request is READOUT DEPTH ROWS: the first ROWS images against the next ROWS.
"""

from functools import cache

import jax
from peer_protocol import parser, read_input, serve


@cache
def kernel_function(readout, depth):
    from neural_tangents import stax

    width = 1  # required by the library; the limit kernel does not depend on it
    layers = []
    for _ in range(depth):
        layers += [stax.Conv(width, (3, 3), padding="SAME", W_std=2**0.5, b_std=None), stax.Relu()]
    layers += [stax.GlobalAvgPool() if readout == "pool" else stax.Flatten()]
    _, _, kernel = stax.serial(*layers, stax.Dense(1, W_std=2**0.5, b_std=None))
    return jax.jit(lambda x1, x2: kernel(x1, x2, "ntk"))


def main():
    options = parser(__doc__)
    options.add_argument("--side", type=int, required=True, help="height and width of the images")
    arguments = options.parse_args()

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", arguments.precision == "f64")
    # Rounded to float32 first, so that both precisions use the same images.
    x = read_input(arguments, arguments.side, arguments.side, 3)
    x = x.astype("float32").astype(x.dtype)

    @cache
    def images(rows):
        return jax.device_put(x[:rows]), jax.device_put(x[rows : 2 * rows])

    def evaluate(readout, depth, rows):
        return kernel_function(readout, int(depth))(*images(int(rows))).block_until_ready()

    serve(evaluate)


if __name__ == "__main__":
    main()
