"""Single objects of the script: an attribute of one set for a while, or a hook on one module.

    undo = lend(fetcher, "collate_fn", timed)        # fetcher.collate_fn is ours until undo()

Unlike a patch of a class, this reaches one object only, and does not keep it alive.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, MutableMapping
from typing import Any

_MISSING: Any = object()
Undo = Callable[[], None]


def lend(owner: Any, name: str, value: Any) -> Undo:
    """Set an attribute of one object; what is returned puts back what was there, unless the script has changed it.

    >>> from types import SimpleNamespace
    >>> one = SimpleNamespace(size=3)
    >>> undo = lend(one, "size", 4)
    >>> one.size
    4
    >>> undo()
    >>> one.size
    3
    """
    before = vars(owner).get(name, _MISSING)
    setattr(owner, name, value)
    owner_of, value_of = _weakly(owner), _weakly(value)

    def undo() -> None:
        found = owner_of()
        if found is None or vars(found).get(name, _MISSING) is not value_of():
            return
        if before is _MISSING:
            delattr(found, name)
        else:
            setattr(found, name, before)

    return undo


def lend_entry(where: MutableMapping[Any, Any], key: Any, value: Any) -> Undo:
    """The same for an entry of a mapping: a module among those of a Sequential, a transform in an object's `__dict__`.

    >>> where = {"transform": len}
    >>> undo = lend_entry(where, "transform", max)
    >>> where["transform"] = min                        # the script changes it meanwhile: theirs stays
    >>> undo(); where
    {'transform': <built-in function min>}
    """
    before = where[key]
    where[key] = value

    def undo() -> None:
        if where.get(key) is value:
            where[key] = before

    return undo


def hook_inputs(module: Any, change: Callable[[Any], Any]) -> Undo:
    """Have one module called with `change(args)` instead of its positional arguments."""
    handle = module.register_forward_pre_hook(lambda module, args: change(args))
    return lambda: handle.remove()


def _weakly(value: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value
