"""Files of tt-mlir's kinds, written for tests by the profile of their schema."""

from __future__ import annotations

import json
import pathlib
import subprocess
from typing import Any

import numpy as np

from conftest import BUILD, SOURCE

PROFILES = SOURCE / "client/ttmlir/profiles"
NEWEST, OF_2025 = "ttnn-433d79f929b1", "ttnn-8dd857800ba8"
OF_2024 = ["ttnn-abb97a9b3e0f", "ttnn-f9a26264effc"]
WRITTEN: set[str] = set()  # the types of operations of all files that were written to run


def full_hash(profile: str) -> str:
    """The hash that files of the profile have."""
    return next(line.split()[1] for line in (PROFILES / f"{profile}.profile").read_text().splitlines() if line.startswith("hash "))


def write(path: pathlib.Path, programs: list[dict[str, Any]], profile: str = NEWEST, runs: bool = True) -> pathlib.Path:
    """A TTNN file of these programs."""
    if runs:
        WRITTEN.update(each["type_type"] for one in programs for each in one["operations"])
    schema = full_hash(profile)
    if profile in OF_2024:
        programs = [{**one, "operations": [{key: value for key, value in each.items() if key != "loc_info"} for each in one["operations"]]} for one in programs]
    hashes = {"ttmlir_git_hash": schema} if len(schema) == 40 else {"schema_hash": schema, "ttmlir_git_hash": "0" * 40}
    root = {"version": {"major": 0, "minor": 0, "patch": 1}, **hashes, "programs": programs}
    done = subprocess.run([BUILD / "tests/write_compiled_file", PROFILES, profile], input=json.dumps(root).encode(), capture_output=True,
                          timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    path.write_bytes(done.stdout)
    return path


def tensor(number: int, shape: tuple[int, ...], dtype: str = "Float32", layout: str = "tile") -> dict[str, Any]:
    """A reference to a tensor on the card."""
    rows = 32 if layout == "tile" else 1
    memory = {"storage_type": "Device", "tile_shape": {"y": rows, "x": rows}, "data_type": dtype,
              "memory_config": {"tensor_memory_layout": "Interleaved", "buffer_type": "DRAM"}}
    return {"global_id": number, "desc": {"shape": list(shape), "mesh_shape": [1, 1], "layout": {"memory_desc": memory}}}


def early_tensor(number: int, shape: tuple[int, ...], dtype: str = "Float32", layout: str = "tile") -> dict[str, Any]:
    """The same as files of 2024 describe it."""
    made = tensor(number, shape, dtype, layout)
    memory = made["desc"]["layout"]["memory_desc"]
    return {**made, "desc": {"shape": list(shape), "layout": {"memory_desc": {"tile_shape": memory["tile_shape"], "data_type": dtype}}}}


def operation(kind: str, fields: dict[str, Any], location: str = "test.mlir:1:1") -> dict[str, Any]:
    """One operation; fields of None are left out."""
    fields = {name: value for name, value in fields.items() if value is not None}
    return {"type_type": kind, "type": fields, "debug_info": kind, "loc_info": f'loc("{location}")'}


def program(name: str, inputs: list[Any], outputs: list[Any], operations: list[Any], **more: Any) -> dict[str, Any]:
    """One program."""
    return {"name": name, "inputs": inputs, "outputs": outputs, "operations": operations, **more}


def references(fields: Any, tensors: dict[str, Any]) -> Any:
    """The fields with each text that names a tensor, such as "%0", replaced by the reference to it."""
    if isinstance(fields, dict):
        return {name: references(value, tensors) for name, value in fields.items()}
    if isinstance(fields, list):
        return [references(value, tensors) for value in fields]
    return tensors[fields] if isinstance(fields, str) and fields.startswith("%") else fields


def schema_type(array: np.ndarray, dtype: str) -> str:
    """The type of a tensor with these elements."""
    if array.dtype == np.float32:
        return "Float32" if dtype == "Int32" else dtype
    return "UInt32" if array.dtype == np.uint32 else "Int32"
