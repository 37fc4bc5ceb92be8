"""neural-tangents as a peer: the NTK of fully-connected ReLU networks, x against itself, on the CPU.

A request is the DEPTH in hidden layers.
"""

from functools import cache

import jax
from peer_protocol import parser, read_input, serve


@cache
def kernel_function(depth):
    from neural_tangents import stax

    width = 1  # required by the library; the limit kernel does not depend on it
    layers = []
    for _ in range(depth):
        layers += [stax.Dense(width, W_std=2**0.5), stax.Relu()]
    _, _, kernel = stax.serial(*layers, stax.Dense(1, W_std=2**0.5))
    return jax.jit(lambda x: kernel(x, None, "ntk"))


def main():
    options = parser(__doc__)
    options.add_argument("--cols", type=int, required=True)
    arguments = options.parse_args()

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", arguments.precision == "f64")
    x = jax.device_put(read_input(arguments, arguments.cols))
    serve(lambda depth: kernel_function(int(depth))(x).block_until_ready())


if __name__ == "__main__":
    main()
