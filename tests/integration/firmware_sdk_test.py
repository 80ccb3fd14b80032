#!/usr/bin/python3
"""Builds the example of docs/kernels.md as a user would: against an installed SDK, with TtfdKernel.cmake, outside ttfd's tree.

usage: firmware_sdk_test.py --source FOLDER --build FOLDER --cmake PROGRAM
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(kernels LANGUAGES NONE)
include({share}/cmake/TtfdKernel.cmake)
foreach(processor brisc ncrisc trisc0 trisc1 trisc2)
  ttfd_add_kernel(double_them_${{processor}} PROCESSOR ${{processor}} SOURCES double_them.cc)
endforeach()
"""


def run(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(command)}\n{result.stdout}{result.stderr}")
    return result.stdout


class InstalledSdk(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="ttfd-sdk-")
        self.addCleanup(shutil.rmtree, self.root)
        run(OPTIONS.cmake, "--install", OPTIONS.build, "--component", "sdk", "--prefix", os.path.join(self.root, "usr"))
        with open(os.path.join(OPTIONS.source, "docs", "kernels.md"), encoding="utf-8") as stream:
            self.example = re.search(r"```cpp\n(.*?)```", stream.read(), re.DOTALL).group(1)

    def build(self, source):
        project = os.path.join(self.root, "project")
        os.makedirs(project, exist_ok=True)
        with open(os.path.join(project, "double_them.cc"), "w", encoding="utf-8") as stream:
            stream.write(source)
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
            stream.write(PROJECT.format(share=os.path.join(self.root, "usr", "share", "ttfd")))
        build = os.path.join(project, "build")
        run(OPTIONS.cmake, "-G", "Ninja", "-S", project, "-B", build)
        run(OPTIONS.cmake, "--build", build)
        return build

    def test_the_example_of_the_documentation_builds_for_every_hart(self):
        build = self.build(self.example)
        for hart in ("brisc", "ncrisc", "trisc0", "trisc1", "trisc2"):
            elf = os.path.join(build, f"double_them_{hart}.elf")
            relocations = run("riscv64-unknown-elf-readelf", "-rW", elf)
            self.assertIn("R_RISCV_PCREL_HI20" if "PCREL" in relocations else "R_RISCV_CALL_PLT", relocations)
            for absolute in ("R_RISCV_32 ", "R_RISCV_HI20", "R_RISCV_LO12"):
                self.assertNotIn(absolute, relocations)
            with open(elf, "rb") as stream:
                self.assertNotIn(self.root.encode(), stream.read(), "a kernel tells where it was built")

    def test_a_wrong_print_is_an_error_that_says_what_is_wrong(self):
        includes = [f"-I{self.root}/usr/share/ttfd/sdk/{folder}" for folder in ("firmware/sdk/include", ".")]
        prints = {
            'Print("%u")': "format_has_more_conversions_than_there_are_arguments",
            'Print("%u", 1, 2)': "format_has_fewer_conversions_than_there_are_arguments",
            'Print("%f", 1.0f)': "format_has_a_conversion_that_kernels_do_not_have",
            'Print("%n", L1Pointer<int>(0))': "format_has_a_conversion_that_kernels_do_not_have",
            'Print("%s", 1)': "format_wants_a_string_here",
            'Print("%p", "x")': "format_wants_a_pointer_here",
            'Print("%d", 1.0)': "format_wants_an_integer_of_up_to_32_bits_here",
            'ttfd_printf("%u", 1ull)': "format_wants_an_integer_of_up_to_32_bits_here",
            'Print("%llu", 1u)': "format_wants_an_integer_of_64_bits_here",
            'Print("%*d", "x", 1)': "format_wants_an_integer_for_the_star",
            'Print("%u %lu %hhd %c %s %p %llx %-*.*d%%", 1u, uint32_t{2}, int8_t{3}, \'c\', "s", L1Pointer<void>(4), 5ull, 6, 7, 8)': None,
        }
        for call, problem in prints.items():
            result = subprocess.run(
                ["riscv64-unknown-elf-g++", "-march=rv32im", "-mabi=ilp32", "-std=c++20", "-ffreestanding", "-fsyntax-only",
                 "-DTTFD_KERNEL=1", "-DTTFD_HART=0", *includes, "-x", "c++", "-"],
                input=f"#include <ttfd/kernel.h>\nusing namespace ttfd::kernel;\nvoid kernel_main() {{ {call}; }}\n",
                capture_output=True, text=True, check=False)
            if problem is None:
                self.assertEqual(result.returncode, 0, result.stderr)
            else:
                self.assertIn(problem, result.stderr, call)
                self.assertNotEqual(result.returncode, 0, call)

    def test_a_constructor_is_refused_when_linking(self):
        with self.assertRaisesRegex(AssertionError, "a kernel has no constructors"):
            self.build("#include <ttfd/kernel.h>\n"
                       "struct Thing { Thing() : x(ttfd::kernel::Argument(0)) {} unsigned x; };\n"
                       "Thing thing;\nvoid kernel_main() {}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", required=True)
    OPTIONS = parser.parse_args()
    unittest.main(argv=sys.argv[:1])
