from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.common.units import listed
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.value_origin import origin_of
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("data.missing-key", severity="error", needs="crash", follows=("io.*",))
def missing_key(run: Evidence) -> Iterator[Proof]:
    """A dict, a batch, a config or a checkpoint does not have the requested key.

    Why it matters: the script stops there. The keys that are there usually show the slip.

    What to do: use the existing key; for words that may be new, use `.get(word, unknown)`.

    How it is found: the key is compared with the keys of the dict (or the columns of the table) on that line.

    Bad:
        model.load_state_dict(checkpoint["state_dict"])         # saved as "model_state_dict"
    Good:
        model.load_state_dict(checkpoint["model_state_dict"])
    """
    crash = run.crash
    missing = None if crash is None else crash.missing
    if crash is None or crash.last is None or missing is None or not crash.is_a("KeyError"):
        return
    if crash.says("already exists", "not in index"):  # a KeyError whose text is not a key
        return
    special = _of_group(crash, missing.name) or _of_index(crash, missing.name)
    if special is not None:
        yield special
        return
    node = crash.last.running
    owner = said(node.value) if isinstance(node, ast.Subscript) else "the container"
    made = origin_of(crash, crash.last, node.value) if isinstance(node, ast.Subscript) else None
    near = missing.near
    exact = near == [missing.name]
    if exact:
        said_ = (
            f"`{owner}` has no key {missing.name} of this type; it has one that only looks the same (text or number)"
        )
        fix = f"use int(...) or str(...) so that the key is of the type {owner} was filled with"
    elif near:
        said_, fix = f'`{owner}` has no key "{missing.name}", but it has "{near[0]}"', f'write "{near[0]}"'
    else:
        there = f"; it has {listed(missing.there)}" if missing.there else ""
        said_ = f'`{owner}` has no key "{missing.name}"{there}'
        fix = f'use an existing key, or {owner}.get("{missing.name}", default)'
    moved = made is not None and made.binding is not None and made.site.line != crash.last.line
    filled = moved and isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant) and not near
    yield Proof(
        where=made.site if filled and made is not None else crash.site,
        message=said_,
        label=f'no "{missing.name}"',
        evidence={"key": missing.name, "similar": near, "keys": missing.there},
        fix=fix,
        related=[(crash.site, "it fails here")]
        if filled
        else [(made.site, f"`{owner}` comes from here")]
        if made is not None and moved
        else [],
    )


def _of_group(crash: Crash, key: str) -> Proof | None:
    """A group of an optimizer, `{"param": ...}`, without the key that PyTorch reads."""
    if key != "params" or "torch/optim" not in crash.frames[-1].file.replace("\\", "/"):
        return None
    return Proof(
        where=crash.site,
        message='a group of an optimizer is a dict with its parameters under the key "params", and one lacks it',
        label='a group without "params"',
        evidence={"key": key},
        fix='write {"params": model.part.parameters(), "lr": ...}',
    )


def _of_index(crash: Crash, key: str) -> Proof | None:
    """A dataset that looks a loader's index up among keys that are not 0, 1, 2 ..."""
    frame = crash.last
    node = None if frame is None else frame.running
    if frame is None or not isinstance(node, ast.Subscript) or frame.function != "__getitem__":
        return None
    index = frame.arguments[1] if len(frame.arguments) > 1 else ""
    value = frame.locals.get(index)
    if said(node.slice) != index or type(value) is not int or str(value) != key:
        return None
    owner = said(node.value)
    return Proof(
        where=frame.site,
        message=f"a loader asks for the samples 0, 1, 2 ... up to the length, and `{owner}` has no key {key}",
        label=f"{index} is {key}",
        evidence={"key": key, "container": owner},
        fix=f"number the samples: keep list({owner}.values()), or the keys in a list; of pandas use .iloc[{index}]",
    )
