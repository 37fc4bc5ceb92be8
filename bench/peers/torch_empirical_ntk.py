"""PyTorch as a peer: the empirical NTK of a fully-connected ReLU network as the product of torch.func's Jacobians.

The weights are those of the benchmark, one raw file per layer. Jacobians are computed in blocks of samples that take at
most five gibibytes (on a CUDA device a sixth of its memory), two blocks at a time, since all of them do not fit into
memory. The request is the word "kernel". On a device, products use full float32, not TF32, and the result stays there
until it is written.
"""

import numpy as np
import torch
from peer_protocol import DTYPES, parser, read_input, serve
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
    block_bytes = torch.cuda.get_device_properties(x.device).total_memory // 6 if x.is_cuda else BLOCK_BYTES
    block = max(1, block_bytes // (x.element_size() * sum(w.numel() for w in weights)))
    result = torch.empty(len(x), len(x), dtype=x.dtype, device=x.device)
    for i in range(0, len(x), block):
        left = jacobian(weights, x[i : i + block])
        for j in range(i, len(x), block):
            right = left if j == i else jacobian(weights, x[j : j + block])
            result[i : i + block, j : j + block] = contract(left, right)
            result[j : j + block, i : i + block] = result[i : i + block, j : j + block].T
    if x.is_cuda:
        torch.cuda.synchronize()
    return result


def main():
    options = parser(__doc__)
    options.add_argument("--cols", type=int, required=True)
    options.add_argument("--width", type=int, required=True)
    options.add_argument("--device", default="cpu", help="cpu or cuda")
    options.add_argument("--weights", nargs="+", required=True, help="raw files in the requested precision")
    arguments = options.parse_args()

    sizes = [arguments.cols] + [arguments.width] * (len(arguments.weights) - 1) + [1]
    weights = [
        torch.from_numpy(np.fromfile(file, DTYPES[arguments.precision]).reshape(fan_in, fan_out)).to(arguments.device)
        for file, fan_in, fan_out in zip(arguments.weights, sizes[:-1], sizes[1:], strict=True)
    ]
    x = torch.from_numpy(read_input(arguments, arguments.cols)).to(arguments.device)
    torch.backends.cuda.matmul.allow_tf32 = False
    serve(lambda word: kernel(weights, x), to_array=lambda result: result.cpu().numpy())


if __name__ == "__main__":
    main()
