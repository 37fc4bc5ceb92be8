"""PyTorch as a peer: gradient descent steps of a convolutional network on one batch of images of 32 x 32 x 3.

The weights are those of the benchmark, one raw file per layer: matrix, then bias. The request is the memory layout,
"first" or "last" for channels, and the number of steps; the result is the outputs after these steps.
"""

import numpy as np
import torch
from peer_protocol import parser, read_input, serve
from torch.nn import functional

CLASSES = 10


def read_layer(file, fan_in, fan_out):
    values = torch.from_numpy(np.fromfile(file, np.float32))
    matrix, bias = values[: fan_in * fan_out].reshape(fan_in, fan_out), values[fan_in * fan_out :]
    return matrix, bias.clone()


def read_weights(arguments):
    width = arguments.width
    channels = [3, width, width, 2 * width, 2 * width]
    *convolutions, last = arguments.weights
    weights = []
    for file, inner, outer in zip(convolutions, channels[:-1], channels[1:], strict=True):
        matrix, bias = read_layer(file, 9 * inner, outer)
        weights += [matrix.reshape(3, 3, inner, outer).permute(3, 2, 0, 1).contiguous(), bias]
    matrix, bias = read_layer(last, channels[-1], CLASSES)
    return [*weights, matrix.T.contiguous(), bias]


def outputs(weights, x):
    for layer in range(4):
        x = functional.relu(functional.conv2d(x, weights[2 * layer], weights[2 * layer + 1], padding=1))
        if layer % 2 == 1:
            x = functional.avg_pool2d(x, 2)
    return functional.linear(x.mean(dim=(2, 3)), weights[8], weights[9])


def descend(weights, x, classes, rate, steps):
    optimiser = torch.optim.SGD(weights, lr=rate)
    for _ in range(steps):
        optimiser.zero_grad(set_to_none=True)
        functional.cross_entropy(outputs(weights, x), classes, reduction="sum").backward()
        optimiser.step()
    return weights


def main():
    options = parser(__doc__)
    options.add_argument("--threads", type=int, required=True)
    options.add_argument("--rate", type=float, required=True)
    options.add_argument("--width", type=int, required=True)
    options.add_argument("--weights", nargs="+", required=True, help="raw files of float32")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)

    images = torch.from_numpy(read_input(arguments, 32, 32, 3)).permute(0, 3, 1, 2).contiguous()
    classes = torch.arange(len(images)) % CLASSES
    start = read_weights(arguments)
    layouts = {"first": torch.contiguous_format, "last": torch.channels_last}

    def evaluate(layout, steps):
        form = {"memory_format": layouts[layout]}
        weights = [(w.clone(**form) if w.dim() == 4 else w.clone()).requires_grad_() for w in start]
        x = images.contiguous(**form)
        return descend(weights, x, classes, arguments.rate, int(steps)), x

    def to_array(result):
        weights, x = result
        with torch.no_grad():
            return outputs(weights, x).numpy()

    serve(evaluate, to_array=to_array)


if __name__ == "__main__":
    main()
