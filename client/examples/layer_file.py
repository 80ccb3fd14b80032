"""Prints the content of layer.ttnn, a compiled program of one layer, relu(x @ w + bias), as JSON.

The build writes the file of it, in the newest schema that ttfd reads.
"""

import json

HASHES = {"schema_hash": "433d79f929b1097327dd9448324080b13f8fad8c2dd5ab775bd66d9806d5e42d", "ttmlir_git_hash": "71046369d603b97fd6a8dd8b947ca8588ac2a74f"}


def tensor(number, shape):
    """A tensor on the card, in tiles."""
    memory = {"storage_type": "Device", "tile_shape": {"y": 32, "x": 32}, "data_type": "BFloat16",
              "memory_config": {"tensor_memory_layout": "Interleaved", "buffer_type": "DRAM"}}
    return {"global_id": number, "desc": {"shape": shape, "mesh_shape": [1, 1], "layout": {"memory_desc": memory}}}


def operation(kind, line, **fields):
    return {"type_type": kind, "type": fields, "loc_info": f'loc("layer.mlir":{line}:10)'}


x, w, bias = tensor(1, [64, 128]), tensor(2, [128, 96]), tensor(3, [1, 96])
product, total, y = (tensor(number, [64, 96]) for number in (4, 5, 6))
operations = [
    operation("GetDeviceOp", 3, mesh={"y": 1, "x": 1}, chip_ids=[0], out={"global_id": 7}),
    operation("MatmulOp", 4, a=x, b=w, out=product),
    operation("EltwiseBinaryOp", 5, type="Add", lhs=product, rhs=bias, out=total),
    operation("EltwiseUnaryOp", 6, type="Relu", **{"in": total, "out": y}),
]
program = {"name": "layer", "inputs": [x, w, bias], "outputs": [y], "operations": operations}
print(json.dumps({"version": {"major": 0, "minor": 0, "patch": 1}, **HASHES, "programs": [program]}))
