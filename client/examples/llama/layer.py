"""Example: one layer of a Llama, decoded for 32 users at positions of their own.

    layer.py FOLDER [--dtype bfp8] [--rope halves]

Reads config.json, weights.npz (of layer 0, named as Hugging Face names them), x.npy, keys.npy and values.npy (the cache), page_table.npy
and positions.npy from FOLDER. Writes y.npy, the cache after the layer, new_keys.npy and new_values.npy, what the layer has written into
it. The demo `llama-layer` makes the files and compares what comes out.
"""

import argparse
import pathlib

import numpy as np

import ttfd.tensor as tt
from model import PAGE, Layer, Place, Rotation
from model_files import Config


def show(clocks: list[tuple[str, int, int]]) -> None:
    """What each operation of a layer takes: clocks of the card."""
    total = sum(each for _, _, each in clocks)
    print(f"  {'operation':44} {'steps':>5} {'launches':>8} {'clocks':>10} {'share':>6}")
    for name in dict.fromkeys(name for name, _, _ in clocks):
        own = [(launches, each) for called, launches, each in clocks if called == name]
        launches, each = map(sum, zip(*own))
        print(f"  {name:44} {len(own):5} {launches:8} {each:10,} {each / total:6.1%}")
    print(f"  {'all':44} {len(clocks):5} {sum(launches for _, launches, _ in clocks):8} {total:10,}")


class State:
    """The layer with the files of a folder."""

    def __init__(self, card: tt.Card, folder: pathlib.Path, dtype: str, rope: str) -> None:
        self.card, self.folder, config = card, folder, Config.read(folder / "config.json")
        table, positions = card.tensor(self.load("page_table"), "uint32"), card.tensor(self.load("positions").reshape(1, 1, -1), "uint32")
        rotation = Rotation(card, config, context=table.shape[1] * PAGE, convention=rope)
        self.place = Place(positions, table, *rotation.angles(positions))
        self.layer = Layer(card, config, np.load(folder / "weights.npz"), "model.layers.0.", rotation, len(self.load("keys")), dtype)
        self.x, self.cache = card.tensor(self.load("x")), {"keys": self.layer.keys, "values": self.layer.values}
        self.reset()

    def load(self, name: str) -> np.ndarray:
        return np.load(self.folder / f"{name}.npy")

    def reset(self) -> None:
        """Gives the cache its first content."""
        for name, tensor in self.cache.items():
            tt.copy_into(tensor, self.card.tensor(self.load(name)))


def parser(description: str) -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=description)
    made.add_argument("folder", type=pathlib.Path)
    made.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "bfp8"], help="of the weights")
    made.add_argument("--rope", default="pairs", choices=["pairs", "halves"], help="convention of the rotary embedding")
    return made


def main(folder: pathlib.Path, dtype: str, rope: str) -> None:
    with tt.open(client_name="llama layer") as card:
        state = State(card, folder, dtype, rope)
        layer = state.layer
        _, k, v = layer.heads(layer.norm(state.x, layer.norm1), state.place)
        with card.record(clocks=True) as step:
            y = layer(state.x, state.place)
        step.replay()
        for name, tensor in {"y": y, **state.cache, "new_keys": k, "new_values": v}.items():
            np.save(folder / f"{name}.npy", tensor.numpy())
        show(step.clocks())


if __name__ == "__main__":
    main(**vars(parser(__doc__.splitlines()[0]).parse_args()))
