#!/usr/bin/python3
"""Writes a profile: the tables of one kind of tt-mlir's files, for one version of their schema.

A profile is what client/ttmlir/src/profile.h reads. It holds names, slots, types and numbers, and no text of the schema.

    git -C tt-mlir checkout COMMIT
    client/ttmlir/make_profile.py --kind ttnn --hash HASH --schemas tt-mlir/include --flatc flatc \
        --extends client/ttmlir/profiles/ttnn-433d79f929b1.profile --output client/ttmlir/profiles

HASH is the schema hash of the files to read; files of 2024 have none, then it is their git hash. `ttfdctl inspect` prints
both for a file whose profile is missing; COMMIT is that git hash, or any other commit with the same schema.
"""

import argparse
import pathlib
import struct
import subprocess
import sys
import tempfile

KINDS = {"ttnn": "TTNN/binary.fbs", "ttmetal": "TTMetal/binary.fbs", "system": "Common/system_desc.fbs"}
# Names of flatc's basic types, by their numbers in its binary schemas (reflection.fbs of FlatBuffers).
BASIC = ["", "u8", "bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "text"]
UTYPE, VECTOR, OBJECT, UNION = 1, 14, 15, 16


class Record:
    """A table of a binary schema; fields by slot."""

    def __init__(self, data, at):
        self.data, self.at = data, at
        self.vtable = at - self.number_at("i", at)

    def number_at(self, code, at):
        return struct.unpack_from("<" + code, self.data, at)[0]

    def place(self, slot):
        entry = 4 + 2 * slot
        if entry >= self.number_at("H", self.vtable):
            return None
        offset = self.number_at("H", self.vtable + entry)
        return self.at + offset if offset else None

    def number(self, slot, code, default=0):
        place = self.place(slot)
        return default if place is None else self.number_at(code, place)

    def target(self, slot):
        place = self.place(slot)
        return None if place is None else place + self.number_at("I", place)

    def text(self, slot):
        at = self.target(slot)
        return self.data[at + 4 : at + 4 + self.number_at("I", at)].decode()

    def record(self, slot):
        return Record(self.data, self.target(slot))

    def records(self, slot):
        at = self.target(slot)
        count = 0 if at is None else self.number_at("I", at)
        places = [at + 4 + 4 * i for i in range(count)]
        return [Record(self.data, place + self.number_at("I", place)) for place in places]


def short(name):
    return name.rsplit(".", 1)[-1]


class Schema:
    """The definitions that a root table needs, each as one line of a profile."""

    def __init__(self, data):
        schema = Record(data, struct.unpack_from("<I", data)[0])
        self.objects, self.enums = schema.records(0), schema.records(1)
        self.identifier, self.root = schema.text(2), short(schema.record(4).text(0))
        self.lines, self.full_names = {}, {}
        self.define_object(schema.record(4))

    def define_object(self, one):
        name = short(one.text(0))
        if self.full_names.setdefault(name, one.text(0)) != one.text(0):
            sys.exit(f"error: {name} is the name of two definitions: {self.full_names[name]}, {one.text(0)}")
        if name in self.lines:
            return name
        self.lines[name] = ""
        fields = sorted(one.records(1), key=lambda field: field.number(2, "H"))
        kept = [field for field in fields if not field.number(6, "?") and not self.is_union_type(field)]
        if one.number(2, "?"):
            members = [f"{field.text(0)}@{field.number(3, 'H')}:{self.type_of(field)}" for field in kept]
            self.lines[name] = " ".join([f"struct {name} {one.number(4, 'i')}"] + members)
        else:
            members = [f"{field.text(0)}@{field.number(2, 'H')}:{self.type_of(field)}" for field in kept]
            self.lines[name] = " ".join([f"table {name}"] + members)
        return name

    def define_enum(self, one):
        name = short(one.text(0))
        if name in self.lines:
            return name
        self.lines[name] = ""
        values = [value for value in one.records(1) if not (one.number(2, "?") and value.text(0) == "NONE")]
        if one.number(2, "?"):
            members = [f"{value.text(0)}={value.number(1, 'q')}:{self.name_of(value.record(3))}" for value in values]
            self.lines[name] = " ".join([f"union {name}"] + members)
        else:
            word = "flags" if any(pair.text(0) == "bit_flags" for pair in one.records(4)) else "enum"
            members = [f"{value.text(0)}={value.number(1, 'q')}" for value in values]
            self.lines[name] = " ".join([f"{word} {name} {BASIC[one.record(3).number(0, 'b')]}"] + members)
        return name

    def is_union_type(self, field):
        base, element = field.record(1).number(0, "b"), field.record(1).number(1, "b")
        return base == UTYPE or (base == VECTOR and element == UTYPE)

    def name_of(self, type_, element=False):
        base, index = type_.number(1 if element else 0, "b"), type_.number(2, "i", -1)
        if base == VECTOR:
            return f"[{self.name_of(type_, element=True)}]"
        if base == OBJECT:
            return self.define_object(self.objects[index])
        if base == UNION or (index >= 0 and base < len(BASIC)):
            return self.define_enum(self.enums[index])
        if base >= len(BASIC):
            sys.exit(f"error: arrays in structs are not supported (basic type {base})")
        return BASIC[base]

    def type_of(self, field):
        text, base = self.name_of(field.record(1)), field.record(1).number(0, "b")
        if base >= BASIC.index("text"):
            return text
        if field.number(11, "?"):
            return text + "?"
        default = field.number(5, "d") if BASIC[base : base + 1] in (["f32"], ["f64"]) else field.number(4, "q")
        return f"{text}={default}" if default else text


def compile_schema(flatc, schemas, kind):
    folder = pathlib.Path(schemas).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        source = folder / "ttmlir" / "Target" / KINDS[kind]
        command = [flatc, "-I", folder, "-I", folder / "ttmlir" / "Target", "--schema", "--bfbs-builtins", "-b", "-o", scratch]
        subprocess.run([*command, source], check=True, timeout=60)
        return (pathlib.Path(scratch) / source.with_suffix(".bfbs").name).read_bytes()


def definitions(path):
    """The definitions of a profile and of what it extends: name -> line."""
    lines = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if not words or words[0] in ("#", "file", "hash", "root"):
            continue
        if words[0] == "extends":
            lines = definitions(path.with_name(words[1] + ".profile"))
        elif words[0] == "without":
            for name in words[1:]:
                del lines[name]
        else:
            lines[words[1]] = line
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--hash", required=True, help="64 hexadecimal digits of schema_hash, or 40 of the git hash")
    parser.add_argument("--schemas", required=True, help="the folder that contains ttmlir/Target")
    parser.add_argument("--flatc", default="flatc", help="FlatBuffers' compiler (Debian: flatbuffers-compiler)")
    parser.add_argument("--extends", type=pathlib.Path, help="a profile in the output folder; only differences from it are written")
    parser.add_argument("--output", type=pathlib.Path, default=".", help="the folder of profiles")
    options = parser.parse_args()
    if len(options.hash) not in (40, 64) or not set(options.hash) <= set("0123456789abcdef"):
        parser.error("--hash takes all 64 digits of a schema hash, or all 40 of a git hash, in lower case")
    schema = Schema(compile_schema(options.flatc, options.schemas, options.kind))
    inherited = definitions(options.extends) if options.extends else {}
    text = [f"# Tables of tt-mlir's {options.kind} files with this hash. Written by make_profile.py; src/profile.h has the format."]
    if options.extends:
        text.append(f"extends {options.extends.stem}")
    text += [f"file {schema.identifier}", f"hash {options.hash}", f"root {schema.root}"]
    missing = sorted(set(inherited) - set(schema.lines))
    if missing:
        text.append(" ".join(["without"] + missing))
    text += [line for name, line in sorted(schema.lines.items()) if inherited.get(name) != line]
    (options.output / f"{options.kind}-{options.hash[:12]}.profile").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
