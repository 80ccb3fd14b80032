#!/usr/bin/python3
"""What others build against does not change by accident: the public API and the bytes that host and firmware share.

golden/ttfd_v1.txtpb   the descriptors of proto/ttfd/v1, without comments
golden/abi.txt         size and offset of every struct and the value of every constant of runtime/abi, from both compilers

usage: check_golden.py [--update]. A change wants a line in CHANGELOG.md tagged API or ABI (while the interface is
unreleased: the updated line of its feature), and an ABI change a new kProtocolVersion.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile

import project

GOLDEN = os.path.join(project.ROOT, "tests/lint/golden")
HOST = ["g++"]
RISCV = ["riscv64-unknown-elf-g++", "-march=rv32im", "-mabi=ilp32", "-ffreestanding"]
MARK = "@ttfd"


def run(command, **more):
    result = subprocess.run(command, capture_output=True, check=False, **more)
    if result.returncode != 0:
        project.report("golden", [" ".join(command), *result.stderr.decode().splitlines()])
    return result.stdout


def proto_text():
    """Every .proto of the API as a text FileDescriptorSet."""
    root = os.path.join(project.ROOT, "proto")
    protos = [path[len("proto/"):] for path in project.files() if path.startswith("proto/") and path.endswith(".proto")]
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "set")
        run(["protoc", "-I", root, f"--descriptor_set_out={binary}", *protos], cwd=root)
        with open(binary, "rb") as stream:
            return run(["protoc", "--decode=google.protobuf.FileDescriptorSet", "google/protobuf/descriptor.proto"],
                       stdin=stream, cwd="/usr/include").decode()


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


def abi_names(text):
    """Yields (title, C++ expression) for everything in a header that has a value."""
    for kind, name, body in re.findall(r"(struct|enum(?: class)?)\s+(?:alignas\(\d+\)\s+)?(\w+)[^{;]*\{(.*?)\n?\}", text, re.DOTALL):
        if kind == "struct":
            yield f"{name} size", f"sizeof({name})"
            for field in re.findall(r"(\w+)(?:\[[^\]]*\])*\s*;", body):
                yield f"{name}.{field} offset", f"offsetof({name}, {field})"
                yield f"{name}.{field} size", f"sizeof({name}::{field})"
        else:
            for enumerator in re.findall(r"\b(k\w+)\s*=", body):
                yield f"{name}::{enumerator}", f"static_cast<unsigned>({name}::{enumerator})"
    for name, array in re.findall(r"inline constexpr \w+ (k\w+)(\[[^\]]*\])?\s*=", text):
        if array:
            for index in range(5):
                yield f"{name}[{index}]", f"{name}[{index}]"
        else:
            yield name, name


def abi_values(compiler, headers):
    """Lets a compiler evaluate every name, by reading its assembly: nothing is run, so a cross compiler will do."""
    lines = ["#include <stddef.h>", *[f'#include "{header}"' for header in headers], "using namespace ttfd::abi;",
             "void Values() {"]
    for header in headers:
        for title, expression in abi_names(without_comments(project.text(header))):
            lines.append(f'asm volatile("{MARK} {os.path.basename(header)} {title} = %0" :: "i"('
                         f"static_cast<unsigned>({expression})));")
    lines.append("}\n")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "values.cc")
        with open(source, "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines))
        command = [*compiler, "-std=c++20", "-Wno-invalid-offsetof", "-S", "-O0", "-I", project.ROOT, source, "-o", "-"]
        assembly = run(command).decode()
    values = []
    for match in re.finditer(MARK + r" (.*) = \$?(-?\d+)", assembly):
        values.append(f"{match.group(1)} = {int(match.group(2)) & 0xFFFFFFFF}")
    return "\n".join(values) + "\n"


def abi_text():
    headers = [path for path in project.files() if path.startswith("runtime/abi/") and path.endswith(".h")]
    host, riscv = abi_values(HOST, headers), abi_values(RISCV, headers)
    if host != riscv:
        differences = difflib.unified_diff(host.splitlines(), riscv.splitlines(), "host", "firmware", n=0, lineterm="")
        project.report("golden", ["host and firmware compilers disagree:", *differences])
    return host


def compare(name, now, update):
    path = os.path.join(GOLDEN, name)
    if update:
        os.makedirs(GOLDEN, exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(now)
        return []
    before = project.text(os.path.relpath(path, project.ROOT)) if os.path.exists(path) else ""
    difference = list(difflib.unified_diff(before.splitlines(), now.splitlines(), f"golden/{name}", "now", n=1, lineterm=""))
    if difference:
        difference.append(f"{name} changed. If that is meant: ./dev lint --golden, and a line in CHANGELOG.md (API or ABI)")
    return difference


def main():
    update = "--update" in sys.argv[1:]
    findings = compare("ttfd_v1.txtpb", proto_text(), update) + compare("abi.txt", abi_text(), update)
    project.report("golden", findings)


if __name__ == "__main__":
    main()
