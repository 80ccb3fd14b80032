"""Example: kernels that print, and a client that gathers what they say.

    tile_report.py KERNEL.elf

The kernel is tile_report.cc. Without `session.on_print` its lines would go to standard error.
"""

import sys

import ttfd

NUMBERS = 99  # that each tile adds up
TILES = ttfd.CoreRange(0, 0, 2, 1)


def main() -> int:
    if len(sys.argv) != 2:
        print("usage: tile_report.py KERNEL.elf", file=sys.stderr)
        return 2
    lines: list[ttfd.KernelPrint] = []
    with ttfd.connect(client_name="tile_report") as session:
        session.on_print = lines.append
        kernel = session.load_kernel(sys.argv[1], name="tile_report")
        program = session.create_program([ttfd.KernelUse(kernel, ttfd.BRISC, [TILES])])
        first = [[NUMBERS * tile] for tile in range(TILES.count)]
        session.launch(program, [ttfd.Arguments(common=[NUMBERS], per_core=first)])
    # Each tile's lines come in their order; those of different tiles as the daemon found them.
    for line in sorted(lines, key=lambda line: (line.y, line.x)):
        print(line)
    tiles = {(line.x, line.y) for line in lines}
    return 0 if len(tiles) == TILES.count else 1


if __name__ == "__main__":
    sys.exit(main())
