"""Classes and functions as records."""

from __future__ import annotations

import weakref
from types import CodeType, FunctionType, MethodType
from typing import Any

from stepscope.evidence.frame_values import Code, Kind
from stepscope.record.observers.own_frames import is_own

_KINDS: weakref.WeakKeyDictionary[Any, Kind] = weakref.WeakKeyDictionary()
_METHODS = ("__init__", "forward", "__getitem__", "__iter__")


def code_record(code: CodeType) -> Code:
    """Where a function stands."""
    return Code(code.co_filename, code.co_name, code.co_firstlineno, is_own(code))


def code_of(value: Any) -> Code | None:
    """The code of a plain function or method; None for anything else that can be called."""
    plain = value.__func__ if isinstance(value, MethodType) else value
    return code_record(plain.__code__) if isinstance(plain, FunctionType) else None


def kind_of(kind: Any) -> Kind:
    """A class: its names and the methods that tell where its objects are made and used. One record for each."""
    known = _KINDS.get(kind)
    if known is not None:
        return known
    found = _KINDS[kind] = Kind(tuple(base.__name__ for base in kind.__mro__))
    for name in _METHODS:
        code = getattr(getattr(kind, name, None), "__code__", None)
        if isinstance(code, CodeType):
            found.methods[name] = code_record(code)
    return found


def held_by(owner: Any) -> dict[str, Any]:
    """An object's own attributes, whatever its class does when asked for one."""
    try:
        found = object.__getattribute__(owner, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}
