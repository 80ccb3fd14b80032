"""Example: exp(a * b + c) of a thousand tiles of bfloat16 numbers, by the Tensix engines of 64 worker tiles.

    chain.py KERNELS_FOLDER [--tiles N] [--workers N] [--words FILE]

Three kernels work together on the five processors of a worker tile: chain_reader, chain_compute and chain_writer. They have
common arguments only; each worker tile finds its share from its position. The result is compared with NumPy's of the same
inputs in double precision.
"""

import argparse
import pathlib
import sys
import time

import numpy as np

import ttfd

FORMAT = "bfloat16"
TILE_BYTES = ttfd.tile_bytes(FORMAT)
BUFFERED_TILES = 2
MAX_RELATIVE_ERROR = 0.004  # of rounding to bfloat16, which is up to 0.0039, and of exp
MIN_PCC = 0.9999  # Pearson's correlation coefficient


def compute(session: ttfd.Session, folder: pathlib.Path, inputs: list[np.ndarray], workers: int) -> tuple[np.ndarray, float]:
    """The tiles of the result, and the seconds that the launch took."""
    tiles = len(inputs[0])
    cores = ttfd.first_cores(session.device.grid_x, workers)
    *sources, result = [session.allocate_dram(tiles * TILE_BYTES, TILE_BYTES) for _ in range(len(inputs) + 1)]
    for buffer, its_tiles in zip(sources, inputs):
        buffer.write(its_tiles)
    program = session.create_program(
        [ttfd.KernelUse(session.load_kernel(folder / "chain_reader.elf"), ttfd.NCRISC, cores),
         ttfd.ComputeUse(session.load_kernels(folder / "chain_compute"), cores),
         ttfd.KernelUse(session.load_kernel(folder / "chain_writer.elf"), ttfd.BRISC, cores)],
        circular_buffers=[ttfd.CircularBuffer(index, BUFFERED_TILES, TILE_BYTES, cores, format=FORMAT)
                          for index in range(len(inputs) + 1)],
    )
    share = [tiles, workers, session.device.grid_x]
    reader, writer = [*share, len(sources), *sources], [*share, len(sources), result]
    start = time.perf_counter()
    session.launch(program, [ttfd.Arguments(kernel=kernel, common=words)
                             for kernel, words in enumerate([reader, share, writer])])
    elapsed = time.perf_counter() - start
    return result.read(np.uint8), elapsed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", metavar="KERNELS_FOLDER", type=pathlib.Path, help="the folder of chain_reader.elf and the others")
    parser.add_argument("--tiles", metavar="N", type=int, default=1000, help="how many tiles (default 1000)")
    parser.add_argument("--workers", metavar="N", type=int, default=64, help="how many worker tiles (default 64)")
    parser.add_argument("--words", metavar="FILE", type=pathlib.Path, help="write the result's words (uint16, little endian)")
    options = parser.parse_args()
    if options.tiles < 1:
        parser.error("--tiles is at least 1")

    generator = np.random.default_rng(seed=1)
    shape = (options.tiles, 32, 32)
    inputs = [ttfd.to_tiles(generator.uniform(-2, 2, shape), FORMAT) for _ in range(3)]
    with ttfd.connect(client_name="chain") as session:
        if not 1 <= options.workers <= session.device.workers:
            parser.error(f"--workers is between 1 and {session.device.workers}")
        result, elapsed = compute(session, options.folder, inputs, options.workers)

    if options.words:
        options.words.write_bytes(result.tobytes())
    a, b, c, found = (ttfd.from_tiles(tiles, shape, FORMAT).astype(np.float64).ravel() for tiles in [*inputs, result])
    expected = np.exp(a * b + c)
    pcc = np.corrcoef(expected, found)[0, 1]
    error = (np.abs(found - expected) / expected).max()
    print(f"exp(a * b + c) of {options.tiles} tiles on {options.workers} worker tiles: PCC {pcc:.7f}, max relative error {error:.5f}, "
          f"{1e3 * elapsed:.1f} ms")
    if not (pcc >= MIN_PCC and error <= MAX_RELATIVE_ERROR):  # nor is it if one is no number
        print(f"WRONG: the PCC is at least {MIN_PCC}, the error at most {MAX_RELATIVE_ERROR}")
        return 1
    print(f"verified: {expected.size} numbers agree with NumPy's")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ttfd.Error as error:
        sys.exit(f"chain.py: {error}")
