#!/usr/bin/env python3
"""Writes instruction_table.inc: instruction words by GNU as, operands, results by Python integers.

Neither comes from the model, so a wrong encoding or a wrong meaning there shows. Run it after
adding an instruction:  tests/isa/make_instruction_table.py > tests/isa/instruction_table.inc
"""
import pathlib
import subprocess
import tempfile

WORD = 1 << 32
EDGES = [0, 1, 2, 31, 32, 0x7F, 0x80, 0xFFFF, 0x8000, 0x12345678, 0x7FFFFFFF, 0x80000000,
         0x80000001, 0xFFFFFFFE, 0xFFFFFFFF, 0xDEADBEEF]
PAIRS = [(0, 0), (1, 2), (0xFFFFFFFF, 1), (1, 0xFFFFFFFF), (0x7FFFFFFF, 1), (0x80000000, 0xFFFFFFFF),
         (0x80000000, 0x80000000), (0x12345678, 0), (0xDEADBEEF, 5), (5, 0xDEADBEEF), (0xFFFFFFFF, 0xFFFFFFFF),
         (0x80000000, 1), (0x12345678, 0x9ABCDEF0), (0x7FFFFFFF, 0x80000000), (0xF0F0F0F0, 31), (0xF0F0F0F0, 33)]
IMMEDIATES = [0, 1, -1, 2047, -2048, 0x555]
SHIFTS = [0, 1, 15, 31]


def signed(value):
    return value - WORD if value >> 31 else value


def divide(a, b):
    if b == 0:
        return -1
    quotient = abs(signed(a)) // abs(signed(b))
    return quotient if (signed(a) < 0) == (signed(b) < 0) else -quotient


def remainder(a, b):
    return signed(a) if b == 0 else signed(a) - divide(a, b) * signed(b)


def rotate_right(a, n):
    n &= 31
    return (a >> n) | (a << (32 - n))


def bits(a):
    return f"{a:032b}"


REGISTER = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a << (b & 31),
    "slt": lambda a, b: signed(a) < signed(b),
    "sltu": lambda a, b: a < b,
    "xor": lambda a, b: a ^ b,
    "srl": lambda a, b: a >> (b & 31),
    "sra": lambda a, b: signed(a) >> (b & 31),
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
    "mul": lambda a, b: a * b,
    "mulh": lambda a, b: (signed(a) * signed(b)) >> 32,
    "mulhsu": lambda a, b: (signed(a) * b) >> 32,
    "mulhu": lambda a, b: (a * b) >> 32,
    "div": divide,
    "divu": lambda a, b: a // b if b else -1,
    "rem": remainder,
    "remu": lambda a, b: a % b if b else a,
    "sh1add": lambda a, b: 2 * a + b,
    "sh2add": lambda a, b: 4 * a + b,
    "sh3add": lambda a, b: 8 * a + b,
    "andn": lambda a, b: a & ~b,
    "orn": lambda a, b: a | ~b,
    "xnor": lambda a, b: ~(a ^ b),
    "max": lambda a, b: max(signed(a), signed(b)),
    "maxu": max,
    "min": lambda a, b: min(signed(a), signed(b)),
    "minu": min,
    "rol": lambda a, b: rotate_right(a, 32 - (b & 31)),
    "ror": rotate_right,
}
IMMEDIATE = {
    "addi": lambda a, i: a + i,
    "slti": lambda a, i: signed(a) < i,
    "sltiu": lambda a, i: a < i % WORD,
    "xori": lambda a, i: a ^ (i % WORD),
    "ori": lambda a, i: a | (i % WORD),
    "andi": lambda a, i: a & (i % WORD),
}
SHIFT = {
    "slli": lambda a, i: a << i,
    "srli": lambda a, i: a >> i,
    "srai": lambda a, i: signed(a) >> i,
    "rori": rotate_right,
}
UNARY = {
    "clz": lambda a: len(bits(a)) - len(bits(a).lstrip("0")),
    "ctz": lambda a: len(bits(a)) - len(bits(a).rstrip("0")),
    "cpop": lambda a: bits(a).count("1"),
    "sext.b": lambda a: (a & 0xFF) - 0x100 if a & 0x80 else a & 0xFF,
    "sext.h": lambda a: (a & 0xFFFF) - 0x10000 if a & 0x8000 else a & 0xFFFF,
    "zext.h": lambda a: a & 0xFFFF,
    "orc.b": lambda a: sum(0xFF << s for s in (0, 8, 16, 24) if a >> s & 0xFF),
    "rev8": lambda a: int.from_bytes(a.to_bytes(4, "little"), "big"),
}


def cases():
    for name, meaning in REGISTER.items():
        for a, b in PAIRS:
            yield f"{name} a2, a0, a1", a, b, meaning(a, b)
    for table, operands in ((IMMEDIATE, IMMEDIATES), (SHIFT, SHIFTS)):
        for name, meaning in table.items():
            for a in EDGES[::3]:
                for i in operands:
                    yield f"{name} a2, a0, {i}", a, 0, meaning(a, i)
    for name, meaning in UNARY.items():
        for a in EDGES:
            yield f"{name} a2, a0", a, 0, meaning(a)
    for i in (0, 1, 0x80000, 0xFFFFF):
        yield f"lui a2, {i}", 0, 0, i << 12


def assemble(lines):
    with tempfile.TemporaryDirectory() as folder:
        base = pathlib.Path(folder)
        (base / "a.s").write_text("\n".join(lines) + "\n")
        subprocess.run(["riscv64-unknown-elf-as", "-march=rv32im_zba_zbb", "-mabi=ilp32", "-o", base / "a.o",
                        base / "a.s"], check=True)
        subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", "-j", ".text", base / "a.o", base / "a.bin"],
                       check=True)
        data = (base / "a.bin").read_bytes()
    return [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]


def main():
    rows = list(cases())
    words = assemble([row[0] for row in rows])
    assert len(words) == len(rows)
    print("// Written by make_instruction_table.py: text, word, a0, a1, expected a2.")
    for (text, a, b, expected), word in zip(rows, words):
        print(f'{{"{text}", 0x{word:08X}, 0x{a:08X}, 0x{b:08X}, 0x{expected % WORD:08X}}},')


if __name__ == "__main__":
    main()
