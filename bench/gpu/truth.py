"""What must hold on any device: the same bits, true numbers, all ops seen, nothing kept."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import nullcontext

import torch
from inspectors.nets import make_case
from torch import nn
from torch.nn import functional as F

import stepscope
from gpu.lab import Lab, check
from stepscope.record.pulse import Pulse


def run_steps(lab: Lab, within, steps: int = 5) -> dict[str, object]:
    torch.manual_seed(1)
    embed = nn.Embedding(100, 64)
    body = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.1, batch_first=True)
    model = nn.Sequential(embed, body, nn.LayerNorm(64), nn.Dropout(0.2), nn.Linear(64, 100)).to(lab.device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(steps):
        ids = torch.randint(100, (8, 32), device=lab.device)
        with within(model):
            optimizer.zero_grad()
            with lab.autocast():
                loss = F.cross_entropy(model(ids).flatten(0, 1).float(), ids.flatten())
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        losses.append(loss.item())
    state = torch.cuda.get_rng_state() if lab.cuda else torch.get_rng_state()
    return {"losses": losses, "weights": [p.detach().clone() for p in model.parameters()], "random": state}


@check()
def the_same_bits(lab: Lab):
    torch.use_deterministic_algorithms(True)
    try:
        plain = run_steps(lab, lambda model: nullcontext())
        again = run_steps(lab, lambda model: nullcontext())
        ways = {
            "recorded": lambda model: stepscope.record(model),
            "recorded with statistics": lambda model: stepscope.record(model, stats=True),
            "recorded at ATen depth": lambda model: stepscope.record(model, depth="aten"),
            "traced": lambda model: stepscope.trace_values(model=model),
            "pulse": lambda model: Pulse(),
        }
        yield again["losses"] == plain["losses"], f"plain twice: {plain['losses'][-1]!r} {again['losses'][-1]!r}"
        for name, within in ways.items():
            found = run_steps(lab, within)
            same = found["losses"] == plain["losses"] and torch.equal(found["random"], plain["random"])
            same = same and all(torch.equal(a, b) for a, b in zip(found["weights"], plain["weights"], strict=True))
            yield same, f"{name}: losses, weights and random state after 5 steps, last loss {found['losses'][-1]!r}"
    finally:
        torch.use_deterministic_algorithms(False)


@check()
def statistics_are_true(lab: Lab):
    x = torch.randn(1000, 77, device=lab.device) * 5
    x[3, 4], x[5, 6], x[7, 8] = torch.nan, torch.inf, -torch.inf
    x[9, :7] = 0
    with stepscope.record(stats=True) as step:
        x * 1
    found = step[-1].output_stats[0]
    kept = x[x.isfinite()].double()
    counts = (found.nan, found.pos_inf, found.neg_inf, found.zeros)
    expected = (kept.min(), kept.max(), kept.mean(), kept.std(correction=0), kept.norm())
    numbers = (found.min, found.max, found.mean, found.std, found.norm)
    close = all(abs(a - float(b)) <= 1e-4 * max(1, abs(float(b))) for a, b in zip(numbers, expected, strict=True))
    yield counts == (1, 1, 1, 7) and close, f"{found}"


@check()
def attention_is_counted(lab: Lab):
    """4 L S E per head forward, whichever kernel runs."""
    batch, heads, length, width = 2, 8, 256, 64
    expected = 4 * batch * heads * length * length * width
    kinds = {"math": torch.float32}
    if lab.cuda:
        kinds = {"math": torch.float32, "flash": torch.bfloat16, "efficient": torch.float16, "cudnn": torch.bfloat16}
    from torch.nn.attention import SDPBackend, sdpa_kernel

    backends = {"math": SDPBackend.MATH, "flash": SDPBackend.FLASH_ATTENTION, "efficient":
                SDPBackend.EFFICIENT_ATTENTION, "cudnn": getattr(SDPBackend, "CUDNN_ATTENTION", None)}  # fmt: skip
    for kind, dtype in kinds.items():
        shape = (batch, heads, length, width)
        q, k, v = (torch.randn(shape, device=lab.device, dtype=dtype, requires_grad=True) for _ in range(3))
        for depth in ("ops", "aten"):
            try:
                with sdpa_kernel([backends[kind]]), stepscope.record(depth=depth) as step:
                    F.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()
            except RuntimeError as error:
                yield True, f"{kind} is not to be had here: {str(error).splitlines()[0]}"
                break
            names = [op.name for op in step if "attention" in op.name.lower() or "bmm" in op.name]
            flops = sum(op.cost.flops or 0 for op in step if op.phase != "backward" and op.name in names)
            yield flops == expected, f"{kind} at depth {depth}: {flops:,} of {expected:,} FLOPs, in {names[:3]}"


@check()
def backward_is_seen(lab: Lab):
    """On CUDA backward runs on a thread of its own; the same ops must be seen as on a CPU."""
    seen = {}
    for device in {"cpu", lab.device}:
        case = make_case("resnet50", quick=True, device=device)
        case.step()
        with stepscope.record(case.model) as step:
            case.step()
        names = (op.name.replace("CudnnBatchNorm", "NativeBatchNorm") for op in step if op.phase == "backward")
        seen[device] = Counter(names)
        tied = sum(op.forward is not None for op in step if op.phase == "backward")
        yield tied > 50 and not step.record.unseen, f"{device}: {tied} of {sum(seen[device].values())} tied to forward"
    only = [dict(seen[a] - seen[b]) for a, b in (("cpu", lab.device), (lab.device, "cpu"))]
    yield only == [{}, {}], f"only on the CPU {only[0]}, only on the device {only[1]}"


@check()
def the_bad_line_is_named(lab: Lab):
    x = torch.linspace(0, 1, 8, device=lab.device).requires_grad_()
    with stepscope.trace_values() as tracer:
        line = sys._getframe().f_lineno + 1
        made = x.log()
        made.sum().backward()
    first = tracer.check().first
    yield first is not None and first.op.name == "log" and first.line == line, f"{first}".splitlines()[0]


@check()
def summary_of_a_model_there(lab: Lab):
    here, there = make_case("gpt2", quick=True), make_case("gpt2", quick=True, device=lab.device)
    a, b = (stepscope.summary(case.model, case.inputs) for case in (here, there))
    yield a.flops == b.flops and a.parameters == b.parameters, f"{b.flops:,} FLOPs, {b.parameters:,} parameters"
    timed = sum(op.cost.device_us or 0 for op in b.step)
    yield timed > 0 or not lab.cuda, f"{timed:,.0f} us on the device"


@check()
def nothing_is_kept(lab: Lab):
    case = make_case("resnet50", quick=True, device=lab.device)
    case.step()
    case.optimizer.zero_grad()
    before = torch.cuda.memory_allocated() if lab.cuda else 0
    for stats in (False, True):
        with stepscope.record(case.model, stats=stats) as step:
            case.step()
        case.optimizer.zero_grad()
    after = torch.cuda.memory_allocated() if lab.cuda else 0
    yield after == before, f"{before:,} bytes before, {after:,} after two recorded steps ({len(step)} ops)"
