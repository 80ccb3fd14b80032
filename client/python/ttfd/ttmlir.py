"""Compiled programs: files of the tt-mlir compiler, listed and run on a card. docs/compiled-programs.md is the guide.

    binary = ttmlir.Binary("simple_multiply.ttnn")
    with tt.open() as card:
        c, = binary.submit(card, 0, [card.tensor(a, "float32"), card.tensor(b, "float32")])
"""
from ttfd._native import Binary, OperationInfo, ProgramInfo, TensorInfo, write_system_description

__all__ = ["Binary", "OperationInfo", "ProgramInfo", "TensorInfo", "write_system_description"]
