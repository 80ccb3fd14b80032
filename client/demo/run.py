#!/usr/bin/python3
"""Runs a demo on what is built: the daemon on the embedded device, and examples that check their results.

    run.py --build build/dev [NAME | PICTURE.png] [--trace FILE] [--mesh ROWSxCOLUMNS]

NAME is a module of this folder; a picture is for the demo `clients`, which is also the default. A module has SHOWS (what the
demo shows, in a line), BUILT (what it uses in the build folder), TARGET (the CMake target that makes that) and run(), which
returns the exit code; run() takes those of the options that OPTIONS names, if they are given. `./dev demo` reads SHOWS and TARGET as well, without Python.
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
import ring
import tile
from daemon import Failed

DEMOS = {"block": block, "chain": chain, "clients": clients, "graph": graph, "graph-llama": graph_llama, "llama": llama, "llama-layer": llama_layer, "mlp": mlp, "ring": ring, "tile": tile}

OPTIONS = (
    ("trace", "FILE", "file for a timeline, of demos that have one"),
    ("mesh", "ROWSxCOLUMNS", "chips, of demos with several"),
    ("op", "OPERATION", "what the demo ring does: all_gather, reduce_scatter or all_reduce"),
)


def run(build: pathlib.Path, word: str, options: dict[str, str]) -> int:
    """Runs the demo of that name, or `clients` with that picture."""
    module, given = (DEMOS[word], []) if word in DEMOS else (clients, [word])
    missing = [path for path in module.BUILT.values() if not (build / path).exists()]
    if missing:
        raise Failed(f"missing in {build}: {', '.join(missing)}; ./dev build dev {module.TARGET}")
    for option in options:
        takers = [name for name, one in DEMOS.items() if option in getattr(one, "OPTIONS", ())]
        if word not in takers:
            raise Failed(f"the demo {word} does not take --{option}; those that do: {', '.join(takers)}")
    return module.run(build, *given, **options)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build folder, such as build/dev")
    parser.add_argument("word", nargs="?", default="clients", metavar="NAME | PICTURE.png",
                        help=f"a demo ({', '.join(DEMOS)}), or a picture for clients; default: clients")
    for option, value, text in OPTIONS:
        parser.add_argument(f"--{option}", metavar=value, help=text)
    arguments = parser.parse_args()
    # Ctrl-C and TERM become exceptions, so that the daemon is always stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        given = {option: getattr(arguments, option) for option, _, _ in OPTIONS}
        return run(arguments.build.resolve(), arguments.word, {option: value for option, value in given.items() if value is not None})
    except (Failed, OSError, subprocess.SubprocessError) as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
