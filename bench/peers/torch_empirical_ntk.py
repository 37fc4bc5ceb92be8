"""PyTorch as a peer: the empirical NTK of a fully-connected ReLU network as the product of torch.func's Jacobians.

The weights are those of the benchmark, one raw file a layer. Jacobians are those of as many samples at a time as five
gibibytes hold, two such blocks at once, since all of them together do not fit into memory. The question is the word
"kernel".
"""

import numpy as np
import torch
from conversation import DTYPES, converse, parser, read_input
from torch.func import grad, vmap

BLOCK_BYTES = 5 << 30


def output(weights, x):
    for layer, w in enumerate(weights):
        if layer > 0:
            x = torch.relu(x)
        x = x @ w * (2.0 / w.shape[0]) ** 0.5
    return x[0]


def jacobian(weights, x):
    rows = vmap(grad(output), (None, 0))(weights, x)
    return [layer.reshape(len(x), -1) for layer in rows]


def contract(left, right):
    return sum(a @ b.T for a, b in zip(left, right, strict=True))


def kernel(weights, x):
    block = max(1, BLOCK_BYTES // (x.element_size() * sum(w.numel() for w in weights)))
    result = torch.empty(len(x), len(x), dtype=x.dtype)
    for i in range(0, len(x), block):
        left = jacobian(weights, x[i : i + block])
        for j in range(i, len(x), block):
            right = left if j == i else jacobian(weights, x[j : j + block])
            result[i : i + block, j : j + block] = contract(left, right)
            result[j : j + block, i : i + block] = result[i : i + block, j : j + block].T
    return result


def main():
    options = parser(__doc__)
    options.add_argument("--cols", type=int, required=True)
    options.add_argument("--width", type=int, required=True)
    options.add_argument("--weights", nargs="+", required=True, help="raw files, in the precision asked for")
    arguments = options.parse_args()

    sizes = [arguments.cols] + [arguments.width] * (len(arguments.weights) - 1) + [1]
    weights = [
        torch.from_numpy(np.fromfile(file, DTYPES[arguments.precision]).reshape(fan_in, fan_out))
        for file, fan_in, fan_out in zip(arguments.weights, sizes[:-1], sizes[1:], strict=True)
    ]
    x = torch.from_numpy(read_input(arguments, arguments.cols))
    converse(lambda word: kernel(weights, x), answer=lambda result: result.numpy())


if __name__ == "__main__":
    main()
