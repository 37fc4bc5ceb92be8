"""The NTK of fully-connected ReLU networks in JAX, as neural-tangents computes it: all n × n pairs, one product of the
inputs at the highest precision, then the recursion over layers compiled by XLA. Prints the median time of a Gram
matrix.
"""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--rows", type=int, default=20_000)
parser.add_argument("--cols", type=int, default=784)
parser.add_argument("--repeats", type=int, default=7)
arguments = parser.parse_args()


def ntk(x, depth):
    sigma = 2 * jnp.matmul(x, x.T, precision="highest") / x.shape[1]
    variance = jnp.diagonal(sigma)
    scale = jnp.sqrt(variance[:, None] * variance[None, :])
    theta = sigma
    for _ in range(depth):
        rho = jnp.clip(sigma / scale, -1, 1)
        opening = jnp.pi - jnp.arccos(rho)
        sigma = scale * (jnp.sqrt(1 - rho * rho) + opening * rho) / jnp.pi
        theta = theta * opening / jnp.pi + sigma
    return theta


x = jax.random.normal(jax.random.key(1), (arguments.rows, arguments.cols), dtype=jnp.float32)
kernel = jax.jit(ntk, static_argnums=1)
for depth in (1, 3, 10):
    kernel(x, depth).block_until_ready()
    seconds = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        kernel(x, depth).block_until_ready()
        seconds.append(time.perf_counter() - start)
    print(f"JAX {jax.__version__} f32 depth {depth}: {1e3 * statistics.median(seconds):.2f} ms", flush=True)
