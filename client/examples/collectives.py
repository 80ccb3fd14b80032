"""Example: chips of a mesh give each other what each of them has.

    collectives.py ROWSxCOLUMNS FOLDER

Reads 32-bit integers from FOLDER/in, an equal part for each chip, gathers them along each axis of the mesh that has more than
one chip, and writes what every chip has then, chip after chip, to FOLDER/axis0 and FOLDER/axis1. collectives.cc in Python.
"""

import pathlib
import sys

import numpy as np

from ttfd import mesh

REPEATS = 3  # of which the clocks are the last one's: no chip waits for the launches of others


def main(shape: tuple[int, int], folder: pathlib.Path) -> None:
    with mesh.connect(shape, client_name="collectives") as chips:
        parts = np.fromfile(folder / "in", np.int32).reshape(len(chips), -1)
        part = chips.allocate(parts[0].nbytes)
        for chip, numbers in enumerate(parts):
            part.write(chip, numbers)
        for axis, length in enumerate(shape):
            if length == 1:
                continue
            whole = chips.all_gather(part, axis)
            for _ in range(REPEATS):
                chips.enqueue_all_gather(part, axis, whole)
            chips.finish()
            received = (length - 1) * parts[0].nbytes
            print(f"collectives.py: all_gather along axis {axis}, {'a ring' if chips.closed[axis] else 'a line'} of {length} chips with {parts[0].nbytes} "
                  f"bytes each: {received / chips.clocks():.1f} bytes a clock")
            np.stack([whole.read(chip, np.int32) for chip in range(len(chips))]).tofile(folder / f"axis{axis}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: collectives.py ROWSxCOLUMNS FOLDER")
    rows, columns = map(int, sys.argv[1].split("x"))
    main((rows, columns), pathlib.Path(sys.argv[2]))
