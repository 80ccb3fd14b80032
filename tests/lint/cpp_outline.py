"""The classes and functions of a C++ file, found without a compiler: enough to count members, pure virtuals and lines.

Comments, literals and directives are blanked, brackets are matched, and the text before each brace says what it opens.
Function bodies are not looked into, so a class inside a function counts as lines of that function.
"""

import dataclasses
import re


class Unbalanced(Exception):
    """The brackets of a file do not match."""


@dataclasses.dataclass
class Class:
    name: str  # Outer::Inner, without namespaces
    first: int  # line, from 1
    last: int
    members: int = 0  # non-static data members
    virtuals: int = 0  # pure virtual functions

    @property
    def lines(self):
        return self.last - self.first + 1


@dataclasses.dataclass
class Function:
    name: str  # Class::Function, or Suite.Case of a test
    first: int
    last: int

    @property
    def lines(self):
        return self.last - self.first + 1


_TOKEN = re.compile(
    r"""(?P<directive>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      | (?P<blank>//(?:\\\n|[^\n])*|/\*.*?\*/
          |(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
          |(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"
          |(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | [A-Za-z_]\w* | \.?\d(?:['.\w]|(?<=[eEpP])[-+])*""", re.DOTALL | re.MULTILINE | re.VERBOSE)


def blanked(text):
    """The text with comments, literals, directives and all but the first branch of each #if as spaces; lines stay."""
    # One state for each open #if: 0 in the branch that is kept, 1 before it, 2 after it.
    out, at, states = [], 0, []

    def keep(piece, visible):
        out.append(piece if visible else re.sub(r"[^\n]", " ", piece))

    for token in _TOKEN.finditer(text):
        keep(text[at:token.start()], not any(states))
        directive = re.match(r"\s*#\s*(if\s+0\b|\w+)", token["directive"] or "")
        if directive and directive[1].startswith("if"):
            states.append(1 if directive[1].endswith("0") else 0)
        elif directive and directive[1] in ("else", "elif") and states:
            states[-1] = 0 if states[-1] == 1 else 2
        elif directive and directive[1] == "endif" and states:
            states.pop()
        keep(token[0], not any(states) and token["directive"] is None and token["blank"] is None)
        at = token.end()
    keep(text[at:], not any(states))
    return "".join(out)


def _matching(code):
    """{position of an opening bracket: position of the closing one}."""
    pairs, stack = {}, []
    for match in re.finditer(r"[(){}\[\]]", code):
        if match[0] in "({[":
            stack.append(match)
        elif not stack or stack[-1][0] + match[0] not in ("()", "{}", "[]"):
            raise Unbalanced(f"line {code.count(chr(10), 0, match.start()) + 1}: {match[0]} closes nothing")
        else:
            pairs[stack.pop().start()] = match.start()
    if stack:
        raise Unbalanced(f"line {code.count(chr(10), 0, stack[-1].start()) + 1}: {stack[-1][0]} is not closed")
    return pairs


_OPERATOR = re.compile(r"\boperator\s*(?:\(\)|\[\]|<=>|->\*?|&&|\|\||\+\+|--|(?:<<|>>|[-+*/%^&|~!=<>])=?|,)|\boperator\s+")
_COMPARISON = re.compile(r"<=>|->|[=!<>]=(?!=)")
_TEMPLATE_ARGUMENTS = re.compile(r"(?<=\w)\s*<[^<>;]*>")
_ATTRIBUTE = re.compile(r"\[\]|\b(?:alignas|__attribute__|noexcept|decltype|explicit|asm)\s*\(\)"
                        r"|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b\s*(?:\(\))?|\btemplate\b|\btypedef\b")
_LABELS = re.compile(r"(?:\s*(?:public|private|protected)\s*:(?!:))+")
_SCOPE = re.compile(r"(?:inline\s+)?namespace\b|extern\s*$")
_CLASS = re.compile(r"(?:class|struct|union)\b(?P<name>(?:[^:()={]|::)*)(?::(?!:)[^()={]*)?$")
_FUNCTION = re.compile(r"(?P<name>~?\w+(?:\s*::\s*~?\w+)*)\s*\(\)")
_MACRO = re.compile(r"\s*[A-Z][A-Z0-9_]*\s*\(\)\s*")  # TEST(Suite, Case), MATCHER_P(Name, ...)
_NOT_A_MEMBER = re.compile(r"(?:using|friend|static_assert|enum|class|struct|union|extern)\b|.*\bstatic\b", re.DOTALL)


