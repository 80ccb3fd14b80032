#!/usr/bin/python3
"""The interpreter's handlers end by jumping to the next one: a call in its place takes a frame of the host's stack for
every instruction. Reads the disassembly of the compiled interpreter (interpret.cc), so it holds for any compiler.

A handler is a function with the loop's state as its parameters, the ones out of line included. It must not make an
indirect call, which is how the next handler is reached, nor call another handler. BudgetUsed, which only returns, is
none."""

import argparse
import re
import subprocess
import sys

PARAMETERS = "(ttfd::sim::Hart*, ttfd::sim::Decoded*, long, std::byte*, std::byte*, long)"
RETURNS = "ttfd::sim::(anonymous namespace)::BudgetUsed("
FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INDIRECT = re.compile(r"\t.*\b(callq?|jmpq?)\s+\*")
DIRECT = re.compile(r"\t.*\bcallq?\s+[0-9a-f]+ ")
RELOCATION = re.compile(r": R_X86_64_\S+\s+(.*?)([+-]0x[0-9a-f]+)?$")
FEWEST_HANDLERS = 1000
SKIPPED = 77


def functions(disassembly):
    """Name and lines of each function of `objdump --disassemble --demangle --reloc`."""
    name, lines = None, []
    for line in disassembly.splitlines():
        found = FUNCTION.match(line)
        if found:
            if name is not None:
                yield name, lines
            name, lines = found[1], []
        else:
            lines.append(line)
    if name is not None:
        yield name, lines


def is_handler(function):
    return PARAMETERS in function and RETURNS not in function


def check(disassembly):
    """What is wrong, and how many handlers reach the next one by an indirect jump."""
    wrong, jumping = [], 0
    for name, lines in functions(disassembly):
        if not is_handler(name):
            continue
        jumps = called = False
        for line in lines:
            indirect = INDIRECT.search(line)
            target = RELOCATION.search(line)
            if indirect and indirect[1].startswith("call"):
                wrong.append(f"{name}: calls the next handler: {line.strip()}")
            elif indirect:
                jumps = True
            elif target and called and is_handler(target[1]):
                wrong.append(f"{name}: calls a handler: {target[1]}")
            elif DIRECT.search(line) and is_handler(line) and f"<{name}+0x" not in line:
                wrong.append(f"{name}: calls a handler: {line.strip()}")
            called = bool(DIRECT.search(line))
        jumping += jumps
    return wrong, jumping


def sample(*body):
    return f"0000000000000010 <Handle<Add>{PARAMETERS}>:\n" + "".join(f"  10:\t{line}\n" for line in body)


def self_test():
    """Each kind of call is found; jumps and calls of other functions are not."""
    good = sample("lea    0x10(%rsi),%rsi", "call   20 <Handle+0x5>", "\t11: R_X86_64_PLT32\tRaiseFault()-0x4", "jmp    *%rax")
    assert check(good) == ([], 1), check(good)
    for call in ("call   *%rax", "notrack call *%rax"):
        assert check(sample(call, "ret"))[0], call
    out_of_line = sample("call   20 <Handle+0x5>", f"\t11: R_X86_64_PLT32\tLoad<Rare>{PARAMETERS}-0x4", "ret")
    assert check(out_of_line)[0]
    assert check(sample(f"call   90 <Load<Rare>{PARAMETERS}>", "ret"))[0]
    assert not check(sample(f"call   90 <ttfd::sim::Stop {RETURNS}{PARAMETERS[1:]}>", "ret"))[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skip", default="", help="why this build need not keep the rule")
    parser.add_argument("object", help="interpret.cc, compiled")
    options = parser.parse_args()
    self_test()
    if options.skip:
        print(f"skipped: {options.skip}")
        return SKIPPED
    disassembly = subprocess.run(["objdump", "--disassemble", "--demangle", "--reloc", "--no-show-raw-insn", options.object],
                                 capture_output=True, text=True, check=True).stdout
    wrong, jumping = check(disassembly)
    if jumping < FEWEST_HANDLERS:
        wrong.append(f"{jumping} handlers jump to the next one; there are at least {FEWEST_HANDLERS}")
    print("\n".join(wrong) or f"{jumping} handlers jump to the next one, none calls it")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
