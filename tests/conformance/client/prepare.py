#!/usr/bin/python3
"""Builds what tests of clients in other languages run: prepare.py javascript FOLDER | go FOLDER SOURCE_FOLDER.

Exit code 77 says that the language's packages are not installed.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
GO_LIBRARIES = pathlib.Path("/usr/share/gocode/src")


def missing(programs: list[str], folders: list[pathlib.Path]) -> list[str]:
    """Those that are not there."""
    return [name for name in programs if shutil.which(name) is None] + [str(folder) for folder in folders if not folder.exists()]


def javascript(folder: pathlib.Path) -> None:
    """Installs what package-lock.json names, from npm's registry."""
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", folder], check=True)


def go(folder: pathlib.Path, source: pathlib.Path) -> None:
    """Builds the driver with Debian's packages alone: GOPATH has our three packages and Debian's."""
    packages = {"ttfdsession": source / "client/go/raw_session.go", "driver": source / "tests/conformance/client/driver.go"}
    for name, file in packages.items():
        (folder / "src" / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / "src" / name)
    protos = [f"ttfd/v1/{stem}.proto" for stem in ("types", "ttfd")]
    where = [f"--{plugin}_opt=M{proto}=ttfd/v1" for plugin in ("go", "go-grpc") for proto in protos]
    subprocess.run(["protoc", "-I", source / "proto", f"--go_out={folder}/src", f"--go-grpc_out={folder}/src", *where, *protos],
                   check=True)
    environment = dict(os.environ, GO111MODULE="off", GOPATH=f"{folder}:{GO_LIBRARIES.parent}", GOCACHE=f"{folder}/cache")
    subprocess.run(["go", "vet", "ttfdsession", "driver"], env=environment, check=True)
    subprocess.run(["go", "build", "-o", folder / "driver", "driver"], env=environment, check=True)


def main() -> int:
    language, folder, *more = sys.argv[1:]
    lacking = (missing(["node", "npm"], []) if language == "javascript" else
               missing(["go", "protoc", "protoc-gen-go", "protoc-gen-go-grpc"],
                       [GO_LIBRARIES / "google.golang.org/grpc", GO_LIBRARIES / "google.golang.org/protobuf"]))
    if lacking:
        print(f"skipped: not installed: {', '.join(lacking)} (deploy/packages.txt)")
        return SKIPPED
    if language == "javascript":
        javascript(pathlib.Path(folder))
    else:
        go(pathlib.Path(folder), pathlib.Path(*more))
    return 0


if __name__ == "__main__":
    sys.exit(main())
