"""Kernels built against the installed kernel SDK, outside of ttfd's tree."""

from __future__ import annotations

import re
import subprocess

import pytest

import pages
from conftest import succeed

PROCESSORS = ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2"]
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(kernels LANGUAGES NONE)
include({share}/cmake/TtfdKernel.cmake)
foreach(processor {processors})
  ttfd_add_kernel(kernel_${{processor}} PROCESSOR ${{processor}} SOURCES kernel.cc)
endforeach()
"""
PRINTS = {
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


def build(folder, installed, source, processors):
    """Builds a kernel for some processors; returns the folder with kernel_<processor>.elf."""
    (folder / "kernel.cc").write_text(source)
    (folder / "CMakeLists.txt").write_text(PROJECT.format(share=installed / "share/ttfd", processors=" ".join(processors)))
    succeed("cmake", "-G", "Ninja", "-S", folder, "-B", folder / "build")
    succeed("cmake", "--build", folder / "build")
    return folder / "build"


def test_a_kernel_builds_for_every_processor_and_names_no_address_and_no_folder(installed, tmp_path):
    found = build(tmp_path, installed, pages.file_text("docs/quickstart.md", "double_them.cc"), PROCESSORS)
    for processor in PROCESSORS:
        elf = found / f"kernel_{processor}.elf"
        relocations = succeed("riscv64-unknown-elf-readelf", "-rW", elf)
        assert re.search("R_RISCV_PCREL_HI20|R_RISCV_CALL_PLT", relocations)
        assert not re.search("R_RISCV_32 |R_RISCV_HI20|R_RISCV_LO12", relocations)
        content = elf.read_bytes()
        assert str(tmp_path).encode() not in content and str(installed.parent).encode() not in content


@pytest.mark.parametrize("call", PRINTS)
def test_a_wrong_print_is_an_error_that_says_what_is_wrong(installed, call):
    includes = [f"-I{installed}/share/ttfd/sdk/{folder}" for folder in ("firmware/sdk/include", ".")]
    result = subprocess.run(
        ["riscv64-unknown-elf-g++", "-march=rv32im", "-mabi=ilp32", "-std=c++20", "-ffreestanding", "-fsyntax-only", "-DTTFD_KERNEL=1",
         "-DTTFD_HART=0", *includes, "-x", "c++", "-"],
        input=f"#include <ttfd/kernel.h>\nusing namespace ttfd::kernel;\nvoid kernel_main() {{ {call}; }}\n",
        capture_output=True, text=True, timeout=60, check=False)
    problem = PRINTS[call]
    assert (result.returncode == 0) == (problem is None), result.stderr
    assert (problem or "") in result.stderr


def test_a_constructor_is_refused_when_linking(installed, tmp_path):
    source = ("#include <ttfd/kernel.h>\nstruct Thing { Thing() : x(ttfd::kernel::Argument(0)) {} unsigned x; };\n"
              "Thing thing;\nvoid kernel_main() {}\n")
    with pytest.raises(AssertionError, match="a kernel has no constructors"):
        build(tmp_path, installed, source, ["brisc"])
