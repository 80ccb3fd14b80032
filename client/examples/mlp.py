"""Example: two layers of a neural network, gelu(x @ w1 + b1) @ w2 + b2, by operations on tensors.

    mlp.py FOLDER

Reads 32-bit floats from FOLDER/x, w1, b1, w2 and b2, and writes y: mlp.cc in Python.
"""

import pathlib
import sys
import time

import numpy as np

import ttfd.tensor as tt

SHAPES = {"x": (128, 768), "w1": (768, 3072), "b1": (3072,), "w2": (3072, 768), "b2": (768,)}


def main(folder: pathlib.Path) -> None:
    with tt.open(client_name="mlp") as card:
        x, w1, b1, w2, b2 = (card.tensor(np.fromfile(folder / name, np.float32).reshape(shape)) for name, shape in SHAPES.items())

        def network() -> tt.Tensor:
            return tt.linear(tt.linear(x, w1, b1, activation="gelu"), w2, b2)

        network().numpy()  # loads the kernels
        start = time.perf_counter()
        y = network().numpy()
        print(f"mlp.py: {(time.perf_counter() - start) * 1000:.1f} ms")

        with card.record() as step:
            again = network()
        start = time.perf_counter()
        step.replay()
        same = np.array_equal(again.numpy(), y)
        print(f"mlp.py: {(time.perf_counter() - start) * 1000:.1f} ms as a recording of {step.launches} launches, "
              f"{'the same numbers' if same else 'OTHER numbers'}")
        if not same:
            sys.exit(1)
        y.tofile(folder / "y")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: mlp.py FOLDER")
    main(pathlib.Path(sys.argv[1]))
