"""What to do with a torch function that comes by, and what to call it. Decided once per function."""

from __future__ import annotations

from typing import Any

PASS, OP, SYNC, BACKWARD = 0, 1, 2, 3
Plan = tuple[int, str]

_TENSOR_PROPERTIES = {"T", "mT", "H", "mH", "real", "imag", "data"}
_SYNCS = {
    "item": "item",
    "tolist": "tolist",
    "numpy": "numpy",
    "__bool__": "bool",
    "__float__": "float",
    "__int__": "int",
    "__index__": "index",
    "__complex__": "complex",
    "__array__": "numpy",
    "__contains__": "contains",
    "equal": "equal",
    "allclose": "allclose",
    "is_nonzero": "bool",
}
_QUESTIONS = {
    "size", "dim", "ndimension", "numel", "nelement", "stride", "element_size", "storage_offset", "get_device",
    "storage", "untyped_storage", "storage_type", "data_ptr", "has_names", "register_hook", "retain_grad",
    "register_post_accumulate_grad_hook", "__len__", "__repr__", "__hash__", "__format__", "__dir__", "__reduce_ex__",
    "__deepcopy__", "__setstate__", "promote_types", "result_type", "can_cast", "iinfo", "finfo",
    "get_default_dtype", "__set__", "__delete__", "_is_view", "_nnz", "sparse_dim", "dense_dim", "qscheme",
}  # fmt: skip
_RENAMED = {
    "__radd__": "add", "__rmul__": "mul", "__rmatmul__": "matmul", "__rdiv__": "reciprocal_mul",
    "__rtruediv__": "reciprocal_mul", "__rpow__": "pow", "__rsub__": "rsub", "__rfloordiv__": "floor_divide",
    "__floordiv__": "floor_divide", "__rmod__": "remainder", "__iadd__": "add_", "__isub__": "sub_",
    "__imul__": "mul_", "__idiv__": "div_", "__itruediv__": "div_", "__ipow__": "pow_", "__pow__": "pow",
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor", "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_", "__ixor__": "bitwise_xor_", "__invert__": "bitwise_not", "__neg__": "neg",
    "__truediv__": "div", "__matmul__": "matmul", "__getitem__": "getitem", "__setitem__": "setitem_",
    "_is_all_true": "all", "_is_any_true": "any",
}  # fmt: skip


def plan_for(function: Any) -> Plan:
    """Pass shape questions and property reads through; record the rest under the name a reader knows."""
    name = str(getattr(function, "__name__", None) or type(function).__name__)
    if name == "__get__":
        name = str(getattr(getattr(function, "__self__", None), "__name__", ""))
        return (OP, name) if name in _TENSOR_PROPERTIES else (PASS, name)
    if name == "backward" or (name == "grad" and getattr(function, "__module__", "") == "torch.autograd"):
        return BACKWARD, name
    if name in _RENAMED:
        return OP, _RENAMED[name]
    if name in _SYNCS:
        return SYNC, _SYNCS[name]
    if name in _QUESTIONS or (name.startswith(("is_", "_is_")) and not name.endswith("_")):
        return PASS, name
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    qualified = getattr(function, "_qualified_op_name", None)  # torch.ops: the overload is not part of the name
    if isinstance(qualified, str) or "." in name:
        name = name.split(".")[0]
    return OP, name
