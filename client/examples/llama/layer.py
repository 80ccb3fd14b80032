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
from model import PAGE, Config, Layer, Place, Rotation


def show(clocks: list[tuple[str, int, int]]) -> None:
    """What each operation of a layer takes: clocks of the card."""
    total = sum(each for _, _, each in clocks)
    print(f"  {'operation':44} {'steps':>5} {'launches':>8} {'clocks':>10} {'share':>6}")
    for name in dict.fromkeys(name for name, _, _ in clocks):
        own = [(launches, each) for called, launches, each in clocks if called == name]
        launches, each = map(sum, zip(*own))
        print(f"  {name:44} {len(own):5} {launches:8} {each:10,} {each / total:6.1%}")
    print(f"  {'all':44} {len(clocks):5} {sum(launches for _, launches, _ in clocks):8} {total:10,}")


def main(folder: pathlib.Path, dtype: str, rope: str) -> None:
    def load(name: str) -> np.ndarray:
        return np.load(folder / f"{name}.npy")
    config = Config.read(folder / "config.json")
    with tt.open(client_name="llama layer") as card:
        table, positions = card.tensor(load("page_table"), "uint32"), card.tensor(load("positions"), "uint32")
        rotation = Rotation(card, config, context=table.shape[1] * PAGE, convention=rope)
        place = Place(positions, table, *rotation.angles(positions))
        layer = Layer(card, config, np.load(folder / "weights.npz"), "model.layers.0.", rotation, len(load("keys")), dtype)
        x, cache = card.tensor(load("x")), {"keys": layer.keys, "values": layer.values}
        for name, tensor in cache.items():
            tt.copy_into(tensor, card.tensor(load(name)))
        _, k, v = layer.heads(layer.norm(x, layer.norm1), place)
        with card.record(clocks=True) as step:
            y = layer(x, place)
        step.replay()
        for name, tensor in {"y": y, **cache, "new_keys": k, "new_values": v}.items():
            np.save(folder / f"{name}.npy", tensor.numpy())
        show(step.clocks())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "bfp8"], help="of the weights")
    parser.add_argument("--rope", default="pairs", choices=["pairs", "halves"], help="convention of the rotary embedding")
    main(**vars(parser.parse_args()))
