#!/usr/bin/python3
"""Tests .ci/retry and .ci/count_tests.py on a small ctest project."""

import json
import os
import subprocess
import tempfile
import unittest

import project

# How each test ends the first time it runs; the second time all pass.
TESTS = {
    "fails": "exit 1",
    "fails/0  # GetParam() = (1, \"a\")": "exit 1",  # as GoogleTest names cases with parameters
    "reports": "echo 'ERROR: AddressSanitizer: heap-use-after-free'; exit 1",
    "loses": "echo 'the daemon ended by signal 11'; exit 1",
    "crashes": "kill -SEGV $$",
    "hangs": "sleep 30",
    "passes": "exit 0",
    "skips": "echo 'x.cc:1: Skipped'; echo 'no card'; echo '[  SKIPPED ]'; exit 0",
}


class Retry(unittest.TestCase):
    def test_only_a_plain_failure_is_run_again(self):
        with tempfile.TemporaryDirectory() as folder:
            lines = ["cmake_minimum_required(VERSION 3.25)", "project(x LANGUAGES NONE)", "enable_testing()"]
            for number, (name, end) in enumerate(TESTS.items()):
                lines.append(f'add_test(NAME [[t.{name}]] COMMAND sh -c "[ -e {folder}/{number} ] && exit 0; touch {folder}/{number}; '
                             f'{end.replace("$$", "$$$$")}")')
                lines.append(f'set_tests_properties([[t.{name}]] PROPERTIES TIMEOUT 2 SKIP_REGULAR_EXPRESSION "SKIPPED")')
            with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
                stream.write("\n".join(lines).replace("$$$$", "\\$\\$") + "\n")
            with open(os.path.join(folder, "CMakePresets.json"), "w", encoding="utf-8") as stream:
                json.dump({"version": 6, "configurePresets": [{"name": "toy", "binaryDir": "build/toy", "generator": "Ninja"}],
                           "testPresets": [{"name": "toy", "configurePreset": "toy"}]}, stream)
            subprocess.run(["cmake", "--preset", "toy"], cwd=folder, check=True, capture_output=True, timeout=60)
            ran = subprocess.run([os.path.join(project.ROOT, ".ci/retry"), "toy", "-j", "8", "--output-junit", "toy.xml"], cwd=folder,
                                 check=False, capture_output=True, text=True, timeout=60)
            self.assertEqual(ran.returncode, 1, ran.stdout)
            counted = subprocess.run([os.path.join(project.ROOT, ".ci/count_tests.py"), os.path.join(folder, "build/toy/toy.xml")],
                                     check=False, capture_output=True, text=True, timeout=60)
        lines = counted.stdout.splitlines()
        self.assertEqual([line.split()[1] for line in lines if line.startswith("FAILED")], ["t.reports", "t.loses", "t.crashes", "t.hangs"])
        self.assertEqual([line.split()[1] for line in lines if line.startswith("FLAKY")], ["t.fails", "t.fails/0"])
        self.assertEqual(lines[-2:], ["skipped 1: no card", "3 passed, 4 failed, 1 skipped"])


if __name__ == "__main__":
    unittest.main()
