"""The installed examples do what they say, and the API needs none of this project's code."""

import os
import subprocess

import pytest

from conftest import succeed


@pytest.fixture(name="place", scope="module")
def _place(installed, tmp_path_factory):
    """The folder in which a user has built the examples: programs and kernels."""
    folder = tmp_path_factory.mktemp("examples")
    succeed("cmake", "-G", "Ninja", "-S", installed / "share/doc/ttfd/examples", "-B", folder, f"-DCMAKE_PREFIX_PATH={installed}")
    succeed("cmake", "--build", folder)
    return folder


def run(daemon, *words):
    return subprocess.run([str(word) for word in words], env=dict(os.environ, TTFD_ADDRESS=daemon.address), capture_output=True, text=True,
                          timeout=120, check=False)


@pytest.fixture(name="python")
def _python(installed):
    """The command that runs an installed example in Python with the installed package."""
    return lambda name: ["env", f"PYTHONPATH={installed}/lib/python3/dist-packages", "/usr/bin/python3",
                         installed / "share/doc/ttfd/examples" / name]


@pytest.mark.parametrize("padding", [0, 300_000])  # a kernel in one chunk, and in several
def test_a_client_made_from_the_proto_files_alone_does_the_main_job(daemon, installed, tmp_path, padding):
    kernel = tmp_path / "vector_add.elf"
    kernel.write_bytes((installed / "share/ttfd/kernels/vector_add.elf").read_bytes() + bytes(padding))
    environment = {"PATH": os.environ["PATH"], "TTFD_ADDRESS": daemon.address}  # nothing of ours to import
    result = subprocess.run(
        ["/usr/bin/python3", installed / "share/doc/ttfd/examples/raw_grpc_client.py", installed / "share/ttfd/proto", kernel],
        env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("verified:")


def test_picture_filter_matches_the_host_and_refuses_what_is_no_picture(daemon, place, tmp_path):
    picture = tmp_path / "in.png"
    assert run(daemon, place / "sample_picture", picture).returncode == 0
    # Another program has left its bytes in L1 before.
    assert run(daemon, place / "file_checksum", place / "sha256_chunks.elf", "/usr/bin/python3").returncode == 0
    result = run(daemon, place / "picture_filter", place / "blur_edge.elf", picture, tmp_path / "out.png")
    assert result.returncode == 0 and "verified: all 1572864 pixels" in result.stdout, result.stdout + result.stderr
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    picture.write_bytes(b"no picture")
    result = run(daemon, place / "picture_filter", place / "blur_edge.elf", picture, tmp_path / "out.png")
    assert result.returncode == 1 and "in.png" in result.stderr


def test_file_checksum_matches_sha256sum_also_for_files_that_end_within_a_chunk(daemon, place, tmp_path):
    for size in (1, 64 << 10, (9 << 20) + 12345):
        file = tmp_path / "a file with spaces"
        file.write_bytes(os.urandom(size))
        result = run(daemon, place / "file_checksum", place / "sha256_chunks.elf", file)
        assert result.returncode == 0 and "verified: all" in result.stdout, result.stdout + result.stderr


def test_vector_add_matches_numpy(daemon, place, python):
    result = run(daemon, *python("vector_add.py"), place / "vector_add.elf", 100_000)
    assert result.returncode == 0 and "verified: all 100000" in result.stdout, result.stdout + result.stderr


def test_tile_math_matches_numpy_and_writes_the_words_of_the_results(daemon, place, python, tmp_path):
    result = run(daemon, *python("tile_math.py"), place, "--tiles", 3, "--words", tmp_path / "words")
    assert result.returncode == 0 and "verified: 3 operations on 3 pairs of tiles" in result.stdout, result.stdout + result.stderr
    assert (tmp_path / "words").stat().st_size == 3 * 3 * 2048


def test_chain_matches_in_both_languages(daemon, place, python):
    for program in ([place / "chain", place, 70], [*python("chain.py"), place, "--tiles", 70]):  # some worker tiles have two
        result = run(daemon, *program)
        assert result.returncode == 0 and "verified: 71680 numbers" in result.stdout, result.stdout + result.stderr


def test_task_graphs_match_the_host_in_both_languages(daemon, place, python):
    for program in ([place / "task_graph", place, 500, 3], [*python("task_graph.py"), place, "--tasks", 500, "--relaunches", 3]):
        result = run(daemon, *program)
        assert result.returncode == 0 and "verified: all values are those of the host" in result.stdout, result.stdout + result.stderr


def test_tasks_of_the_engine_match_the_operations(daemon, place, python, tmp_path):
    result = run(daemon, *python("task_softmax.py"), place, "--tiles", 3, 2, 2, "--trace", tmp_path / "trace.json")
    assert result.returncode == 0 and "verified: all values are those of the operations" in result.stdout, result.stdout + result.stderr
    assert "MATRIX: 12 tasks on 8 workers" in result.stdout and (tmp_path / "trace.json").stat().st_size > 10_000


def test_running_sums_match_in_both_languages_also_for_more_blocks_than_slots(daemon, place, python):
    for program in ([place / "running_sums"], python("running_sums.py")):
        for blocks in (1, 25):
            result = run(daemon, *program, place / "vector_add.elf", blocks)
            assert result.returncode == 0 and "verified: all 133120" in result.stdout, result.stdout + result.stderr
