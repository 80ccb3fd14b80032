"""Example: chips of a mesh give each other what each of them has, or add it.

    collectives.py ROWSxCOLUMNS all_gather|reduce_scatter|all_reduce FOLDER

Reads 32-bit integers from FOLDER/in, as many for each chip, carries the operation out along each axis of the mesh that has more
than one chip, and writes what every chip has then, chip after chip, to FOLDER/axis0 and FOLDER/axis1. collectives.cc in Python.
"""

import pathlib
import sys

import numpy as np

from ttfd import mesh

REPEATS = 3  # of which the clocks are the last one's: no chip waits for the launches of others


def enqueue(chips: mesh.Mesh, operation: str, buffer: mesh.MeshBuffer, axis: int, into: mesh.MeshBuffer | None = None) -> mesh.MeshBuffer:
    if operation == "all_gather":
        return chips.enqueue_all_gather(buffer, axis, into)
    return (chips.enqueue_reduce_scatter if operation == "reduce_scatter" else chips.enqueue_all_reduce)(buffer, np.int32, axis, into)


def received(operation: str, chip_bytes: int, length: int) -> float:
    """Bytes that a chip receives: each of `length` chips gets the others' parts, or what is to be added to its own."""
    others = (length - 1) * chip_bytes
    return others if operation == "all_gather" else others / length * (2 if operation == "all_reduce" else 1)


def run(chips: mesh.Mesh, operation: str, numbers: np.ndarray, axis: int) -> np.ndarray:
    """What every chip has after the operation along an axis; `numbers`: by chip."""
    length = chips.shape[axis]
    parts = length if operation == "reduce_scatter" else 1  # chip i of the line gets the sum of the parts i
    buffer = chips.allocate(numbers[0].nbytes // parts, parts)
    for chip, one in enumerate(numbers):
        buffer.write(chip, one)
    result = enqueue(chips, operation, buffer, axis)
    for _ in range(REPEATS - 1):
        enqueue(chips, operation, buffer, axis, result)
    chips.finish()
    print(f"collectives.py: {operation} along axis {axis}, {'a ring' if chips.closed[axis] else 'a line'} of {length} chips with {numbers[0].nbytes} "
          f"bytes each: {received(operation, numbers[0].nbytes, length) / chips.clocks():.1f} bytes a clock")
    return np.stack([result.read(chip, np.int32) for chip in range(len(chips))])


def main(shape: tuple[int, int], operation: str, folder: pathlib.Path) -> None:
    with mesh.connect(shape, client_name="collectives") as chips:
        numbers = np.fromfile(folder / "in", np.int32).reshape(len(chips), -1)
        for axis in (0, 1):
            if shape[axis] > 1:
                run(chips, operation, numbers, axis).tofile(folder / f"axis{axis}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[2] not in ("all_gather", "reduce_scatter", "all_reduce"):
        sys.exit("usage: collectives.py ROWSxCOLUMNS all_gather|reduce_scatter|all_reduce FOLDER")
    rows, columns = map(int, sys.argv[1].split("x"))
    main((rows, columns), sys.argv[2], pathlib.Path(sys.argv[3]))