class _Reader:
    def __init__(self, text):
        self.code = blanked(text)
        self.pairs = _matching(self.code)
        self.classes, self.functions = [], []

    def line(self, position):
        return self.code.count("\n", 0, position) + 1

    def collapsed(self, begin, end):
        """The text without the insides of its brackets."""
        out, at = [], begin
        while at < end:
            out.append(self.code[at])
            if at in self.pairs:
                at = self.pairs[at]
                out.append(self.code[at])
            at += 1
        return "".join(out)

    def plain(self, begin, end):
        """A declaration without what decides nothing: insides of brackets, template arguments, attributes, macros."""
        head = _COMPARISON.sub(" ", _OPERATOR.sub("operator_", self.collapsed(begin, end)))
        before = None
        while before != head:
            before, head = head, _TEMPLATE_ARGUMENTS.sub(" ", head)
        return _ATTRIBUTE.sub(" ", head).strip()

    def scope(self, begin, end, owner):
        """Reads declarations; `owner` is the Class they are in, or None."""
        start = at = begin
        while at < end:
            character = self.code[at]
            if character == ";":
                self.declaration(start, at, owner)
                start = at + 1
            elif character == "{":
                close = self.pairs[at]
                if self.block(self.head(start), at, close, owner):
                    start = close + 1
                at = close
            elif at in self.pairs:
                at = self.pairs[at]
            at += 1

    def head(self, start):
        """Where a declaration starts: after access labels and spaces."""
        labels = _LABELS.match(self.code, start)
        start = labels.end() if labels else start
        return start + len(self.code[start:]) - len(self.code[start:].lstrip())

    def block(self, start, brace, close, owner):
        """What a brace opens. False: a value, and the declaration is not over."""
        plain = self.plain(start, brace)
        inside = f"{owner.name}::" if owner else ""
        opened = _CLASS.match(plain)
        if _SCOPE.match(plain):
            self.scope(brace + 1, close, owner)
        elif opened:
            names = [name for name in re.findall(r"[\w:]+", opened["name"]) if name != "final"]
            one = Class(inside + (names[-1] if names else "(unnamed)"), self.line(start), self.line(close))
            self.classes.append(one)
            self.scope(brace + 1, close, one)
        elif re.match(r"enum\b", plain):
            pass
        elif _MACRO.fullmatch(self.collapsed(start, brace)):
            names = re.findall(r"\w+", self.code[start:brace])[1:3]
            self.functions.append(Function(".".join(names), self.line(start), self.line(close)))
        elif _FUNCTION.search(plain.partition("=")[0]):
            initialisers = re.search(r"\(\)[^:]*:(?!:)", plain)
            if initialisers and self.code[start:brace].rstrip()[-1] not in ")}":
                return False
            name = re.sub(r"\s", "", _FUNCTION.search(plain)["name"])
            self.functions.append(Function(inside + name, self.line(start), self.line(close)))
        else:
            return False
        return True

    def declaration(self, start, end, owner):
        if owner is None:
            return
        start = self.head(start)
        plain = self.plain(start, end)
        if re.search(r"\(\).*=\s*0$", plain, re.DOTALL):
            owner.virtuals += 1
            return
        plain = re.sub(r"=[^,]*", "", plain).replace("{}", "").strip()
        pointer = re.search(r"\(\s*[*&]", self.code[start:end])
        if plain and not _NOT_A_MEMBER.match(plain) and ("(" not in plain or pointer):
            owner.members += plain.count(",") + 1


def outline(text):
    """(classes, functions) of a file; Unbalanced if its brackets do not match."""
    reader = _Reader(text)
    reader.scope(0, len(reader.code), None)
    return reader.classes, reader.functions
