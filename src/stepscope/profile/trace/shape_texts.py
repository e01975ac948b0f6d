"""Shapes and dtypes as traces write them, read and made readable."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec

from stepscope.files.decoding import MALFORMED

_DTYPES = {
    "float": "float32", "double": "float64", "c10::half": "float16", "c10::bfloat16": "bfloat16",
    "half": "float16", "bfloat16": "bfloat16", "at::half": "float16", "at::bfloat16": "bfloat16",
    "long": "int64", "long int": "int64", "int64_t": "int64", "int": "int32", "short": "int16", "short int": "int16",
    "signed char": "int8", "unsigned char": "uint8", "bool": "bool",
    "c10::complex<float>": "complex64", "c10::complex<double>": "complex128",
    "c10::float8_e4m3fn": "float8_e4m3fn", "c10::float8_e5m2": "float8_e5m2",
    "c10::float8_e4m3fnuz": "float8_e4m3fnuz", "c10::float8_e5m2fnuz": "float8_e5m2fnuz",
}  # fmt: skip


def dtype_name(text: str) -> str:
    """torch's name for the C++ type a trace gives; "" for anything but a tensor.

    >>> dtype_name("c10::BFloat16"), dtype_name("long int"), dtype_name("Scalar")
    ('bfloat16', 'int64', '')
    """
    return _DTYPES.get(text.lower(), "")


def _listed(text: str) -> list[Any]:
    try:
        found = msgspec.json.decode(text)
    except MALFORMED:
        return []
    return found if isinstance(found, list) else []


@lru_cache(16384)
def types_of(text: str) -> tuple[str, ...]:
    """The dtype of each input, "" for anything but a tensor."""
    return tuple(dtype_name(one) if isinstance(one, str) else "" for one in _listed(text))


@lru_cache(16384)
def plain_dims(text: str) -> str:
    """The shapes as a person writes them.

    >>> plain_dims("[[8, 256, 512], [1536, 512], []]"), plain_dims("[[[512], [512]], []]")
    ('8x256x512, 1536x512', '2 tensors')
    """
    return ", ".join(_plain(one) for one in _listed(text) if one)


def _plain(one: Any) -> str:
    if isinstance(one, list) and all(isinstance(size, int) for size in one):
        return "x".join(map(str, one))
    return f"{len(one)} tensors" if isinstance(one, list) else str(one)


@lru_cache(16384)
def plain_types(text: str) -> str:
    """The dtypes as a person writes them, one when all are the same.

    >>> plain_types('["float", "float", "Scalar"]'), plain_types('["float", "long int"]')
    ('float32', 'float32, int64')
    """
    found = [one for one in types_of(text) if one]
    return found[0] if len(set(found)) == 1 else ", ".join(found)
