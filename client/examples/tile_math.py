"""Example: the sum, the element-wise product and the matrix product of two tiles, on the Tensix engine of one worker tile.

    tile_math.py KERNELS_FOLDER [--words FILE] [--tiles N]

Three kernels work together: tile_reader, tile_math, which runs on three processors, and tile_writer. Each result is compared
with NumPy's of the same inputs in double precision.
"""

import argparse
import pathlib
import sys

import numpy as np

import ttfd

TILE = 32
FORMAT = "bfloat16"
TILE_BYTES = ttfd.tile_bytes(FORMAT)
BUFFERED_TILES = 2
MIN_PCC = 0.9999  # Pearson's correlation coefficient
# In the order of tile_math.cc's argument.
OPERATIONS = [("add", np.add), ("mul", np.multiply), ("matmul", np.matmul)]


class TileMath:
    """The program and its buffers in DRAM: two for the inputs, one for the result."""

    def __init__(self, session: ttfd.Session, folder: pathlib.Path, tiles: int) -> None:
        self.session = session
        self.tiles = tiles
        self.buffers = [session.allocate_dram(tiles * TILE_BYTES, TILE_BYTES) for _ in range(3)]
        self.program = session.create_program(
            [ttfd.KernelUse(session.load_kernel(folder / "tile_reader.elf"), ttfd.NCRISC, (0, 0)),
             ttfd.ComputeUse(session.load_kernels(folder / "tile_math"), (0, 0)),
             ttfd.KernelUse(session.load_kernel(folder / "tile_writer.elf"), ttfd.BRISC, (0, 0))],
            circular_buffers=[ttfd.CircularBuffer(index, BUFFERED_TILES, TILE_BYTES, (0, 0)) for index in range(3)],
        )

    def run(self, operation: int) -> np.ndarray:
        """The tiles of the result, as they lie in L1."""
        left, right, result = self.buffers
        arguments = [[left, right, self.tiles], [self.tiles, operation], [result, self.tiles]]
        self.session.launch(self.program, [ttfd.Arguments(kernel=kernel, common=words) for kernel, words in enumerate(arguments)])
        return result.read(np.uint8)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="KERNELS_FOLDER", type=pathlib.Path, help="the folder of tile_reader.elf and the others")
    parser.add_argument("--words", metavar="FILE", type=pathlib.Path, help="write the results' words (uint16, little endian)")
    parser.add_argument("--tiles", metavar="N", type=int, default=1, help="how many pairs of tiles (default 1)")
    options = parser.parse_args()
    if options.tiles < 1:
        parser.error("--tiles is at least 1")

    generator = np.random.default_rng(seed=1)
    shape = (options.tiles, TILE, TILE)
    inputs = [ttfd.to_tiles(generator.normal(size=shape), FORMAT) for _ in range(2)]
    with ttfd.connect(client_name="tile_math") as session:
        tile_math = TileMath(session, options.folder, options.tiles)
        for buffer, tiles in zip(tile_math.buffers, inputs):
            buffer.write(tiles)
        results = [tile_math.run(operation) for operation in range(len(OPERATIONS))]

    if options.words:
        options.words.write_bytes(np.concatenate(results).tobytes())
    left, right, *products = (ttfd.from_tiles(tiles, shape, FORMAT).astype(np.float64) for tiles in inputs + results)
    right_results = True
    for (name, compute), found in zip(OPERATIONS, products):
        expected = compute(left, right)
        pcc = np.corrcoef(expected.ravel(), found.ravel())[0, 1]
        print(f"{name}: PCC {pcc:.7f}, max error {np.abs(expected - found).max():.4f}")
        if not pcc >= MIN_PCC:  # nor is it if it is no number
            print(f"WRONG: the PCC of {name} is below {MIN_PCC}")
            right_results = False
    if right_results:
        print(f"verified: {len(OPERATIONS)} operations on {options.tiles} pairs of tiles agree with NumPy's")
    return 0 if right_results else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ttfd.Error as error:
        sys.exit(f"tile_math.py: {error}")
