"""JAX as a peer: the empirical NTK of a fully-connected ReLU network as the product of Jacobians, on the CPU.

The weights are those of the benchmark, one raw file a layer. Jacobians are those of BLOCK samples at a time, since all
of them together do not fit into memory. The question is the word "kernel".
"""

import jax
import jax.numpy as jnp
import numpy as np
from conversation import DTYPES, converse, parser, read_input

BLOCK = 64


def output(weights, x):
    for layer, w in enumerate(weights):
        if layer > 0:
            x = jnp.maximum(x, 0)
        x = x @ w * (2.0 / w.shape[0]) ** 0.5
    return x[0]


@jax.jit
def jacobian(weights, x):
    rows = jax.vmap(jax.grad(output), (None, 0))(weights, x)
    return [layer.reshape(len(x), -1) for layer in rows]


@jax.jit
def contract(left, right):
    return sum(a @ b.T for a, b in zip(left, right, strict=True))


def kernel(weights, x):
    result = np.empty((len(x), len(x)), x.dtype)
    for i in range(0, len(x), BLOCK):
        left = jacobian(weights, x[i : i + BLOCK])
        for j in range(i, len(x), BLOCK):
            right = left if j == i else jacobian(weights, x[j : j + BLOCK])
            result[i : i + BLOCK, j : j + BLOCK] = contract(left, right)
            result[j : j + BLOCK, i : i + BLOCK] = result[i : i + BLOCK, j : j + BLOCK].T
    return result


def main():
    options = parser(__doc__)
    options.add_argument("--cols", type=int, required=True)
    options.add_argument("--width", type=int, required=True)
    options.add_argument("--weights", nargs="+", required=True, help="raw files, in the precision asked for")
    arguments = options.parse_args()

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", arguments.precision == "f64")
    sizes = [arguments.cols] + [arguments.width] * (len(arguments.weights) - 1) + [1]
    weights = [
        jax.device_put(np.fromfile(file, DTYPES[arguments.precision]).reshape(fan_in, fan_out))
        for file, fan_in, fan_out in zip(arguments.weights, sizes[:-1], sizes[1:], strict=True)
    ]
    x = read_input(arguments, arguments.cols)
    converse(lambda word: kernel(weights, x))


if __name__ == "__main__":
    main()
