"""How likely a difference between two runs explains the outcome: rules of thumb, each with its reason in words.

docs/compare.md lists them. They only order the list; the numbers beside each difference are the evidence.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal

import msgspec

from stepscope.views.compare.columns import is_seed

__all__ = ["LIKELY", "POSSIBLE", "Change", "Kind", "config_change", "environment_change", "package_change"]

Kind = Literal["finding", "config", "code", "data", "package", "machine", "environment", "command"]
Likely = Literal["likely", "possible", "unlikely"]

LIKELY = 65
POSSIBLE = 30

_CONFIG: list[tuple[str, int, str]] = [
    (r"lr|learning_?rate", 80, "a learning rate"),
    (r"optim(izer)?|momentum|betas?\d?|weight_?decay|eps(ilon)?", 72, "changes the update"),
    (r"clip|clipping|max_?norm|grad_?norm", 72, "changes the update"),
    (r"precision|amp|dtype|fp16|bf16|fp32|tf32|autocast|quantiz\w*", 72, "changes the numbers' precision"),
    (r"loss|criterion|label_?smoothing|temperature", 72, "changes what is minimized"),
    (r"schedul\w*|warm_?up|decay|anneal\w*|gamma", 68, "changes the learning rate over time"),
    (r"data\w*|split|augment\w*|transform\w*|tokenizer|vocab\w*|shuffle|fold|normali[sz]e", 68, "changes the data"),
    (r"batch(_?size)?|accum\w*|grad_?accum\w*", 66, "changes the batch"),
    (r"init|initiali[sz]\w*|checkpoint|pretrained|resume|weights", 66, "changes where training starts"),
    (r"dropout|norm|layer_?norm|batch_?norm|activation|act|residual", 60, "changes the model"),
    (r"width|depth|layers?|hidden|dim|heads?|channels|latent|size|model|arch\w*|backbone", 56, "changes the model"),
    (r"steps?|epochs?|iters?|iterations|max_\w*", 45, "changes how long it trains"),
]
_BESIDE = r"path|dir|directory|out|output|log\w*|name|id|port|host|rank|tags?|notes?|wandb|project|verbose|workers?"
_FRAMEWORK = {
    "torch", "torchvision", "torchaudio", "triton", "transformers", "lightning", "pytorch-lightning", "accelerate",
    "deepspeed", "peft", "timm", "datasets", "tokenizers", "jax", "flax", "flash-attn", "xformers", "bitsandbytes",
}  # fmt: skip
_NUMERIC = {"numpy", "scipy", "pillow", "opencv-python", "albumentations", "pandas", "scikit-learn"}


class Change(msgspec.Struct):
    """One difference between the two sides."""

    kind: Kind
    key: str
    a: str | None
    b: str | None
    score: int
    """From 0 to 100; determines the order of the list."""
    likely: Likely
    why: str
    """The reason for its rank, in a few words."""
    place: str = ""
    """For a finding: the line of code."""

    @classmethod
    def of(cls, kind: Kind, key: str, sides: tuple[str | None, str | None], score: float, why: str) -> Change:
        whole = round(min(100, max(0, score)))
        likely: Likely = "likely" if whole >= LIKELY else "possible" if whole >= POSSIBLE else "unlikely"
        return cls(kind=kind, key=key, a=sides[0], b=sides[1], score=whole, likely=likely, why=why)


def config_change(key: str, sides: tuple[str | None, str | None], values: tuple[Any, Any]) -> Change:
    """A differing config key; `values` are the raw ones, if each side has a single one.

    >>> change = config_change("lr", ("0.001", "0.03"), (0.001, 0.03))
    >>> change.likely, change.why
    ('likely', 'a learning rate, 30 times as large')
    """
    score, why = _config_weight(key)
    bonus, size = _size(*values)
    if is_seed(key):
        return Change.of("config", key, sides, 12, "a seed: only chance")
    if None in sides:
        size = "set on one side only"
    return Change.of("config", key, sides, score + bonus, f"{why}, {size}" if why and size else why or size)


def _config_weight(key: str) -> tuple[int, str]:
    """By the last word of the key first, then by those before it, which give its context."""
    parts = [part for part in re.split(r"[/.]", key.lower()) if part]
    for depth, part in enumerate(reversed(parts)):
        words = [part, *re.split(r"[_\-]", part)]
        if any(re.fullmatch(_BESIDE, word) for word in words[: 1 if depth else None]) and not depth:
            return 8, "a name or a place"
        for pattern, score, why in _CONFIG:
            if any(re.fullmatch(pattern, word) for word in words):
                return score - 8 * min(depth, 2), why
    return 40, ""


def _size(a: Any, b: Any) -> tuple[int, str]:
    """How much a number changed."""
    if isinstance(a, bool) or isinstance(b, bool) or not isinstance(a, (int, float)) or not isinstance(b, (int, float)):
        return 0, ""
    if not (math.isfinite(a) and math.isfinite(b)) or a * b <= 0:
        return (5, "off on one side") if 0 in (a, b) else (0, "")
    ratio = b / a
    factor = max(ratio, 1 / ratio)
    if not math.isfinite(factor):
        return 15, ""
    times = f"{factor:,.0f}" if factor >= 1000 else f"{factor:.3g}"
    said = f"{times} times {'as large' if ratio > 1 else 'smaller'}"
    if factor >= 1.995:
        return (15 if factor >= 9.995 else 6), said
    return (-20 if factor < 1.05 else 0), f"{100 * abs(ratio - 1):.2g}% {'more' if ratio > 1 else 'less'}"


def package_change(name: str, a: str | None, b: str | None) -> Change:
    """A package with another version, or on one side only."""
    deep = _depth(a, b)
    missing = a is None or b is None
    if name.lower() in _FRAMEWORK:
        score = 52 if missing else (62, 50, 34)[deep]
        return Change.of("package", name, (a, b), score, "does the training")
    if name.lower() in _NUMERIC:
        return Change.of("package", name, (a, b), 20 if missing else (40, 30, 18)[deep], "handles numbers or data")
    return Change.of("package", name, (a, b), 8 if missing else (22, 14, 9)[deep], "")


def _depth(a: str | None, b: str | None) -> int:
    """Which part of a version differs: 0 the first, 1 the second, 2 a later one."""
    left, right = ([*re.findall(r"\d+", text or ""), "", ""][:2] for text in (a, b))
    return 0 if left[0] != right[0] else 1 if left[1] != right[1] else 2


_MACHINE: dict[str, tuple[int, str]] = {
    "gpus": (52, "other devices"),
    "gpu_count": (52, "another number of devices"),
    "driver": (25, "the device's driver"),
    "cuda": (45, "another CUDA"),
    "python": (20, "another Python"),
    "cpu": (10, ""),
    "cpu_count": (10, ""),
    "memory_bytes": (8, ""),
    "platform": (8, ""),
    "stepscope": (4, "records; does not train"),
    "host": (5, "where it ran"),
    "user": (2, "who ran it"),
}
_ENV: list[tuple[str, int, str]] = [
    (r"WORLD_SIZE|LOCAL_WORLD_SIZE|NNODES", 60, "another number of processes"),
    (r"CUBLAS_WORKSPACE_CONFIG|.*DETERMIN.*|.*TF32.*|NVIDIA_TF32_OVERRIDE", 45, "changes how numbers are computed"),
    (r"TORCH.*|PYTORCH.*|NCCL.*|XLA.*", 35, "a switch of the framework"),
    (r"CUDA_VISIBLE_DEVICES", 25, "other devices"),
    (r"PYTHONHASHSEED", 20, "the order of sets"),
    (r"SLURM_.*|.*HOST.*|.*JOB.*|MASTER_.*|RANK|LOCAL_RANK", 4, "where it ran"),
]


def environment_change(section: str, key: str, a: str | None, b: str | None) -> Change:
    """A fact about the machine, or an environment variable."""
    if section == "Environment":
        found = next(((score, why) for pattern, score, why in _ENV if re.fullmatch(pattern, key)), (14, ""))
        return Change.of("environment", key, (a, b), *found)
    return Change.of("machine", key, (a, b), *_MACHINE.get(key, (10, "")))
