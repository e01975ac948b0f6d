"""Which loader is for training, which for validation, which for the test.

Told by what happens to the batches: backward after a batch is training. Before anything has happened, the names in the
`for` statement and of its function are asked; a loader iterated without gradients is for evaluation.
"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from functools import lru_cache
from types import FrameType
from typing import Any, Literal
from weakref import WeakKeyDictionary

from stepscope.common.code_owner import is_own_file

Role = Literal["train", "val", "test"]

_WORDS: tuple[tuple[Role, frozenset[str]], ...] = (
    ("test", frozenset({"test", "tests", "testing", "holdout"})),
    ("val", frozenset({"val", "valid", "validation", "validate", "dev", "eval", "evaluate", "evaluation", "devel"})),
    ("train", frozenset({"train", "training", "trainer", "fit"})),
)

_SUFFIX = re.compile(r"_*(?:data)?_*(?:loader|set|iter|dl|ds)s?$|_*data$", re.IGNORECASE)
_CALLERS = 3
"""Functions that hand a loader on, and frames of a decorator between two of them."""
_PREFIX = re.compile(r"^(?:data_?)?(?:loader|set|dl|ds)_+", re.IGNORECASE)


def role_in_words(text: str) -> Role | None:
    """The role a name speaks of, if it speaks of one.

    >>> [role_in_words(t) for t in ("val_loader", "testloader", "self.train_dl", "dl", "trainval", "contest")]
    ['val', 'test', 'train', None, None, None]
    """
    words = {_SUFFIX.sub("", word.lower()) for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}
    found = [role for role, names in _WORDS if words & names]
    return found[0] if found else None


class Roles:
    """What is known of each loader."""

    def __init__(self) -> None:
        self._seen: WeakKeyDictionary[Any, Role] = WeakKeyDictionary()
        self._named: WeakKeyDictionary[Any, Role] = WeakKeyDictionary()
        self.told: Role | None = None
        """What a trainer says that it is doing now: a pass that begins is for that."""

    def of(self, loader: Any) -> Role | None:
        """By what was seen; else by its name; None while neither tells."""
        return self._seen.get(loader) or self._named.get(loader)

    def guess(self, loader: Any) -> None:
        """A pass is about to begin: read the names around it, once."""
        if self.told is not None:
            self._named[loader] = self.told
        if loader in self._seen or loader in self._named:
            return
        role = _named_in_main(loader) or _named_by_caller()
        if role is None and not _gradients_wanted():
            role = "val"
        if role is not None:
            self._named[loader] = role

    def saw_backward(self, loader: Any) -> None:
        self._seen[loader] = "train"

    def saw_no_backward(self, loader: Any) -> None:
        if self._seen.get(loader) != "train":
            self._seen[loader] = "test" if self._named.get(loader) == "test" else "val"


def _gradients_wanted() -> bool:
    torch = sys.modules.get("torch")
    return torch is None or bool(torch.is_grad_enabled())


def split_name(loader: Any) -> str:
    """What the script calls the data of a loader: `val` for `val_loader`, for `self.val_dl` and for `loaders["val"]`.

    '' where the names say nothing, as in `for batch in loader`.
    """
    for text in _names_in_main(loader):
        if name := _without_suffix(text):
            return name
    for text in _names_by_caller()[:-1]:
        if role_in_words(text) is not None:
            said = [one for one in text.split() if role_in_words(one) is not None]
            return _without_suffix(said[0])
    return ""


def _without_suffix(name: str) -> str:
    """
    >>> [_without_suffix(t) for t in ("val_loader", "testloader", "loader", "ood_test_dl", "valDataLoader", "dl_eval")]
    ['val', 'test', '', 'ood_test', 'val', 'eval']
    """
    return _SUFFIX.sub("", _PREFIX.sub("", name)).strip("_")


def _named_in_main(loader: Any) -> Role | None:
    return next((role for name in _names_in_main(loader) if (role := role_in_words(name)) is not None), None)


def _names_in_main(loader: Any) -> list[str]:
    """Global names of the script; its globals are a plain dict, looking at them keeps nothing alive."""
    main = sys.modules.get("__main__")
    found = []
    for name, value in list(vars(main).items()) if main is not None else ():
        if value is loader:
            found.append(name)
        elif type(value) is dict and len(value) < 20:
            found += [key for key, one in value.items() if one is loader and isinstance(key, str)]
    return found


def _named_by_caller() -> Role | None:
    return next((role for text in _names_by_caller() if (role := role_in_words(text)) is not None), None)


def _names_by_caller() -> list[str]:
    """The names in the statement that iterates, what its function was given for them, then the name of the function.

    From the source text, not from the frame's locals: reading those would keep every tensor among them alive.
    """
    frame: Any = sys._getframe(1)
    for _ in range(40):
        if frame.f_back is None:
            return []
        frame = frame.f_back
        if is_own_file(frame.f_code.co_filename):
            iterated = list(_iterated_at(frame.f_code.co_filename, frame.f_lineno))
            return [*iterated, *_handed_over(frame, iterated), frame.f_code.co_name]
    return []


def _handed_over(frame: FrameType, names: list[str]) -> list[str]:
    """`val_loader` where `evaluate(model, val_loader)` calls `def evaluate(model, loader)`, which iterates `loader`."""
    found: list[str] = []
    for _ in range(_CALLERS):
        code, caller = frame.f_code, _own_caller(frame)
        parameters = code.co_varnames[: code.co_argcount]
        is_method = parameters[:1] in (("self",), ("cls",))
        parameters = parameters[is_method:]
        given = {word for text in names for word in text.split() if word in parameters}
        if len(given) != 1 or caller is None:
            break
        frame = caller
        name = given.pop()
        said = _argument_at(frame.f_code.co_filename, frame.f_lineno, code.co_name, name, parameters.index(name))
        if not said:
            break
        found.append(said)
        names = [said]
    return found


def _own_caller(frame: FrameType | None) -> FrameType | None:
    """The script's frame that called this one, directly or through a decorator (`@torch.no_grad()`)."""
    for _ in range(_CALLERS):
        frame = None if frame is None else frame.f_back
        if frame is None or is_own_file(frame.f_code.co_filename):
            return frame
    return None


@lru_cache(maxsize=256)
def _argument_at(path: str, line: int, function: str, name: str, position: int) -> str:
    """The names in one argument of the only call of a function on a line; "" where there is no one such call."""
    calls = [
        node
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Call)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
        and getattr(node.func, "attr", getattr(node.func, "id", "")) == function
    ]
    if len(calls) != 1 or any(isinstance(one, ast.Starred) for one in calls[0].args):
        return ""
    by_name = {word.arg: word.value for word in calls[0].keywords}
    argument = by_name.get(name) or (calls[0].args[position] if position < len(calls[0].args) else None)
    return "" if argument is None else _words_of(argument)


def _tree(path: str) -> ast.AST:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


def _words_of(node: ast.AST) -> str:
    names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
    return " ".join(names + [one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)])


@lru_cache(maxsize=256)
def _iterated_at(path: str, line: int) -> tuple[str, ...]:
    """The expressions that line `line` of a file iterates over."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            source = node.iter
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("iter", "next"):
            source = node
        else:
            continue
        if source.lineno <= line <= (source.end_lineno or source.lineno):
            found.append((source.lineno, _words_of(source)))
    return tuple(text for _, text in sorted(found, reverse=True))
