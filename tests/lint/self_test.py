#!/usr/bin/python3
"""Each lint finds what it is for: a planted violation a rule, and nothing in a tree that keeps the rules."""

import os
import shutil
import subprocess
import tempfile
import unittest

import ceiling_history
import ceilings
import check_format
import check_golden
import check_layers
import check_paths
import check_shape
import check_shell
import check_spelling
import check_style
import check_timeouts
import check_words
import cpp_outline


class LintTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A git hook that runs the lints names its own repository in the environment.
        for name in [name for name in os.environ if name.startswith("GIT_")]:
            del os.environ[name]
        os.environ.update({"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a",
                           "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a"})

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
                ("runtime/card/encoder.cc", "ttfd/v1/ttfd.pb.h", "stay in daemon/rpc"),
                ("daemon/session/session.cc", "grpcpp/grpcpp.h", "stay in daemon/rpc"),
                ("client/cpp/session.cc", "runtime/base/status.h", "clients see proto only"),
                ("client/cli/main.cc", "daemon/api/session_port.h", "clients see proto only"),
                ("client/cli/main.cc", "runtime/device/kmd/node.h", "clients see proto only"),
                ("client/cpp/session.cc", "runtime/device/kmd/doctor/doctor.h", "clients see proto only"),
                ("client/cpp/session.cc", "firmware/ops/words.h", "clients see proto only"),
                ("client/tensor/src/card.cc", "firmware/kernel_elfs.h", "clients see proto only"),
                ("daemon/card/engine.cc", "runtime/device/sim/sim_device.h", "choose a device backend"),
                ("runtime/boot/boot.cc", "runtime/sim/chip.h", "behind the device seam"),
                ("firmware/worker/brisc.cc", "runtime/base/status.h", "firmware includes only"),
                ("client/cpp/include/ttfd/session.h", "grpcpp/channel.h", "public headers")]:
            with self.subTest(path=path):
                self.assert_found(self.layers(path, include), what)

    def test_allowed_edges_pass(self):
        for path, include in [("daemon/rpc/server.cc", "grpcpp/grpcpp.h"), ("daemon/main.cc", "runtime/device/sim/sim_device.h"),
                              ("firmware/worker/brisc.cc", "runtime/abi/launch.h"), ("tests/isa/alu_test.cc", "runtime/sim/chip.h"),
                              ("client/cli/doctor_command.cc", "runtime/device/kmd/doctor/doctor.h"),
                              ("client/tensor/src/lowering.h", "firmware/ops/words.h"),
                              ("client/graph/src/packing.h", "firmware/graph/layout.h"),
                              ("client/mesh/src/ring.h", "firmware/mesh/ring_words.h"),
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
                ("a.md", "# A\n\n" + "word " * 30 + "\n", "wrap prose"),
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
                ("client/cli/a.cc", '// A file.\nfmt::print("{}", name);\n', "which escapes"),
                ("runtime/a.cc", "// A file.\nvoid F() { usleep(1); }\n", "not sleeps"),
                ("tests/a.cc", "// A file.\nTEST(A, DISABLED_B) {}\n", "on or gone"),
                ("a.md", "", "empty")]:
            with self.subTest(what=what):
                self.assert_found(self.style(path, content), what)
                os.remove(os.path.join(self.folder.name, path))

    def test_clean_files_pass(self):
        self.assertEqual([], self.style("runtime/a.h", '// A file, not to throw.\n#pragma once\nasm volatile("fence");\n'))

    # ---- shape

    def test_outline_counts_what_a_class_has(self):
        for member, members, virtuals in [
                ("int a;", 1, 0), ("int a = 1, *b, c[3];", 3, 0), ("std::map<int, std::pair<int, int>> a;", 1, 0),
                ("std::function<Status(const A&, std::span<int>)> a = [](const A& a, std::span<int> b) { return F(a); };", 1, 0),
                ("int a_ ABSL_GUARDED_BY(mu_) = 0;", 1, 0), ("mutable Mutex mu_;", 1, 0), ("std::atomic<bool> a{false};", 1, 0),
                ("void (*done)(int, int);", 1, 0), ("uint32_t a : 3, b : 5;", 2, 0), ("struct { int x; } a, b;", 2, 0),
                ("const bool a = 1 < 2 && 3 >= 2;", 1, 0), ("std::array<char, 1'000> a;", 1, 0), ("alignas(16) char a[16];", 1, 0),
                ("std::unordered_map<int, int, decltype(&Hash)> a;", 1, 0), ("int a;  // int b;", 1, 0), ("/* int b; */", 0, 0),
                ("static constexpr int kA = 1;", 0, 0), ("inline static int a = 0;", 0, 0), ("using A = std::pair<int, int>;", 0, 0),
                ("enum class Kind : uint8_t { kA, kB };", 0, 0), ("friend class B;", 0, 0), ("class B;", 0, 0),
                ("static_assert(sizeof(int) == 4);", 0, 0), ("template <typename T>\n  void F(T a, int b = 3);", 0, 0),
                ("void F(int a = 0) ABSL_LOCKS_EXCLUDED(mu_);", 0, 0), ("bool operator==(const A&) const = default;", 0, 0),
                ("explicit operator bool() const { return a < b; }", 0, 0), ("A& operator=(const A&) = delete;", 0, 0),
                ("bool operator<(const A& b) const { return x < b.x; }", 0, 0), ("int operator()(int a) const;", 0, 0),
                ("virtual void F() = 0;", 0, 1), ("virtual Status F(std::vector<int> a = {}) const noexcept = 0;", 0, 1),
                ("void F() override;", 0, 0), ("virtual ~A() = default;", 0, 0), ("public: int a; private: int b;", 2, 0),
                ("#if X\nint a;\n#else\nint b;\nint c;\n#endif", 1, 0), ("#if 0\nint a; }\n#endif", 0, 0),
                ("#define TWICE(a) { a; \\\n  a; }", 0, 0), ('const char* a = "int b; }";', 1, 0),
                ('std::string a = R"(int b; } ")";', 1, 0), ("char a = '}', b = '\\'';", 2, 0)]:
            with self.subTest(member=member):
                classes, _ = cpp_outline.outline(f"namespace a {{\nclass A final : public B<int> {{\n {member}\n}};\n}}\n")
                outer = next(one for one in classes if one.name == "A")
                self.assertEqual((members, virtuals), (outer.members, outer.virtuals))

    def test_outline_finds_functions_and_their_lines(self):
        for code, name, lines in [
                ("void F() {\n}", "F", 2), ("int A::F(int a,\n      int b) const {\n  return 1;\n}", "A::F", 4),
                ("A::A(int a) : a_(a), b_{a},\n  c_{1, 2} {\n  if (a) {\n  }\n}", "A::A", 5), ("A::~A() {}", "A::~A", 1),
                ("template <typename T>\nauto F(T a) -> std::vector<T> {\n}", "F", 3), ("A::B& A::F() {\n}", "A::F", 2),
                ("std::map<int, int> F(std::function<void(int)> a = {}) {\n}", "F", 2), ("TEST(Suite, Case) {\n\n}", "Suite.Case", 3),
                ('extern "C" {\nint F() {\n}\n}', "F", 2), ('extern "C" int F() {\n}', "F", 2),
                ("struct stat F(int a) {\n}", "F", 2), ("bool operator==(A a, A b) {\n}", "operator_", 2),
                ("struct A {\n  int F() { return 1; }\n};", "A::F", 1), ("struct A {\n struct B {\n  B() : a{1} {}\n  int a;\n};\n};", "A::B::B", 1),
                ("[[nodiscard]] int F() noexcept(true) {\n}", "F", 2), ("GNU_HOT static int F() {\n}", "F", 2)]:
            with self.subTest(code=code):
                _, functions = cpp_outline.outline(code)
                self.assertEqual([(name, lines)], [(one.name, one.lines) for one in functions])
        for code in ("const auto a = [](int b) {\n};", "int a[] = {1, 2};", "enum A { kA };", "std::array<int, 2> a{1, 2};", "void F();"):
            with self.subTest(code=code):
                self.assertEqual([], cpp_outline.outline(code)[1])

    def test_shape_counts_the_lines_of_a_class_in_all_its_files(self):
        self.plant("daemon/a/queue.h", "class Queue {\n  void F();\n  int a;\n};\n")
        self.plant("daemon/a/queue_more.cc", "void Queue::F() {\n\n}\n")
        self.plant("client/b/queue.h", "class Queue {\n};\n")
        self.plant("runtime/abi/a.h", "struct A {\n  int a;\n};\n")
        self.plant("runtime/a.cc", "void F() {\n")
        figures, unreadable = check_shape.figures(self.folder.name)
        self.assertEqual(7, figures["lines", "daemon/a/queue.h Queue"])
        self.assertEqual(2, figures["lines", "client/b/queue.h Queue"])
        self.assertEqual(1, figures["members", "daemon/a/queue.h Queue"])
        self.assertEqual(3, figures["function", "daemon/a/queue_more.cc Queue::F"])
        self.assertNotIn(("members", "runtime/abi/a.h A"), figures)
        self.assert_found(unreadable, "is not closed")

    def test_shape_counts_the_sources_of_a_class_in_the_middle_of_the_daemon(self):
        for folder in ("daemon/core", "daemon/rpc"):
            self.plant(f"{folder}/queue.h", "class Queue {\n  void F();\n  void G();\n};\n")
            self.plant(f"{folder}/queue.cc", "void Queue::F() {\n}\n")
            self.plant(f"{folder}/queue_more.cc", "void Queue::G() {\n}\n")
        figures, _ = check_shape.figures(self.folder.name)
        self.assertEqual(2, figures["sources", "daemon/core/queue.h Queue"])
        self.assertNotIn(("sources", "daemon/rpc/queue.h Queue"), figures)

    # ---- words

    def test_words_are_found_in_names_and_over_lines(self):
        self.plant("docs/a.md", "It was to" + "ld. It goes\non.\n")
        self.plant("a.cc", "// goes\n// on\nint credit_to" + "ld_ = ToldCredit() + kUntold + go.on;\n")
        figures = check_words.figures(self.folder.name)
        self.assertEqual(4, figures["word", "to" + "ld"])
        self.assertEqual(2, figures["word", "go on"])

    def test_folders_keep_their_own_rules_for_words(self):
        for path in ("daemon/card/a.cc", "daemon/rpc/a.cc", "runtime/sim/a.cc"):
            self.plant(path, "int room" + "_to" + "ld;\n")
        self.assertEqual(2, check_words.figures(self.folder.name)["word", "room"])
        self.assertEqual(3, check_words.figures(self.folder.name)["word", "to" + "ld"])
        self.assertEqual(2, len(check_words.unclean(self.folder.name)))

    # ---- ceilings

    def ceilings(self, content):
        self.plant("ceilings.txt", content)
        return os.path.join(self.folder.name, "ceilings.txt")

    def test_a_figure_above_its_ceiling_or_limit_is_found(self):
        path = self.ceilings("members 20 a.h A\nword 3 x\nword 5 x\n")
        figures = {("members", "a.h A"): 21, ("members", "a.h B"): 16, ("members", "a.h C"): 15, ("word", "x"): 4, ("word", "y"): 1}
        findings = ceilings.findings(figures, str, path)
        for what in ("a.h A: 21 data members, the ceiling is 20", "a.h B: 16 data members, the limit is 15", "x: 4 times in the tree, the ceiling is 3",
                     "y: no ceiling yet"):
            self.assert_found(findings, what)
        self.assertEqual(4, len(findings))

    def test_ceilings_only_come_down(self):
        before = {("lines", "a.h A"): 500, ("lines", "a.h B"): 900, ("lines", "a.h C"): 450, ("word", "x"): 3}
        figures = {("lines", "a.h A"): 450, ("lines", "b.h B"): 850, ("lines", "a.h C"): 400, ("word", "x"): 0, ("word", "y"): 9}
        needed, refused = ceilings.lowered(figures, before)
        self.assertEqual({("lines", "a.h A"): 450, ("lines", "b.h B"): 850, ("word", "x"): 0, ("word", "y"): 9}, needed)
        self.assertEqual({}, refused)
        raised = {("lines", "a.h A"): 501, ("lines", "a.h B"): 900, ("lines", "a.h D"): 401, ("word", "x"): 4}
        needed, refused = ceilings.lowered(raised, before)
        self.assertEqual({("lines", "a.h A"): 500, ("lines", "a.h B"): 900, ("lines", "a.h D"): 401, ("word", "x"): 3}, needed)
        self.assertEqual({("lines", "a.h A"): 500, ("word", "x"): 3}, refused)

    def test_a_new_name_above_the_limit_is_refused(self):
        needed, refused = ceilings.lowered({("lines", "a.h A"): 500, ("lines", "a.h B"): 401}, {("lines", "a.h A"): 500})
        self.assertEqual({("lines", "a.h A"): 500}, needed)
        self.assertEqual({("lines", "a.h B"): 400}, refused)

    # ---- the history of the ceilings

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.folder.name, *arguments], check=True, capture_output=True, text=True).stdout

    def commit(self, content):
        """A version of the file; the commit, abbreviated."""
        self.ceilings(content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=a")
        return self.git("rev-parse", "--short=12", "HEAD").strip()

    def raised(self):
        return ceiling_history.raised(ceiling_history.versions(self.folder.name, "ceilings.txt"))

    def test_a_commit_that_raised_a_ceiling_is_found_until_it_is_lowered_again(self):
        first = "lines 500 a.h A\nlines 450 a.h B\nword 5 x\n"
        for why, versions, found in [
                ("nothing changed", [first, first], []),
                ("lowered", [first, "lines 480 a.h A\nword 0 x\n", "lines 470 a.h A\nword 0 x\n"], []),
                ("renamed, within the lowest ceiling that is enough", [first, "lines 460 b.h A\nlines 440 b.h B\nword 5 x\n"], []),
                ("a new word", [first, first + "word 9 y\n"], []),
                ("raised and lowered again", [first, first.replace("500", "600"), first], []),
                ("two lines for a name", [first, first + "lines 600 a.h A\n"], []),
                ("raised", [first, first.replace("500", "501"), first.replace("500", "501")],
                 ["a.h A: {1} raised the ceiling from 500 to 501 lines in all its files"]),
                ("raised, then lowered too little", [first, first.replace("500", "600"), first.replace("500", "550")],
                 ["a.h A: {1} raised the ceiling from 500 to 550 lines in all its files"]),
                ("a word raised", [first, first.replace("5 x", "6 x")], ["x: {1} raised the ceiling from 5 to 6 times in the tree"]),
                ("a new name", [first, first + "lines 410 a.h C\n"], ["a.h C: {1} raised the ceiling from 400 to 410 lines in all its files"]),
                ("renamed and raised", [first, first.replace("450 a.h B", "451 b.h B")],
                 ["b.h B: {1} raised the ceiling from 400 to 451 lines in all its files"]),
                ("a kind is no other kind", [first, first.replace("lines 450 a.h B", "members 20 a.h B")],
                 ["a.h B: {1} raised the ceiling from 15 to 20 data members"]),
                ("removed, then raised", [first, "word 4 y\n", first.replace("5 x", "6 x") + "word 4 y\n"], [
                    "a.h A: {2} raised the ceiling from 400 to 500 lines in all its files",
                    "a.h B: {2} raised the ceiling from 400 to 450 lines in all its files",
                    "x: {2} raised the ceiling from 5 to 6 times in the tree"])]:
            with self.subTest(why=why):
                self.git("init", "--quiet")
                commits = [self.commit(version) for version in versions]
                self.assertEqual([sentence.format(*commits) for sentence in found], self.raised())
                shutil.rmtree(os.path.join(self.folder.name, ".git"))

    def test_a_ceiling_raised_by_hand_is_found_before_it_is_committed(self):
        self.git("init", "--quiet")
        self.commit("word 5 x\n")
        self.ceilings("word 6 x\n")
        self.assertEqual(["x: the working tree raised the ceiling from 5 to 6 times in the tree"], self.raised())

    def test_a_merge_keeps_to_the_lower_ceilings_of_both_sides(self):
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("lines 500 a.h A\nlines 450 a.h B\nword 5 x\n")
        self.git("checkout", "--quiet", "-b", "side")
        self.commit("lines 490 b.h A\nlines 450 a.h B\nword 5 x\nword 7 y\n")
        self.git("checkout", "--quiet", "main")
        self.commit("lines 500 a.h A\nlines 440 a.h B\nword 3 x\n")
        for content, found in [("lines 490 b.h A\nlines 440 a.h B\nword 3 x\nword 7 y\n", []),
                               ("lines 490 b.h A\nlines 450 a.h B\nword 5 x\nword 7 y\n", ["a.h B", "x"])]:  # the side's version
            with self.subTest(content=content):
                self.git("merge", "--quiet", "--no-commit", "--no-ff", "--strategy=ours", "side")
                merge = self.commit(content)
                findings = self.raised()
                self.assertEqual(len(found), len(findings), findings)
                for name in found:
                    self.assert_found(findings, f"{name}: {merge} raised the ceiling")
                self.git("reset", "--quiet", "--hard", "HEAD^")

    def test_a_history_that_is_not_there_is_named(self):
        with self.assertRaisesRegex(ceiling_history.Unavailable, "not a git repository"):
            self.raised()
        self.git("init", "--quiet")
        for content in ("word 5 x\n", "word 4 x\n"):
            self.commit(content)
        with tempfile.TemporaryDirectory() as clone:
            self.git("clone", "--quiet", "--depth=1", f"file://{self.folder.name}", clone)
            with self.assertRaisesRegex(ceiling_history.Unavailable, "shallow"):
                ceiling_history.versions(clone, "ceilings.txt")

    # ---- the others

    def test_format_finds_a_badly_formatted_file(self):
        self.plant("a.cc", "// A file.\nint  a=1 ;\n")
        self.assert_found(check_format.check(self.folder.name), "a.cc:2")

    def test_spelling_finds_a_misspelt_word(self):
        self.plant("a.md", "rec" + "ieve\n")
        self.assert_found(check_spelling.check(self.folder.name), "receive")

    def test_timeouts_finds_a_test_that_has_none_or_too_long_a_one(self):
        def test(name, **properties):
            return {"name": name, "properties": [{"name": key, "value": value} for key, value in properties.items()]}
        findings = list(check_timeouts.check({"tests": [
            test("a", LABELS=["unit"]), test("b", TIMEOUT=301.0), test("c", TIMEOUT=301.0, LABELS=["fault", "slow"]),
            test("d", TIMEOUT=300.0), test("e_NOT_BUILT"), test("f", TIMEOUT=900.0, LABELS=["slower"])]}))
        self.assertEqual(["a: no TIMEOUT", "b: TIMEOUT 301", "f: TIMEOUT 900"], [one.partition(",")[0] for one in findings])

    def test_paths_that_do_not_exist_are_found(self):
        self.plant("runtime/base/log.h", "// A file.\n")
        for path, content, missing in [
                ("docs/a.md", "see [b](b.md#part)", "docs/b.md"), ("docs/a.md", "see [b](../b.md)", "b.md"),
                ("a.md", "in `runtime/base/lag.h`", "runtime/base/lag.h"), ("a.md", "`runtime/{base,queue}`", "runtime/queue"),
                ("runtime/a.h", "int a;  // as runtime/base/lag.h has it", "runtime/base/lag.h"),
                ("a.proto", "// docs/b.md", "docs/b.md")]:
            with self.subTest(missing=missing):
                self.plant("docs/c.md", "")
                self.plant(path, content)
                self.assert_found(check_paths.check(self.folder.name), f"{path}:1: {missing} does not exist")
                os.remove(os.path.join(self.folder.name, path))
        for path, content in [
                ("docs/a.md", "[c](c.md#part), [top](../a.md), [out](https://a/b), `runtime/base/log`, `runtime/base/`, `tests/<suite>`"),
                ("a.md", "`runtime/{base,base/log.h}`, `build/dev/x.h`, [a](#part)"), ("docs/adr/a.md", "`runtime/old.h`"),
                ("runtime/a.h", "// base/lag.h and runtime/base/log.h"), ("runtime/b.cc", 'Open("runtime/lag.h");')]:
            self.plant(path, content)
        self.assertEqual([], check_paths.check(self.folder.name))

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
