"""Text as tokens: bytes, or the byte-pair encoding of a tokenizer.json."""

from __future__ import annotations

import json
import pathlib
from typing import Iterator, Sequence


class ByteTokenizer:
    """A token is a byte of UTF-8."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: Sequence[int]) -> str:
        """What is no UTF-8, or no byte, becomes replacement characters."""
        return bytes(min(token, 0xFF) for token in tokens).decode(errors="replace")


def byte_letters() -> dict[int, str]:
    """The letter that stands for each byte in a tokenizer.json: itself if it can be seen, else one from U+0100 on."""
    seen = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return {byte: chr(byte if byte in seen else next(others)) for byte in range(256)}


class BpeTokenizer:
    """The byte-pair encoding of a tokenizer.json: text is split by a pattern, and the bytes of each part are merged by rank.

    Needs the Debian package python3-regex: the patterns have classes of letters that Python's own module does not know."""

    def __init__(self, path: pathlib.Path) -> None:
        try:
            import regex  # pylint: disable=import-outside-toplevel
        except ImportError:
            raise SystemExit(f"{path} needs the Debian package python3-regex") from None
        given = json.loads(path.read_text(encoding="utf-8"))
        model, steps = given.get("model", {}), given.get("pre_tokenizer") or {}
        if model.get("type") != "BPE":
            raise ValueError(f"{path}: the model is {model.get('type')}; it must be BPE")
        splits = [step for step in steps.get("pretokenizers", [steps]) if step.get("type") == "Split"]
        patterns = [step["pattern"].get("Regex") for step in splits if step.get("behavior", "Isolated") == "Isolated"]
        if len(splits) != 1 or len(patterns) != 1 or patterns[0] is None:
            raise ValueError(f"{path}: the pre-tokenizer must split by one regular expression, and its behavior be Isolated")
        self.letters = byte_letters()
        self.bytes = {letter: byte for byte, letter in self.letters.items()}
        self.pattern, self.vocabulary = regex.compile(patterns[0]), model["vocab"]
        merges = (tuple(merge.split(" ")) if isinstance(merge, str) else tuple(merge) for merge in model["merges"])
        self.ranks = {pair: rank for rank, pair in enumerate(merges)}
        self.ignores_merges = model.get("ignore_merges", False)
        self.added = {token["content"]: token["id"] for token in given.get("added_tokens", [])}
        self.added_pattern = regex.compile("|".join(regex.escape(token) for token in sorted(self.added, key=len, reverse=True)) or "(?!)")
        self.names = {number: name for name, number in self.vocabulary.items()}
        self.added_names = {number: name for name, number in self.added.items()}

    def merged(self, part: str) -> list[str]:
        """The letters of a part, of which the pair with the lowest rank is merged until there is none."""
        if self.ignores_merges and part in self.vocabulary:
            return [part]
        symbols = list(part)
        while len(symbols) > 1:
            ranks = [self.ranks.get(pair, len(self.ranks)) for pair in zip(symbols, symbols[1:])]
            first = min(range(len(ranks)), key=ranks.__getitem__)
            if ranks[first] == len(self.ranks):
                break
            symbols[first:first + 2] = [symbols[first] + symbols[first + 1]]
        return symbols

    def encode_plain(self, text: str) -> Iterator[int]:
        """Of the parts that the pattern matches, and of what is between them."""
        ends = sorted({0, len(text)} | {end for part in self.pattern.finditer(text) for end in part.span()})
        for begin, end in zip(ends, ends[1:]):
            letters = "".join(self.letters[byte] for byte in text[begin:end].encode())
            yield from (self.vocabulary[symbol] for symbol in self.merged(letters))

    def encode(self, text: str) -> list[int]:
        """Added tokens, such as <|begin_of_text|>, are found in the text by their names; none is added. The time grows with the square of
        the longest part."""
        tokens, end = [], 0
        for found in self.added_pattern.finditer(text):
            tokens += [*self.encode_plain(text[end:found.start()]), self.added[found.group()]]
            end = found.end()
        return tokens + list(self.encode_plain(text[end:]))

    def decode(self, tokens: Sequence[int]) -> str:
        """What is no UTF-8, and tokens without a name, become replacement characters."""
        def bytes_of(token: int) -> bytes:
            if token in self.added_names:
                return self.added_names[token].encode()
            return bytes(self.bytes.get(letter, 0xFF) for letter in self.names.get(token, "\0"))
        return b"".join(map(bytes_of, tokens)).decode(errors="replace")


def tokenizer_of(folder: pathlib.Path, vocabulary: int) -> ByteTokenizer | BpeTokenizer:
    """That of a model with so many tokens: of its tokenizer.json, or bytes where it has none. ValueError: it needs one."""
    path = folder / "tokenizer.json"
    if path.exists():
        return BpeTokenizer(path)
    if vocabulary > 256:
        raise ValueError(f"{path} is missing; only tokens of a model with at most 256 are bytes, and this one has {vocabulary}")
    return ByteTokenizer()
