#!/usr/bin/python3
"""A Python client as a child of ttfd_bench: python_client.py PACKAGE_FOLDER ADDRESS KERNEL_ELF.

Says "ready". For each line with a number of milliseconds it does blocking launches for so long, and says "median" and
that of their times in microseconds. It ends with its standard input.
"""

from __future__ import annotations

import statistics
import sys
import time


def main() -> None:
    """One session for all lines."""
    package, address, elf = sys.argv[1:]
    sys.path.insert(0, package)
    import ttfd  # pylint: disable=import-outside-toplevel

    with ttfd.connect(address, client_name="bench-python") as session:
        kernel = session.load_kernel(elf)
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, (0, 0))])
        print("ready", flush=True)
        for line in sys.stdin:
            times = []
            now = start = time.perf_counter()
            while not times or now - start < float(line) / 1000:
                session.launch(program)
                before, now = now, time.perf_counter()
                times.append(now - before)
            print("median", statistics.median(times) * 1e6, flush=True)


if __name__ == "__main__":
    main()
