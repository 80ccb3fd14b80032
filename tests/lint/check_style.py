#!/usr/bin/python3
"""The rules of style that a machine can check: ceilings, first lines, banned words and constructs. Rules: CONTRIBUTING.md."""

import os
import re

import project

CEILINGS = {".cc": 450, ".h": 250, ".py": 450}
TEST_CEILING = 600  # of a .cc under tests/: a list of cases of one concept
COLUMNS = 120  # clang-format keeps code to 100; this is for comments and prose, which it leaves alone

# File: why it may be longer than the ceiling.
LONGER = {
}

COMMENT = {".h": ("//",), ".cc": ("//",), ".inc": ("//",), ".proto": ("//",), ".S": ("//", "/*", "#"), ".ld": ("/*",),
           ".cmake": ("#",), ".py": ("#!", '"""', "#"), ".sh": ("#!", "#"), ".toml": ("#",), ".service": ("#",)}

# (what, pattern, files it applies to, files it does not apply to)
CPP = r"\.(h|cc|inc)$"
BANNED = [
    ("unfinished work is not committed; say it in docs/caveats.md", r"\b(TODO|FIXME|XXX|HACK)\b|\bfor now\b",
     r"\.(h|cc|inc|proto|py|cmake|sh|md|toml|S|ld)$|CMakeLists\.txt$|^dev$|^\.ci/", r"^tests/lint/"),
    ("a path of one machine", r"(?<![\w.])/(work|home|Users)/\w|/root/", r".", r"^tests/lint/|^LICENSE$"),
    ("tickets are not cited; say what the code must do", r"\bissues? #?\d+\b", r".", r"^tests/lint/|^CHANGELOG\.md$"),
    ("test through the public interface", r"\bfriend\s+class\s+\w*Test|\bFRIEND_TEST\b", CPP, None),
    ("the environment is read in options.cc alone", r"\b(secure_)?getenv\s*\(",
     CPP, r"(^|/)options\.cc$|^tests/"),
    ("volatile is for firmware/common/io.h and runtime/device/kmd/linux_bus.cc", r"(?<!asm )(?<!__asm__ )\bvolatile\b", CPP,
     r"^firmware/(common/io\.h$|kernels/)|^runtime/device/kmd/linux_bus\.cc$|^tests/"),
    ("errors are values: no throw, but in the Python module, whose errors are Python's", r"(?<!no)\bthrow\s*[\w(;]", CPP, r"^client/python/native/"),
    ("ttfd::Mutex, see runtime/base/mutex.h", r"\babsl::Mutex\b|absl/synchronization/", CPP, r"^runtime/base/mutex\.h$"),
    ("using namespace only inside a function", r"^using namespace\b", CPP, r"^(firmware|tests/.*)[/_]kernels/|^firmware/(ops|graph|mesh)/.*\.cc$"),
    ("waits have deadlines and conditions, not sleeps", r"\b(sleep_for|usleep|nanosleep|sleep_until)\s*\(", CPP, r"^tests/|^runtime/base/clock\.cc$"),
    ("a test is on or gone", r"\bDISABLED_\w", CPP, None),
    ("ttfdctl prints through printing.h, which escapes", r"\bfmt::print\b|\bstd::(cout|cerr|printf|fprintf|fputs|puts|fwrite)\b",
     r"^client/cli/", r"^client/cli/(printing|progress_bar)\.cc$"),
    ("a comment names its subject", r"^\s*//\s?(What|Of|Those|Whose|Who)\b", r"^(client|daemon|firmware|runtime)/.*\.(h|cc|inc|proto)$", None),
    ("only firmware and the seam headers use C headers' names", r"#include <std(int|def)\.h>", CPP,
     r"^(firmware|runtime/(abi|hw))/|^runtime/simlib/ttsim_api\.h$|^tests/|^client/kernels/"),
]


def without_strings(line):
    return re.sub(r'"(\\.|[^"\\])*"', '""', line)


def check_shape(path, content):
    """Length, first line, columns, whitespace."""
    lines = content.split("\n")
    extension = os.path.splitext(path)[1]
    count = len(lines) - 1
    ceiling = TEST_CEILING if path.startswith("tests/") and extension == ".cc" else CEILINGS.get(extension)
    if ceiling and count > ceiling and path not in LONGER:
        yield f"{path}: {count} lines, the ceiling is {ceiling}: split by concept"
    comment = COMMENT.get(extension) or (("#",) if os.path.basename(path) == "CMakeLists.txt" else None)
    if re.match(r"tests/\w+/\w+\.cmake$", path):
        comment = None  # a list of tests, named after their area
    # A source that starts with its own header is described there.
    own_header = extension == ".cc" and content.startswith(f'#include "{path[:-3]}.h"')
    if comment and not content.startswith(comment) and not own_header:
        yield f"{path}:1: the first line says what the file is"
    if extension in project.CODE:
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS and "http" not in line:
                yield f"{path}:{number}: {len(line)} columns, the limit is {COLUMNS}"
    if extension == ".h" and "#pragma once" not in content:
        yield f"{path}: no #pragma once"
    if not content.endswith("\n"):
        yield f"{path}: no newline at the end"
    if extension != ".md":
        for number, line in enumerate(lines, 1):
            if line != line.rstrip():
                yield f"{path}:{number}: space at the end of the line"


def check_prose(path, content):
    """Columns of Markdown, but for tables, code and links."""
    code = False
    for number, line in enumerate(content.split("\n"), 1):
        if re.match(r"\s*(```|~~~)", line):
            code = not code
        elif not code and len(line) > COLUMNS and not re.match(r"\||    ", line) and "http" not in line:
            yield f"{path}:{number}: {len(line)} columns, the limit is {COLUMNS}; wrap prose at 100"


def check_words(path, content):
    for what, pattern, applies, exempt in BANNED:
        if not re.search(applies, path) or (exempt and re.search(exempt, path)):
            continue
        for number, line in enumerate(content.split("\n"), 1):
            code = line if applies != CPP else re.sub(r"//.*", "", without_strings(line))
            if re.search(pattern, code):
                yield f"{path}:{number}: {what}: {line.strip()}"


def check(root):
    findings = []
    for path in project.files(root):
        content = project.text(path, root)
        if content is None or path == "LICENSE" or path.startswith(("tests/lint/golden/", "tests/fuzz/corpus/")):
            continue
        if not content:
            findings.append(f"{path}: empty")
            continue
        findings += check_shape(path, content)
        if path.endswith(".md"):
            findings += check_prose(path, content)
        findings += check_words(path, content)
    return findings


if __name__ == "__main__":
    project.report("style", check(project.ROOT))
