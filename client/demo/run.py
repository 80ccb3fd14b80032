#!/usr/bin/python3
"""Runs a demo on what is built: the daemon on the embedded device, and examples that check their results.

    run.py --build build/dev [NAME | PICTURE.png] [--trace FILE]

NAME is a module of this folder; a picture is for the demo `clients`, which is also the default. A module has SHOWS (what the
demo shows, in a line), BUILT (what it uses in the build folder), TARGET (the CMake target that makes that) and run(), which
returns the exit code; with TAKES_TRACE run() takes a file for a timeline. `./dev demo` reads SHOWS and TARGET as well, without Python.
Exit code 0 if every result was right, 2 for a wrong command line, 1 for any other failure.
"""

from __future__ import annotations

import argparse
import pathlib
import signal
import subprocess
import sys

import block
import chain
import clients
import graph
import graph_llama
import llama
import llama_layer
import mlp
import tile
from daemon import Failed

DEMOS = {"block": block, "chain": chain, "clients": clients, "graph": graph, "graph-llama": graph_llama, "llama": llama, "llama-layer": llama_layer, "mlp": mlp, "tile": tile}


def run(build: pathlib.Path, word: str, trace: pathlib.Path | None) -> int:
    """Runs the demo of that name, or `clients` with that picture."""
    module, given = (DEMOS[word], []) if word in DEMOS else (clients, [word])
    missing = [path for path in module.BUILT.values() if not (build / path).exists()]
    if missing:
        raise Failed(f"missing in {build}: {', '.join(missing)}; ./dev build dev {module.TARGET}")
    if trace and not getattr(module, "TAKES_TRACE", False):
        raise Failed(f"the demo {word} has no timeline; those with --trace are {', '.join(name for name, one in DEMOS.items() if hasattr(one, 'TAKES_TRACE'))}")
    return module.run(build, *given, *([trace] if trace else []))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder, such as build/dev")
    parser.add_argument("word", nargs="?", default="clients", metavar="NAME | PICTURE.png",
                        help=f"a demo ({', '.join(DEMOS)}), or a picture for clients; default: clients")
    parser.add_argument("--trace", type=pathlib.Path, metavar="FILE", help="file for a timeline, of demos that have one")
    arguments = parser.parse_args()
    # Ctrl-C and TERM become exceptions, so that the daemon is always stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return run(arguments.build.resolve(), arguments.word, arguments.trace)
    except (Failed, OSError, subprocess.SubprocessError) as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
