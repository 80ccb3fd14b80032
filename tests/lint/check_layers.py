#!/usr/bin/python3
"""Holds #include lines to the layers: a source includes only what its target's DEPS (and theirs) provide.

usage: check_layers.py --layers build/<preset>/layers.txt. CMake writes that file: one line a target,
name|folder|dependencies|files. Five edges are forbidden whatever the DEPS say; see FORBIDDEN.
"""

import os
import re

import project

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
GENERATED = re.compile(r"\.pb\.h$|^grpc(pp|\+\+)?/|^google/protobuf/")

# May include the device backends besides the backends themselves: those who choose one.
CHOOSES_BACKEND = re.compile(r"^(daemon/[^/]+\.(cc|h)$|runtime/simlib/|tests/)")

MODEL = ("runtime/sim/", "runtime/debug/")


def backend(path):
    """runtime/device/<backend>/..., or None."""
    parts = path.split("/")
    return parts[2] if path.startswith("runtime/device/") and len(parts) > 3 else None


def may_examine(path, to):
    """ttfdctl's doctor, and what it includes."""
    return path.startswith("client/cli/") and to.startswith("runtime/device/kmd/doctor/")


def may_launch(path, to):
    """The tensor library and the kernels of its operations; task graphs and theirs; meshes and theirs."""
    return any(path.startswith(f"client/{library}/") and to.startswith(f"firmware/{kernels}/")
               for library, kernels in (("tensor", "ops"), ("graph", "graph"), ("mesh", "mesh")))


def below_rpc(path):
    if path.startswith("runtime/"):
        return True
    return path.startswith("daemon/") and not re.match(r"daemon/(rpc/|[^/]+$)", path)


FORBIDDEN = [
    ("the model must not know our protocol: runtime/sim -> runtime/abi",
     lambda path, to: path.startswith("runtime/sim/") and to.startswith("runtime/abi/")),
    ("protobuf and gRPC stay in daemon/rpc and client: nothing below daemon/rpc includes them",
     lambda path, to: below_rpc(path) and bool(GENERATED.search(to))),
    ("clients see proto only: client -> runtime, daemon or firmware, except that client/cli includes "
     "runtime/device/kmd/doctor/, because ttfdctl doctor examines a host on which no daemon may run, and client/tensor, "
     "client/graph and client/mesh include firmware/ops/, firmware/graph/ and firmware/mesh/, the kernels that they launch",
     lambda path, to: path.startswith("client/") and to.split("/")[0] in ("runtime", "daemon", "firmware")
     and not may_examine(path, to) and not may_launch(path, to)),
    ("only main, libttfd_sim and tests choose a device backend: runtime/device/<backend>",
     lambda path, to: backend(to) is not None and backend(path) != backend(to)
     and not CHOOSES_BACKEND.match(path) and not may_examine(path, to)),
    ("the model and its debugger are behind the device seam: only runtime/device/sim, runtime/simlib, main and tests include them",
     lambda path, to: to.startswith(MODEL) and not path.startswith(MODEL)
     and backend(path) != "sim" and not CHOOSES_BACKEND.match(path)),
    ("public headers of libttfd show no protobuf and no gRPC type",
     lambda path, to: path.startswith("client/cpp/include/") and bool(GENERATED.search(to))),
]


# What runs on the card. Sources of firmware/ that belong to a target of the host's compiler embed it and are not held to this.
FIRMWARE_INCLUDES_ONLY = re.compile(r"(firmware|runtime/abi|runtime/hw)/")
HOST_ROOTS = ("runtime", "daemon", "client", "proto", "tests")


def read_layers(path):
    """Returns {target: (dependencies, files)}."""
    targets = {}
    with open(path, encoding="utf-8") as stream:
        for line in stream.read().splitlines():
            if line:
                name, _, dependencies, files = line.split("|")
                targets[name] = ([d for d in dependencies.split(",") if d], [f for f in files.split(",") if f])
    return targets


def closure(targets, *names):
    seen, todo = set(), list(names)
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo.extend(targets.get(one, ([], []))[0])
    return seen


def check(root, targets):
    findings = []
    owners = {}
    for name, (_, files) in targets.items():
        for path in files:
            owners.setdefault(path, set()).add(name)
    for name, (dependencies, _) in targets.items():
        findings += [f"{name}: DEPS name {d}, which is no target of ours" for d in dependencies if d not in targets]
    for path in project.files(root):
        if not path.endswith(project.CODE):
            continue
        allowed = closure(targets, *owners[path]) if path in owners else None
        for match in INCLUDE.finditer(project.text(path, root) or ""):
            to = match.group(1)
            beside = os.path.normpath(os.path.join(os.path.dirname(path), to))
            if to not in owners and beside in owners:
                to = beside
            where = f"{path}: includes {to}:"
            findings += [f"{where} {why}" for why, forbidden in FORBIDDEN if forbidden(path, to)]
            if (path.startswith("firmware/") and path not in owners and to.split("/")[0] in HOST_ROOTS
                    and not FIRMWARE_INCLUDES_ONLY.match(to)):
                findings.append(f"{where} firmware includes only firmware, runtime/abi and runtime/hw")
            if allowed is not None and to in owners and not owners[to] & allowed:
                findings.append(f"{where} {min(owners[path])} does not list {min(owners[to])} in its DEPS")
        in_library = path.split("/")[0] in ("runtime", "daemon") and path.endswith((".h", ".cc"))
        if in_library and path not in owners and targets:
            findings.append(f"{path}: belongs to no target (CMakeLists.txt of its folder)")
    return findings


if __name__ == "__main__":
    project.report("layers", check(project.ROOT, read_layers(project.option("--layers"))))
