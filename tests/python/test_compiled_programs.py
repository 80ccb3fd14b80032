"""Files of tt-mlir's compiler: ttfdctl inspect shows what FlatBuffers' own compiler prints of them.

TTFD_TTMLIR_SAMPLES is a folder of files; TTFD_TTMLIR_SCHEMAS has, for each schema, a folder named by the first 12 digits of its
hash that contains tt-mlir's ttmlir/Target.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD

SOURCES = {"ttnn": "TTNN/binary", "ttmetal": "TTMetal/binary", "system": "Common/system_desc"}
FOLDERS = {name: os.environ.get(name) for name in ("TTFD_TTMLIR_SAMPLES", "TTFD_TTMLIR_SCHEMAS")}


def samples() -> list[pathlib.Path]:
    folder = FOLDERS["TTFD_TTMLIR_SAMPLES"]
    return sorted(path for path in pathlib.Path(folder).iterdir() if path.suffix[:3] == ".tt") if folder else []


def inspect(*arguments: object) -> str:
    command = [BUILD / "client/cli/ttfdctl", "inspect", *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def as_flatc_prints(sample: pathlib.Path, profile: str, folder: pathlib.Path) -> object:
    kind, digits = profile.split("-")
    target = pathlib.Path(FOLDERS["TTFD_TTMLIR_SCHEMAS"], digits, "ttmlir", "Target")
    source = target / f"{SOURCES[kind]}.fbs"
    includes = ["-I", target.parent.parent, "-I", target]
    subprocess.run(["flatc", *includes, "--schema", "-b", "-o", folder, source], check=True, timeout=60)
    # flatc 2 prints no lists of unions with a schema's source, and no names of combined flags with a binary schema.
    for schema in ([*includes, source], [(folder / source.name).with_suffix(".bfbs")]):
        command = ["flatc", "--json", "--strict-json", "--defaults-json", "--raw-binary", "--size-prefixed", "-o", folder]
        if subprocess.run([*command, *schema, "--", sample], capture_output=True, timeout=60).returncode == 0:
            break
    return json.loads((folder / sample.name).with_suffix(".json").read_text(encoding="utf-8", errors="replace"))


def assert_same(ours: object, theirs: object, place: str) -> None:
    """Equal, but that flatc prints six digits of a fraction."""
    assert isinstance(ours, type(theirs)) or isinstance(ours, (int, float)), place
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), place
        for key, value in theirs.items():
            assert_same(ours[key], value, f"{place}.{key}")
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs), place
        for index, value in enumerate(theirs):
            assert_same(ours[index], value, f"{place}[{index}]")
    elif isinstance(theirs, float):
        assert math.isclose(ours, theirs, rel_tol=1e-5, abs_tol=1e-6), (place, ours, theirs)
    else:
        assert ours == theirs, place


@pytest.mark.skipif(not all(FOLDERS.values()), reason="TTFD_TTMLIR_SAMPLES or TTFD_TTMLIR_SCHEMAS is not set")
@pytest.mark.skipif(shutil.which("flatc") is None, reason="no flatc; Debian: flatbuffers-compiler")
@pytest.mark.parametrize("sample", samples(), ids=lambda path: path.name)
def test_a_sample_is_listed_as_flatc_prints_it(sample: pathlib.Path, tmp_path: pathlib.Path) -> None:
    whole = json.loads(inspect(sample, "--json"))
    listed = json.loads(inspect(sample, "--json", "--ops", "--kernels"))
    wanted = as_flatc_prints(sample, listed["profile"], tmp_path)
    assert_same(whole, wanted, sample.name)
    assert len(listed["programs"]) == len(wanted.get("programs", []))
