from __future__ import annotations

import ast
from collections.abc import Iterator

from stepscope.common.syntax import said
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import SourceFile, called_name

_SAYS = (
    r"torch not compiled with cuda enabled",
    r"no cuda gpus are available",
    r"found no nvidia driver",
    r"cuda driver version is insufficient",
    r"attempting to deserialize object on a cuda device",
    r"invalid device ordinal",
)


@rule("device.cuda-hardcoded", severity="info", needs="source, crash")
def cuda_hardcoded(run: Evidence) -> Iterator[Proof]:
    """A line requests CUDA without checking that it is available.

    Why it matters: the script dies on a machine without a GPU, and ignores the device chosen for the rest.

    What to do: choose once, `device = "cuda" if torch.cuda.is_available() else "cpu"`, and use it everywhere.

    How it is found: `.cuda()` or a device "cuda" written out in the source, outside of any such choice (info); or the
    exception it raises (an error).

    Bad:
        noise = torch.randn(z.shape).cuda()
    Good:
        noise = torch.randn(z.shape, device=z.device)
    """
    crash = run.crash
    if crash is not None:
        if crash.says(*_SAYS):
            named = [
                file.site(node)
                for file in run.source.files()
                for node in file.walk(ast.Call)
                if _hardcoded(node) and called_name(node) == "device" and not _is_chosen(file, node)
            ]
            here = crash.last is not None and "cuda" in said(crash.last.running)
            yield Proof(
                where=named[0] if len(named) == 1 and not here else crash.site,
                message="a CUDA device is requested, but there is none",
                label=crash.text.split("\n")[0][:80],
                evidence={"error": crash.text[:200]},
                fix='.to(device), with device = "cuda" if torch.cuda.is_available() else "cpu"',
                severity="error",
                related=[(crash.site, "it fails here")] if len(named) == 1 and not here else [],
            )
        return
    for file in run.source.files():
        for node in file.walk(ast.Call):
            if _hardcoded(node) and not _is_chosen(file, node):
                yield Proof(
                    where=file.site(node),
                    message="this line requests CUDA without checking that it is available",
                    label="a hard-coded device",
                    evidence={"expression": ast.unparse(node)[:120]},
                    fix="use .to(device) with the device chosen once",
                )


def _hardcoded(node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and ast.unparse(node.func.value) != "torch":
        return True
    given = [k.value for k in node.keywords if k.arg in ("device", "map_location")]
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("to", "device"):
        given += node.args
    return any(isinstance(v, ast.Constant) and isinstance(v.value, str) and v.value.startswith("cuda") for v in given)


def _is_chosen(file: SourceFile, node: ast.AST) -> bool:
    """Inside a condition that asks for it, or in a method `cuda` of one's own: who calls that has chosen."""
    outer = [node, *file.up(node)]
    if any(isinstance(one, ast.FunctionDef) and one.name == "cuda" for one in outer):
        return True
    tests = [ast.unparse(one.test) for one in outer if isinstance(one, (ast.If, ast.IfExp))]
    return any(word in test.lower() for test in tests for word in ("available", "cuda", "gpu"))
