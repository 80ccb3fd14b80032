#!/usr/bin/python3
"""Installs a build into a staging folder, as a package would, and checks what lies there.

usage: install_test.py --build FOLDER --cmake PROGRAM --cxx PROGRAM
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

OPTIONS = None

# Paths under the prefix /usr, as Debian expects them.
EXPECTED = [
    "usr/bin/ttfd",
    "usr/bin/ttfdctl",
    "usr/libexec/ttfd/ttfd-ttsim-child",
    "usr/lib/systemd/system/ttfd.service",
    "usr/lib/systemd/system/ttfd.socket",
    "usr/lib/sysusers.d/ttfd.conf",
    "usr/include/ttfd/ttsim_api.h",
    "usr/share/ttfd/proto/ttfd/v1/ttfd.proto",
    "usr/share/ttfd/kernels/vector_add.elf",
    "etc/ttfd/ttfd.toml",
]

EXAMPLES = "usr/share/doc/ttfd/examples"


def install(root, prefix):
    return subprocess.run([OPTIONS.cmake, "--install", OPTIONS.build, "--prefix", prefix], check=True,
                          env={**os.environ, "DESTDIR": root}, capture_output=True, text=True)


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as stream:
        return stream.read()


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = tempfile.mkdtemp(prefix="ttfd-install-")
        install(cls.root, "/usr")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def test_files_lie_where_debian_expects_them(self):
        for path in EXPECTED:
            self.assertTrue(os.path.isfile(os.path.join(self.root, path)), path)

    def test_the_model_can_be_loaded_from_where_it_lies(self):
        found = [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(self.root, "usr/lib"))
                 for name in names if name == "libttfd_sim.so"]
        self.assertEqual([os.path.basename(os.path.dirname(path)) for path in found], ["ttfd"])
        driver = os.path.join(OPTIONS.build, "tests", "sequence_driver")
        result = subprocess.run([driver, found[0], "/dev/stdin"], input="init\ncr 0 0\n", check=False, capture_output=True,
                                text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("b1401e52", result.stdout)

    def test_nothing_of_the_build_folder_is_named(self):
        for path in EXPECTED:
            if path.endswith((".service", ".socket", ".conf", ".toml")):
                self.assertNotIn(OPTIONS.build, read(self.root, path), path)
                self.assertNotIn("@", read(self.root, path).replace("SystemCallFilter=@", "").replace("=~@privileged @resources", ""), path)

    def test_installed_daemon_reads_installed_configuration(self):
        result = subprocess.run([os.path.join(self.root, "usr/bin/ttfd"), "--check-config", "--config",
                                 os.path.join(self.root, "etc/ttfd/ttfd.toml")],
                                check=False, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ttfd.toml: configuration OK", result.stdout)

    def test_unit_names_the_installed_paths(self):
        unit = read(self.root, "usr/lib/systemd/system/ttfd.service")
        self.assertIn("ExecStart=/usr/bin/ttfd --config /etc/ttfd/ttfd.toml\n", unit)
        for line in ("Type=notify", "User=ttfd", "Restart=on-failure", "RuntimeDirectory=ttfd", "NoNewPrivileges=yes"):
            self.assertIn(line + "\n", unit)
        self.assertIn("WatchdogSec=", unit)
        self.assertIn("LimitNOFILE=", unit)

    def test_units_pass_systemd_analyze(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not here")
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={self.root}",
                                 "ttfd.service", "ttfd.socket"], check=False, capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_unit_leaves_the_daemon_little(self):
        if shutil.which("systemd-analyze") is None:
            self.skipTest("systemd-analyze is not here")
        unit = os.path.join(self.root, "usr/lib/systemd/system/ttfd.service")
        result = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=10", unit],
                                check=False, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)  # exposure 1.0 of 10

    def test_only_kernels_of_examples_are_installed(self):
        names = {"blur_edge", "sha256_chunks", "tile_report", "vector_add"}
        self.assertEqual(set(os.listdir(os.path.join(self.root, "usr/share/ttfd/kernels"))), {f"{name}.elf" for name in names})
        self.assertEqual(set(os.listdir(os.path.join(self.root, EXAMPLES, "kernels"))), {f"{name}.cc" for name in names})

    def test_installed_examples_build(self):
        build = os.path.join(self.root, "build")
        self.configure(os.path.join(self.root, EXAMPLES), build)
        subprocess.run([OPTIONS.cmake, "--build", build], check=True, capture_output=True, text=True)
        for name in ("file_checksum", "running_sums", "picture_filter", "sample_picture", "vector_add.elf"):
            self.assertTrue(os.path.isfile(os.path.join(build, name)), name)
        usage = subprocess.run([os.path.join(build, "file_checksum")], check=False, capture_output=True, text=True)
        self.assertEqual((usage.returncode, usage.stderr), (2, "usage: file_checksum KERNEL.elf FILE\n"))

    def test_installed_python_examples_find_what_they_need(self):
        share = os.path.join(self.root, "usr/share/ttfd")
        address = "unix:" + os.path.join(self.root, "no.sock")
        result = subprocess.run(["/usr/bin/python3", os.path.join(self.root, EXAMPLES, "raw_grpc_client.py"), f"{share}/proto",
                                 f"{share}/kernels/vector_add.elf", address], check=False, capture_output=True, text=True, timeout=60)
        self.assertRegex(result.stderr, "^raw_grpc_client.py: UNAVAILABLE: ", result)

    def test_find_package_knows_the_version(self):
        for wanted, found in (("0.1", True), ("0.2", False), ("1.0", False)):
            project = os.path.join(self.root, f"version-{wanted}")
            os.makedirs(project)
            with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
                stream.write(f"cmake_minimum_required(VERSION 3.25)\nproject(x LANGUAGES CXX)\nfind_package(ttfd {wanted} REQUIRED)\n")
            if found:
                self.configure(project, os.path.join(project, "build"))
            else:
                with self.assertRaises(subprocess.CalledProcessError):
                    self.configure(project, os.path.join(project, "build"))

    def configure(self, project, build):
        subprocess.run([OPTIONS.cmake, "-G", "Ninja", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.root}/usr",
                        f"-DCMAKE_CXX_COMPILER={OPTIONS.cxx}"],
                       check=True, capture_output=True, text=True)

    def test_configuration_of_an_administrator_is_kept(self):
        path = os.path.join(self.root, "etc/ttfd/ttfd.toml")
        shipped = read(path)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("# mine\n")
        install(self.root, "/usr")
        self.assertEqual(read(path), "# mine\n")
        self.assertEqual(read(path + ".new"), shipped)
        shutil.move(path + ".new", path)

    def test_another_prefix_keeps_everything_below_it(self):
        root = tempfile.mkdtemp(prefix="ttfd-install-")
        try:
            install(root, "/opt/ttfd")
            unit = read(root, "opt/ttfd/lib/systemd/system/ttfd.service")
            self.assertIn("ExecStart=/opt/ttfd/bin/ttfd --config /opt/ttfd/etc/ttfd/ttfd.toml\n", unit)
            self.assertTrue(os.path.isfile(os.path.join(root, "opt/ttfd/etc/ttfd/ttfd.toml")))
            self.assertEqual(os.listdir(root), ["opt"])
        finally:
            shutil.rmtree(root)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--cxx", required=True)
    OPTIONS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
