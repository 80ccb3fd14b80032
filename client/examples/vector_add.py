"""Example: adds two NumPy arrays on every worker tile of the card.

    vector_add.py KERNEL.elf [ELEMENTS]

The sum is compared with NumPy's own.
"""

import sys
import time

import numpy as np

import ttfd

PAGE_BYTES = 8192
SCRATCH_PAGES = 4  # what kernel vector_add.cc needs


def shares(pages: int, tiles: int) -> np.ndarray:
    """First page and number of pages of each tile; the pages that do not divide go to the first tiles."""
    counts = np.full(tiles, pages // tiles)
    counts[: pages % tiles] += 1
    return np.stack([np.cumsum(counts) - counts, counts], axis=1)


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: vector_add.py KERNEL.elf [ELEMENTS]", file=sys.stderr)
        return 2
    elements = int(sys.argv[2]) if len(sys.argv) == 3 else 4 << 20
    generator = np.random.default_rng(seed=1)
    a = generator.integers(-(2**31), 2**31, elements, dtype=np.int32)
    b = generator.integers(-(2**31), 2**31, elements, dtype=np.int32)

    with ttfd.connect(client_name="vector_add") as session:
        device = session.device
        everywhere = [ttfd.CoreRange(0, 0, device.grid_x - 1, device.grid_y - 1)]
        pages = -(-a.nbytes // PAGE_BYTES)
        buffers = [session.allocate_dram(pages * PAGE_BYTES, PAGE_BYTES) for _ in range(3)]
        kernel = session.load_kernel(sys.argv[1])
        program = session.create_program(
            [ttfd.KernelUse(kernel, ttfd.BRISC, everywhere)],
            circular_buffers=[ttfd.CircularBuffer(0, SCRATCH_PAGES, PAGE_BYTES, everywhere)],
        )

        start = time.perf_counter()
        buffers[0].write(a)
        buffers[1].write(b)
        written = time.perf_counter()
        # A buffer among the arguments stands for its address.
        session.launch(program, [ttfd.Arguments(common=[*buffers, PAGE_BYTES],
                                                per_core=shares(pages, device.workers))])
        launched = time.perf_counter()
        c = buffers[2].read(np.int32, elements)
        done = time.perf_counter()

    print(f"{elements} elements on {device.workers} tiles: write {1e3 * (written - start):.1f} ms, "
          f"add {1e3 * (launched - written):.1f} ms, read {1e3 * (done - launched):.1f} ms")
    wrong = int(np.count_nonzero(c != a + b))
    if wrong:
        print(f"WRONG: {wrong} of {elements} sums differ from NumPy's")
        return 1
    print(f"verified: all {elements} sums equal NumPy's")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ttfd.Error as error:
        sys.exit(f"vector_add.py: {error}")
