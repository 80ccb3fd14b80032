"""The JavaScript client that docs/api.md shows does its job with the real daemon."""

import os
import subprocess

import pytest

from conftest import BUILD, KERNELS, SOURCE


def test_the_javascript_client_adds_two_vectors(daemon):
    folder = BUILD / "tests/js"
    if not (folder / "node_modules").exists():
        pytest.skip("npm has not installed the packages of client/js: ctest -R client_js")
    result = subprocess.run(["node", folder / "raw_grpc_client.mjs", SOURCE / "proto", KERNELS / "vector_add.elf"],
                            env=dict(os.environ, TTFD_ADDRESS=daemon.address), capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("verified: all 16384 sums are right")
