from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.common.syntax import tree_of
from stepscope.diagnose.crash.bindings import node_site
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.held_open import HeldOpen, function_held, held_open
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.records.step import Site

_WHAT = re.compile(
    r"[Cc]an't pickle <function ([\w.<>]+) at|[Cc]an't (?:pickle|get)(?: local object| attribute)? ['<]?([\w.<>]+)"
    r"|cannot pickle '([\w.]+)' object"
)


@rule("data.not-picklable", severity="error", needs="crash")
def not_picklable(run: Evidence) -> Iterator[Proof]:
    """Something cannot be sent to another process or saved: a lambda, a function inside a function, an open file.

    Why it matters: spawned loader workers (always on Windows and macOS), `mp.spawn` and `torch.save` pickle what they
    are given. Pickle stores functions by name, so a lambda or a local function cannot be found again.

    What to do: define the function at the top of the file (or use `functools.partial`); open files and connections in
    the worker, when first used.

    Bad:
        self.transform = lambda x: x * 2
    Good:
        def double(x):
            return x * 2
        self.transform = double
    """
    crash = run.crash
    if crash is None or crash.last is None or not crash.is_a("AttributeError", "TypeError", "PicklingError"):
        return
    told = _WHAT.search(crash.text)
    if told is None or not crash.says(r"pickle"):
        return
    name = told[1] or told[2] or told[3]
    opened = None if told[3] is None else held_open(crash, name)
    if opened is not None:
        yield _open(crash, opened, name)
        return
    site = function_held(crash, name) or _defined(crash, name)
    is_function = "<lambda>" in name or "<locals>" in name
    what = "a lambda" if "<lambda>" in name else f"`{name.rpartition('.')[2]}`"
    yield Proof(
        where=site or crash.site,
        message=f"{what} cannot be pickled, but must go to another process or into a file",
        label="it cannot be imported by name" if is_function else f"holds a {name}",
        evidence={"what": name},
        fix="define it as a function at the top level of the file"
        if is_function
        else "open it in the process that uses it",
        related=[(crash.site, "it is pickled here")] if site is not None else [],
    )


def _open(crash: Crash, opened: HeldOpen, kind: str) -> Proof:
    workers = any("multiprocessing" in frame.file or "torch/utils/data" in frame.file for frame in crash.frames)
    goes = "every worker gets a pickled copy of the dataset" if workers else "it is pickled with the rest"
    first = f"if {opened.name} is None: {opened.name} = {opened.text}"
    return Proof(
        where=opened.site,
        message=f"`{opened.name}` holds a {kind}, which cannot be pickled, and {goes}",
        label=f"a {kind}",
        evidence={"attribute": opened.name, "class": kind},
        fix=f"set it to None here, and make it when it is first used in that process: {first}",
        related=[(crash.site, "it is pickled here")],
    )


def _defined(crash: Crash, name: str) -> Site | None:
    """Where a local function or lambda is defined: by the path that its qualified name gives."""
    path = [part for part in name.split(".") if part != "<locals>"]
    for frame in reversed(crash.own):
        here: ast.AST | None = tree_of(frame.file)
        for part in path[:-1]:
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            inside = ast.walk(here) if here is not None else iter(())
            here = next((one for one in inside if isinstance(one, kinds) and one.name == part), None)
        for one in ast.walk(here) if here is not None else ():
            if isinstance(one, ast.Lambda) and path[-1] == "<lambda>":
                return node_site(frame.file, one)
            if isinstance(one, (ast.FunctionDef, ast.ClassDef)) and one.name == path[-1] and "<locals>" in name:
                return node_site(frame.file, one)
    return None
