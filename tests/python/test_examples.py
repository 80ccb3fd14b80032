"""The examples and the demo do what they say, and the API needs none of this project's code."""

import os
import re
import runpy
import subprocess
import textwrap

import pytest

from conftest import BUILD, KERNELS, SOURCE


def run(daemon, *words):
    environment = dict(os.environ, TTFD_ADDRESS=daemon.address, PYTHONPATH=str(BUILD / "client/python"))
    return subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True, timeout=120,
                          check=False)


@pytest.mark.parametrize("padding", [0, 300_000])  # a kernel in one chunk, and in several
def test_a_client_made_from_the_proto_files_alone_does_the_main_job(daemon, tmp_path, padding):
    kernel = tmp_path / "vector_add.elf"
    kernel.write_bytes((KERNELS / "vector_add.elf").read_bytes() + bytes(padding))
    environment = {"PATH": os.environ["PATH"], "TTFD_ADDRESS": daemon.address}  # nothing of ours to import
    result = subprocess.run(
        ["/usr/bin/python3", SOURCE / "client/examples/raw_grpc_client.py", SOURCE / "proto", kernel],
        env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("verified:")


def test_picture_filter_matches_the_host_and_refuses_what_is_no_picture(daemon, tmp_path):
    examples = BUILD / "client/examples"
    picture = tmp_path / "in.png"
    assert run(daemon, examples / "sample_picture", picture).returncode == 0
    # Another program has left its bytes in L1 before.
    assert run(daemon, examples / "file_checksum", KERNELS / "sha256_chunks.elf", "/usr/bin/python3").returncode == 0
    result = run(daemon, examples / "picture_filter", KERNELS / "blur_edge.elf", picture, tmp_path / "out.png")
    assert result.returncode == 0 and "verified: all 1572864 pixels" in result.stdout, result.stdout + result.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    picture.write_bytes(b"no picture")
    result = run(daemon, examples / "picture_filter", KERNELS / "blur_edge.elf", picture, tmp_path / "out.png")
    assert result.returncode == 1 and "in.png" in result.stderr


def test_the_tiles_report_what_they_found(daemon):
    result = run(daemon, "/usr/bin/python3", SOURCE / "client/examples/tile_report.py", KERNELS / "tile_report.elf")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    guide = (SOURCE / "docs/kernels.md").read_text()
    shown = re.search(r"tile_report\.elf\n((?:    \[.*\n)+)", guide).group(1)
    assert result.stdout == textwrap.dedent(shown), "what the guide shows"


def test_file_checksum_matches_sha256sum_also_for_files_that_end_within_a_chunk(daemon, tmp_path):
    for size in (1, 64 << 10, (9 << 20) + 12345):
        file = tmp_path / "a file with spaces"
        file.write_bytes(os.urandom(size))
        result = run(daemon, BUILD / "client/examples/file_checksum", KERNELS / "sha256_chunks.elf", file)
        assert result.returncode == 0 and "verified: all" in result.stdout, result.stdout + result.stderr


def test_vector_add_matches_numpy(daemon):
    result = run(daemon, "/usr/bin/python3", SOURCE / "client/examples/vector_add.py", KERNELS / "vector_add.elf", 100_000)
    assert result.returncode == 0 and "verified: all 100000" in result.stdout, result.stdout + result.stderr


def test_running_sums_match_in_both_languages_also_for_more_blocks_than_slots(daemon):
    for program in ([BUILD / "client/examples/running_sums"], ["/usr/bin/python3", SOURCE / "client/examples/running_sums.py"]):
        for blocks in (1, 25):
            result = run(daemon, *program, KERNELS / "vector_add.elf", blocks)
            assert result.returncode == 0 and "verified: all 133120" in result.stdout, result.stdout + result.stderr


def test_the_demo_target_makes_what_the_demo_runs_and_no_test():
    built = runpy.run_path(str(SOURCE / "client/demo/run.py"))["BUILT"].values()
    steps = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "ttfd_demo"], capture_output=True, text=True, timeout=60,
                           check=True).stdout
    assert [path for path in built if not re.search(rf"[ /]{path}(\s|$)", steps)] == []
    assert " -o tests/" not in steps


def test_the_demo_verifies_three_clients():
    result = subprocess.run(["/usr/bin/python3", SOURCE / "client/demo/run.py", "--build", BUILD], capture_output=True,
                            text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == "demo: 3/3 clients verified"


def test_the_demo_fails_when_a_client_does(tmp_path):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no picture")
    result = subprocess.run(["/usr/bin/python3", SOURCE / "client/demo/run.py", "--build", BUILD, bad],
                            capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "demo: 2/3 clients verified"
