from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.source import dotted

_REMOVED = {
    "symeig": "torch.linalg.eigh",
    "eig": "torch.linalg.eig",
    "lstsq": "torch.linalg.lstsq",
    "solve": "torch.linalg.solve",
    "triangular_solve": "torch.linalg.solve_triangular",
    "matrix_rank": "torch.linalg.matrix_rank",
    "rfft": "torch.fft.rfft",
    "irfft": "torch.fft.irfft",
    "ifft": "torch.fft.ifft",
    "gels": "torch.linalg.lstsq",
    "potrf": "torch.linalg.cholesky",
    "gesv": "torch.linalg.solve",
    "_six": "the standard library (collections.abc, str, int)",
    "NLLLoss2d": "nn.NLLLoss",
    "clip_grad_norm": "nn.utils.clip_grad_norm_",
    "xavier_uniform": "nn.init.xavier_uniform_",
    "xavier_normal": "nn.init.xavier_normal_",
    "kaiming_uniform": "nn.init.kaiming_uniform_",
    "kaiming_normal": "nn.init.kaiming_normal_",
    "orthogonal": "nn.init.orthogonal_",
    "upsample": "F.interpolate",
    "upsample_bilinear": "F.interpolate(mode='bilinear')",
    "ger": "torch.outer",
    "chain_matmul": "torch.linalg.multi_dot",
    "accumulate_grad": "loss.backward()",
    "async": "non_blocking",
    "lr_scheduler._LRScheduler": "torch.optim.lr_scheduler.LRScheduler",
    "volatile": "torch.no_grad()",
    "next": "next(iterator)",
    "verbose": "scheduler.get_last_lr() and your own print",
    "size_average": "reduction='mean'",
    "reduce": "reduction='none'",
}
_OLD_CALLS = {
    "F.upsample": "F.interpolate",
    "torch.cuda.amp.autocast": "torch.amp.autocast('cuda')",
    "torch.cuda.amp.GradScaler": "torch.amp.GradScaler('cuda')",
    "torch.set_default_tensor_type": "torch.set_default_dtype",
    "nn.utils.clip_grad_norm": "nn.utils.clip_grad_norm_",
    "nn.utils.weight_norm": "nn.utils.parametrizations.weight_norm",
    "nn.init.xavier_uniform": "nn.init.xavier_uniform_",
    "nn.init.kaiming_normal": "nn.init.kaiming_normal_",
    "torch.svd": "torch.linalg.svd",
    "torch.qr": "torch.linalg.qr",
    "torch.cholesky": "torch.linalg.cholesky",
    "torch.ger": "torch.outer",
    "torch.chain_matmul": "torch.linalg.multi_dot",
    "torch.autograd.Variable": "a plain tensor",
}

_SAID = (
    r"module 'torch\S*' has no attribute '(\w+)'",
    r"cannot import name '(\w+)' from 'torch",
    r"No module named 'torch\.(\w+)",
    r"'Tensor' object has no attribute '(\w+)'",
    r"'\w*Iter' object has no attribute '(next)'",
    r"unexpected keyword argument '(volatile|async|verbose|size_average|reduce)'",
)


@rule("api.deprecated", severity="error", needs="crash, source")
def deprecated(run: Evidence) -> Iterator[Proof]:
    """A name that torch has removed or renamed.

    Why it matters: code written for an older torch stops with an AttributeError, or is about to.

    What to do: use the new name.

    Bad:
        values, vectors = torch.symeig(a, eigenvectors=True)
    Good:
        values, vectors = torch.linalg.eigh(a)
    """
    if run.crash is not None:
        yield from _removed(run)
        return
    for file in run.source.files():
        for node in file.walk(ast.Call):
            name = dotted(node.func).replace("torch.nn.functional.", "F.").replace("torch.nn.", "nn.")
            if name in _OLD_CALLS:
                yield Proof(
                    where=file.site(node),
                    message=f"`{name}` is deprecated",
                    fix=f"use {_OLD_CALLS[name]}",
                    evidence={"name": name},
                    severity="info",
                )


def _removed(run: Evidence) -> Iterator[Proof]:
    crash = run.crash
    if crash is None or not crash.is_a("AttributeError", "ImportError", "TypeError", "RuntimeError"):
        return
    text = crash.text
    found = re.search("|".join(_SAID), text)
    name = next((part for part in found.groups() if part), "") if found is not None else ""
    if not name and re.search(r"deprecated.*removed", text):
        name = "" if crash.operation is None else crash.operation.op.lstrip("_")  # torch.symeig is `_symeig`
    if name not in _REMOVED:
        return
    yield Proof(
        where=crash.site,
        message=f"torch no longer has `{name}`",
        label=f"now: {_REMOVED[name]}",
        evidence={"name": name, "replacement": _REMOVED[name]},
        fix=f"use {_REMOVED[name]}",
    )
