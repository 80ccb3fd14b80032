#!/usr/bin/python3
"""Each lint finds what it is for: a planted violation a rule, and nothing in a tree that keeps the rules."""

import os
import tempfile
import unittest

import check_format
import check_golden
import check_layers
import check_shell
import check_spelling
import check_style


class LintTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def plant(self, path, content):
        path = os.path.join(self.folder.name, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(content)

    def assert_found(self, findings, what):
        self.assertTrue(any(what in finding for finding in findings), f"{what!r} not in {findings}")

    # ---- layers

    def layers(self, path, include, targets=None):
        self.plant(path, f'// A file.\n#include "{include}"\n')
        return check_layers.check(self.folder.name, targets or {})

    def test_every_forbidden_edge_is_found(self):
        for path, include, what in [
                ("runtime/sim/hart.cc", "runtime/abi/launch.h", "must not know our protocol"),
                ("runtime/dispatch/encoder.cc", "ttfd/v1/ttfd.pb.h", "stay in daemon/rpc"),
                ("daemon/session/session.cc", "grpcpp/grpcpp.h", "stay in daemon/rpc"),
                ("client/cpp/session.cc", "runtime/base/status.h", "clients see proto only"),
                ("client/cli/main.cc", "daemon/session/service.h", "clients see proto only"),
                ("daemon/engine/engine.cc", "runtime/device/sim/sim_device.h", "choose a device backend"),
                ("runtime/boot/boot.cc", "runtime/sim/chip.h", "behind the device seam"),
                ("firmware/worker/brisc.cc", "runtime/base/status.h", "firmware includes only"),
                ("client/cpp/include/ttfd/session.h", "grpcpp/channel.h", "public headers")]:
            with self.subTest(path=path):
                self.assert_found(self.layers(path, include), what)

    def test_allowed_edges_pass(self):
        for path, include in [("daemon/rpc/server.cc", "grpcpp/grpcpp.h"), ("daemon/main.cc", "runtime/device/sim/sim_device.h"),
                              ("firmware/worker/brisc.cc", "runtime/abi/launch.h"), ("tests/isa/alu_test.cc", "runtime/sim/chip.h"),
                              ("client/cpp/session.cc", "ttfd/v1/ttfd.pb.h"), ("runtime/device/sim/sim_device.cc", "runtime/sim/chip.h")]:
            with self.subTest(path=path):
                self.assertEqual([], [f for f in self.layers(path, include) if "includes" in f])

    def test_include_outside_deps_is_found_and_transitive_deps_are_allowed(self):
        targets = {"base": ([], ["runtime/base/a.h"]), "device": (["base"], ["runtime/device/d.h"]),
                   "queue": (["device"], ["runtime/queue/q.cc"]), "abi": ([], ["runtime/abi/r.h"])}
        for path in ("runtime/base/a.h", "runtime/device/d.h", "runtime/abi/r.h"):
            self.plant(path, "#pragma once\n")
        self.assertEqual([], self.layers("runtime/queue/q.cc", "runtime/base/a.h", targets))
        self.assert_found(self.layers("runtime/queue/q.cc", "runtime/abi/r.h", targets), "queue does not list abi")

    def test_source_of_no_target_and_unknown_dependency_are_found(self):
        targets = {"queue": (["nothing"], [])}
        findings = self.layers("runtime/queue/q.cc", "vector", targets)
        self.assert_found(findings, "belongs to no target")
        self.assert_found(findings, "no target of ours")

    # ---- style

    def style(self, path, content):
        self.plant(path, content)
        return check_style.check(self.folder.name)

    def test_every_style_rule_finds_its_violation(self):
        for path, content, what in [
                ("a.cc", "// A file.\n" + "int a;\n" * 460, "ceiling"),
                ("a.h", "#pragma once\n", "first line"),
                ("a.h", "// A file.\n", "#pragma once"),
                ("a.cc", "// A file.\n// " + "x" * 130 + "\n", "columns"),
                ("a.cc", "// A file.\nint a; \n", "space at the end"),
                ("a.cc", "// A file.\nint a;", "newline at the end"),
                ("a.cc", "// A file.\n// TODO: more\n", "unfinished"),
                ("a.md", "see /home/someone/notes\n", "path of one machine"),
                ("a.md", "fixes issue 7\n", "tickets"),
                ("a.h", "// A file.\n#pragma once\nfriend class QueueTest;\n", "public interface"),
                ("daemon/a.cc", '// A file.\nauto a = getenv("A");\n', "options.cc"),
                ("runtime/a.cc", "// A file.\nvolatile int a;\n", "volatile"),
                ("runtime/a.cc", '// A file.\nvoid F() { throw 1; }\n', "no throw"),
                ("runtime/a.cc", "// A file.\nabsl::Mutex mu;\n", "ttfd::Mutex"),
                ("runtime/a.cc", "// A file.\nusing namespace std;\n", "using namespace"),
                ("runtime/a.cc", "// A file.\nvoid F() { usleep(1); }\n", "not sleeps"),
                ("tests/a.cc", "// A file.\nTEST(A, DISABLED_B) {}\n", "on or gone"),
                ("a.md", "", "empty")]:
            with self.subTest(what=what):
                self.assert_found(self.style(path, content), what)
                os.remove(os.path.join(self.folder.name, path))

    def test_clean_files_pass(self):
        self.assertEqual([], self.style("runtime/a.h", '// A file, not to throw.\n#pragma once\nasm volatile("fence");\n'))

    # ---- the others

    def test_format_finds_a_badly_formatted_file(self):
        self.plant("a.cc", "// A file.\nint  a=1 ;\n")
        self.assert_found(check_format.check(self.folder.name), "a.cc:2")

    def test_spelling_finds_a_misspelt_word(self):
        self.plant("a.md", "rec" + "ieve\n")
        self.assert_found(check_spelling.check(self.folder.name), "receive")

    def test_shell_finds_an_unquoted_variable(self):
        self.plant("a.sh", "#!/bin/sh\nrm $1\n")
        self.assert_found(check_shell.check(self.folder.name), "SC2086")

    def test_golden_sees_every_kind_of_name(self):
        header = ("enum Role : uint32_t { kWorker = 1 };\nstruct alignas(16) Counter {\n  uint32_t value;\n"
                  "  uint32_t reserved[3];\n};\ninline constexpr uint32_t kBytes =\n    4;\n")
        titles = [title for title, _ in check_golden.abi_names(header)]
        for title in ("Role::kWorker", "Counter size", "Counter.value offset", "Counter.reserved size", "kBytes"):
            self.assertIn(title, titles)

    def test_golden_shows_a_difference(self):
        self.assert_found(check_golden.compare("abi.txt", "version.h kMagic = 1\n", update=False), "kMagic")


if __name__ == "__main__":
    unittest.main()
