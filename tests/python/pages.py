"""Runs the commands and programs that a page of the documents shows.

Each fenced block of a page says what it is, by its language or by a comment in the line above it:

    ```console                      commands after "$ " (and "> "), each with the output it must have, where "..." stands for
                                    anything; not compared after a command in the background ("&")
    <!-- file: NAME -->             the content of NAME, in the current folder of the commands
    <!-- append: NAME -->           goes to the end of that file
    <!-- continues: NAME -->        more lines of a program of another block (of main() in C++, of the session's block in Python)
    <!-- part of: PATH -->          lines that PATH, a file of this repository, has as well
    <!-- run by: .ci/run -->        commands that continuous integration runs: each of `./dev ...` stands there
    <!-- not run: REASON -->        what cannot be tried here
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import select
import subprocess
import textwrap
import time

from conftest import SOURCE

_BLOCK = re.compile(r"^(?:<!-- ([a-z ]+): ([^\n]+) -->\n)?```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_KINDS = {"file", "append", "continues", "part of", "run by", "not run"}
PAGES = ["README.md", "docs/quickstart.md", "docs/kernels.md", "docs/compute-kernels.md", "docs/tensors.md", "docs/clients.md", "docs/compiled-programs.md", "docs/ttfdctl.md"]
PROGRAMS = ["first.cc", "first.py"]  # of the quickstart, which other pages continue
COMMAND_S = 240
START_S = 30
_END = "end-of-command"


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block: kind "console" or one of the comments above, the comment's argument, the text."""

    page: str
    kind: str
    name: str
    text: str


def blocks(page: str, first: str = "", last: str = "") -> list[Block]:
    """The blocks of a page; with headings, those from the first heading on and before the last."""
    text = (SOURCE / page).read_text()
    start = text.index(f"\n{first}\n") if first else 0
    end = text.index(f"\n{last}\n") if last else len(text)
    found = []
    for kind, name, language, body in _BLOCK.findall(text[start:end]):
        kind = kind or language
        assert kind in _KINDS | {"console"}, f"{page}: a block that nothing runs:\n{body}"
        assert kind != "console" or body.startswith("$ "), f"{page}: a block that does not begin with a command:\n{body}"
        assert kind != "continues" or name in PROGRAMS, f"{page}: {name} is no program of the quickstart"
        found.append(Block(page, kind, name, body))
    assert not re.search("\n\n    \\S", _BLOCK.sub("", text)), f"{page}: an indented block, which nothing runs"
    assert text[start:end].count("\n```") == 2 * len(found), f"{page}: a block that this does not understand"
    return found


def file_text(page: str, name: str) -> str:
    """The content of the first block that is this file."""
    return next(block.text for block in blocks(page) if block.kind == "file" and block.name == name)


def continued(program: str, name: str, more: list[Block]) -> str:
    """A program with what other pages add to it."""
    added = textwrap.indent("".join(block.text for block in more if block.kind == "continues" and block.name == name), "    ")
    return program.removesuffix("}\n") + added + "}\n" if name.endswith(".cc") else program + added


def matches(expected: str, output: str) -> bool:
    """Whether the output is as shown: "..." on a line of its own stands for any lines, elsewhere for anything on that line."""
    pattern = ""
    for line in expected.splitlines():
        pattern += "(?:.*\n)*?" if line == "..." else ".*".join(map(re.escape, line.rstrip().split(" ... "))) + "\n"
    return re.fullmatch(pattern, re.sub(r"[ \t]+\n", "\n", output)) is not None


class Shell:
    """A shell in which the commands of a page run one after the other; `instead` is put in the place of what the page says."""

    def __init__(self, folder: pathlib.Path, instead: dict[str, str], **environment: str) -> None:
        self.instead = instead
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["bash", "--noprofile", "--norc"], cwd=folder, env={**os.environ, "HOME": str(folder), **environment},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        os.set_blocking(self.process.stdout.fileno(), False)

    def run(self, command: str) -> tuple[int, str]:
        """The exit code and the output of a command."""
        self.process.stdin.write(f"{command}\n{{ ended=$?; echo; echo {_END} $ended; }} 2>/dev/null\n".encode())
        self.process.stdin.flush()
        output, deadline = b"", time.monotonic() + COMMAND_S
        while not (ended := re.search(rf"\n{_END} (\d+)\n$".encode(), output)):
            remaining = deadline - time.monotonic()
            assert remaining > 0 and self.process.poll() is None, f"$ {command}\n{output.decode()}"
            if select.select([self.process.stdout], [], [], min(remaining, 1))[0]:
                output += self.process.stdout.read() or b""
        return int(ended.group(1)), output[:ended.start()].decode()

    def play(self, found: list[Block]) -> None:
        """Writes the files and runs the commands of the blocks, in their order."""
        for block in found:
            text = block.text
            for shown, here in self.instead.items():
                text = text.replace(shown, here)
            if block.kind in ("file", "append"):
                folder = pathlib.Path(self.run("pwd")[1].strip())
                with open(folder / block.name, "w" if block.kind == "file" else "a", encoding="utf-8") as stream:
                    stream.write(text)
            elif block.kind == "console":
                for command, expected in re.findall(r"^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)", text, re.MULTILINE):
                    command = command.replace("\n> ", "\n").rstrip("\n")
                    if command.endswith("&"):
                        self._start(command)
                        continue
                    code, output = self.run(command)
                    assert code == 0 and matches(expected, output), f"{block.page}: $ {command}\n{output}\nshown:\n{expected}"

    def _start(self, command: str) -> None:
        """Starts a daemon in the background and waits for its socket."""
        self.run(f"{command.removesuffix('&')} >$HOME/background.log 2>&1 &")
        deadline = time.monotonic() + START_S
        for path in re.findall(r"--socket (\S+)", command):
            while not os.path.exists(path):
                assert time.monotonic() < deadline, f"$ {command}\n{self.run('cat $HOME/background.log')[1]}"
                time.sleep(0.01)

    def end(self) -> None:
        """Ends the shell and all it has started."""
        os.killpg(self.process.pid, 9)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
