"""Example: a transformer block by operations on tensors: embedding, norm, attention, MLP.

    block.py FOLDER

Reads arrays from FOLDER/<name>.npy, named and shaped as SHAPES says, and writes y.npy. The demo `block` makes the files and
compares y with NumPy's result.
"""

import math
import pathlib
import sys

import numpy as np

import ttfd.tensor as tt

TOKENS, VOCABULARY, WIDTH, HEADS, HIDDEN = 90, 1000, 256, 4, 1024
HEAD = WIDTH // HEADS
SHAPES = {"tokens": (TOKENS,), "embedding": (VOCABULARY, WIDTH), "norm1": (WIDTH,), "norm2": (WIDTH,), "bias2": (WIDTH,),
          "wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH), "wo": (WIDTH, WIDTH),
          "w1": (WIDTH, HIDDEN), "b1": (HIDDEN,), "w2": (HIDDEN, WIDTH), "b2": (WIDTH,)}


def heads(x: tt.Tensor) -> tt.Tensor:
    """[tokens, width] as [heads, tokens, width of a head]."""
    return tt.permute(tt.reshape(x, shape=[TOKENS, HEADS, HEAD]), dims=[1, 0, 2])


def block(p: dict[str, tt.Tensor], mask: tt.Tensor) -> tt.Tensor:
    """The block for its parameters; `mask` is added to the scores."""
    x = tt.embedding(p["tokens"], p["embedding"])
    normed = tt.rms_norm(x, p["norm1"], epsilon=1e-5)
    scores = tt.matmul(heads(normed @ p["wq"]), heads(normed @ p["wk"]), transpose_b=True) / math.sqrt(HEAD)
    attended = tt.matmul(tt.softmax(scores + mask), heads(normed @ p["wv"]))
    x = x + tt.reshape(tt.permute(attended, dims=[1, 0, 2]), shape=[TOKENS, WIDTH]) @ p["wo"]
    normed = tt.layer_norm(x, p["norm2"], p["bias2"], epsilon=1e-5)
    return x + tt.linear(tt.linear(normed, p["w1"], p["b1"], activation="gelu"), p["w2"], p["b2"])


def main(folder: pathlib.Path) -> None:
    with tt.open(client_name="block") as card:
        parameters = {name: card.tensor(np.load(folder / f"{name}.npy"), dtype="uint32" if name == "tokens" else "bfloat16",
                                        layout="row_major" if name == "tokens" else "tile") for name in SHAPES}
        mask = card.tensor(np.triu(np.full((TOKENS, TOKENS), -1e9), 1))  # a token sees none after it
        y = block(parameters, mask).numpy()
        with card.record() as step:
            again = block(parameters, mask)
        step.replay(times=2)
        if not np.array_equal(again.numpy(), y):
            sys.exit("the recording gives other numbers")
        print(f"block.py: {card.counts['operations'] // 2} operations, a recording of {step.launches} launches gives the same")
        np.save(folder / "y.npy", y)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: block.py FOLDER")
    main(pathlib.Path(sys.argv[1]))
