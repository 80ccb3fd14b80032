"""The demo: continuous integration runs it as well (`./dev demo`)."""

import re
import runpy
import subprocess

from conftest import BUILD, SOURCE


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
