"""Example: running sums over blocks of numbers, uploads of the next block beside the kernels of this one.

    running_sums.py KERNEL.elf [BLOCKS]

Two launches, total += block and weighted += total, are recorded once and replayed for each block; only the block's address
changes between replays. Blocks go to the card on a transfer queue of their own. The sums are compared with NumPy's own.
"""

import sys
import time

import numpy as np

import ttfd

PAGE_BYTES = 2048
PAGES = 130  # of a block
SCRATCH_PAGES = 4  # what kernel vector_add.cc needs
SLOTS = 2  # blocks on the card: one is computed with while the next arrives


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print("usage: running_sums.py KERNEL.elf [BLOCKS]", file=sys.stderr)
        return 2
    count = int(sys.argv[2]) if len(sys.argv) == 3 else 16
    blocks = np.random.default_rng(seed=1).integers(0, 2**32, (count, PAGES * PAGE_BYTES // 4), dtype=np.uint32)

    with ttfd.connect(client_name="running_sums") as session:
        cores = ttfd.first_cores(session.device.grid_x, min(PAGES, session.device.workers))
        tiles = sum(range_.count for range_ in cores)
        total, weighted, *slots = [session.allocate_dram(PAGES * PAGE_BYTES, PAGE_BYTES) for _ in range(2 + SLOTS)]
        kernel = session.load_kernel(sys.argv[1])
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, cores)],
                                         circular_buffers=[ttfd.CircularBuffer(0, SCRATCH_PAGES, PAGE_BYTES, cores)])
        counts = np.full(tiles, PAGES // tiles)
        counts[: PAGES % tiles] += 1
        shares = np.stack([np.cumsum(counts) - counts, counts], axis=1)

        def add(to: ttfd.Buffer, summand: ttfd.Buffer) -> ttfd.Arguments:
            return ttfd.Arguments(common=[to, summand, to, PAGE_BYTES], per_core=shares)

        compute, transfer = session.queue, session.open_queue(transfer=True)
        trace = compute.record_trace([ttfd.Launch(program, [add(total, slots[0])]),
                                      ttfd.Launch(program, [add(weighted, total)])])
        start = time.perf_counter()
        replayed = []
        for index, block in enumerate(blocks):
            slot = slots[index % SLOTS]
            if index >= SLOTS:
                transfer.after(replayed[index - SLOTS])  # nobody reads the slot's last block any more
            compute.after(transfer.enqueue_write(slot, block))
            replayed.append(compute.enqueue_replay(trace, [ttfd.Patch(0, add(total, slot))]))
        compute.finish()
        elapsed = time.perf_counter() - start
        results = [buffer.read(np.uint32) for buffer in (total, weighted)]
        trace.free()

    print(f"{count} blocks of {PAGES * PAGE_BYTES} bytes on {tiles} tiles, uploaded and added in {1e3 * elapsed:.1f} ms")
    sums = np.cumsum(blocks, axis=0, dtype=np.uint32)
    expected = [sums[-1], sums.sum(axis=0, dtype=np.uint32)]
    wrong = sum(int(np.count_nonzero(result != right)) for result, right in zip(results, expected))
    if wrong:
        print(f"WRONG: {wrong} of {2 * sums.shape[1]} sums differ from NumPy's")
        return 1
    print(f"verified: all {2 * sums.shape[1]} sums equal NumPy's")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ttfd.Error as error:
        sys.exit(f"running_sums.py: {error}")
