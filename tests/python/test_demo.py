"""The demos: continuous integration runs them as well (`./dev demo`)."""

import importlib
import os
import re
import subprocess

import pytest

from conftest import BUILD, SOURCE, succeed

NAMES = ["block", "chain", "clients", "graph", "graph-llama", "llama", "llama-layer", "mlp", "ring", "tile"]
FOLDER = SOURCE / "client/demo"


def _run(*words, **environment):
    return subprocess.run(["/usr/bin/python3", "-B", FOLDER / "run.py", "--build", BUILD, *words], capture_output=True, text=True,
                          timeout=240, check=False, env={**os.environ, **environment})


def test_the_list_names_every_demo_and_needs_no_build(tmp_path):
    for path in ("dev", "client/demo"):
        target = tmp_path / path
        target.parent.mkdir(exist_ok=True)
        subprocess.run(["cp", "-r", SOURCE / path, target], check=True, timeout=60)
    lines = succeed(tmp_path / "dev", "demo", "--list").splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("words", [["nonsense"], ["missing.png"], ["dev"], ["clients", "clients"]])
def test_other_words_are_refused_with_those_allowed(words):
    result = subprocess.run([SOURCE / "dev", "demo", *words], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stdout) == (1, "")
    assert f"({' '.join(NAMES)}) or an existing PICTURE.png, not '{' '.join(words)}'" in result.stderr


def test_a_demo_installs_its_own_packages_and_setup_all(tmp_path):
    for name, script in {"dpkg-query": "", "sudo": '"$@"', "apt-get": "exit 1"}.items():  # nothing is installed, and nothing can be
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    def wanted(*words):
        result = subprocess.run([SOURCE / "dev", *words], capture_output=True, text=True, timeout=60, check=False,
                                env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"})
        return set(re.search(r"apt-get install': (.*)", result.stdout)[1].split())

    listed, only_ci = (SOURCE / "deploy/packages.txt").read_text().split("\n[ci]\n")
    everything = {line for line in listed.splitlines() if re.match(r"\w", line)}
    assert wanted("setup") == everything
    assert wanted("setup", "ci") == {line for line in only_ci.splitlines() if re.match(r"\w", line)}
    assert wanted("demo") < everything - {"clang", "gdb-multiarch", "nodejs", "python3-pytest"}


@pytest.mark.parametrize("name", NAMES)
def test_the_target_makes_what_the_demo_uses_and_no_test(name, monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    module = importlib.import_module("run").DEMOS[name]
    steps = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", module.TARGET], capture_output=True, text=True, timeout=60,
                           check=True).stdout
    assert [path for path in module.BUILT.values() if not re.search(rf"[ /]{path}(\s|$)", steps)] == []
    assert " -o tests/" not in steps


def test_the_demo_verifies_three_clients():
    result = _run()
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == "demo: 3/3 clients verified"


def test_the_demo_fails_when_a_client_does(tmp_path):
    bad = tmp_path / "bad.png"
    bad.write_bytes(b"no picture")
    result = _run(bad)
    assert result.returncode == 1
    assert result.stdout.splitlines()[-1] == "demo: 2/3 clients verified"


def test_the_chain_demo_verifies_clients_in_both_languages():
    result = _run("chain")
    assert result.returncode == 0, result.stdout + result.stderr
    assert len(re.findall(r"^exp\(a \* b \+ c\) of 1000 tiles on 64 worker tiles: PCC 0[.]9999", result.stdout, re.MULTILINE)) == 2
    assert result.stdout.splitlines()[-1] == "demo chain: verified"


@pytest.mark.parametrize("library, compared", [
    ("", "TTFD_TTSIM_LIB=/path/to/libttsim.so ./dev demo tile compares every word with Tenstorrent's simulator"),
    (BUILD / "runtime/simlib/libttfd_sim.so", "equal to libttsim: 3072 of 3072 words"),  # it has the interface of libttsim.so
])
def test_the_tile_demo_verifies_and_compares(library, compared):
    result = _run("tile", TTFD_TTSIM_LIB=str(library))
    assert result.returncode == 0, result.stdout + result.stderr
    assert re.findall(r"^(add|mul|matmul): PCC ", result.stdout, re.MULTILINE) == ["add", "mul", "matmul"] * (2 if library else 1)
    assert result.stdout.splitlines()[-2:] == [compared, "demo tile: verified"]


def test_the_tile_demo_fails_when_a_word_differs_from_the_simulators(monkeypatch, capsys):
    monkeypatch.syspath_prepend(FOLDER)
    tile = importlib.import_module("tile")
    monkeypatch.setenv("TTFD_TTSIM_LIB", __file__)  # a file that exists
    monkeypatch.setattr(tile, "result_words", lambda build, device, *_: [b"\0\1", b"\0\2" if device == "sim" else b"\0\3"])
    with pytest.raises(Exception, match="differ in 1 of 2 words"):
        tile.run(BUILD)
    assert "equal to libttsim: 1 of 2 words" in capsys.readouterr().out
