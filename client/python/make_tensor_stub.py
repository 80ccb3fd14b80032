"""Writes the types of ttfd.tensor: those of a file, and a function for each operation that `ttfdctl op --list` names.

    make_tensor_stub.py TTFDCTL tensor_stub.pyi OUTPUT
"""

import json
import pathlib
import subprocess
import sys

TYPES = {"bool": "bool", "integer": "int", "number": "float", "string": "str", "list of integers": "list[int]"}


def function(operation: dict) -> str:
    """The operation as Python sees it."""
    inputs = [f"{one['name']}: Sequence[Tensor]" if one["repeated"] else f"{one['name']}: Tensor | None = ..." if one["optional"] else f"{one['name']}: Tensor"
              for one in operation["inputs"]]
    attributes = [f"{one['name']}: {TYPES[one['type']]} = ..." for one in operation["attributes"]]
    if len(inputs) == 2 and operation["name"] in ("add", "subtract", "multiply", "div"):
        inputs[1] += " | float"
    marker = ["*"] if attributes else []
    return f"def {operation['name']}({', '.join(inputs + marker + attributes)}) -> Any: ...\n"


def main(ttfdctl: str, head: str, output: str) -> None:
    table = json.loads(subprocess.run([ttfdctl, "op", "--list", "--json"], capture_output=True, check=True, timeout=60).stdout)
    pathlib.Path(output).write_text(pathlib.Path(head).read_text() + "".join(map(function, table)))


if __name__ == "__main__":
    main(*sys.argv[1:])
