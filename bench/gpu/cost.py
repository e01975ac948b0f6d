"""What the pulse and a recording add to a step of GPT-2 small."""

from __future__ import annotations

import stepscope
from gpu.lab import Lab, check, interleaved
from stepscope.record.pulse import Pulse


@check()
def what_it_costs(lab: Lab):
    case = lab.gpt()

    def step() -> None:
        case.optimizer.zero_grad()
        with lab.autocast():
            loss = case.loss_of(case.model(case.inputs).float(), case.target)
        loss.backward()
        case.optimizer.step()

    pulses: list[Pulse] = []

    def pulse() -> Pulse:
        pulses.append(Pulse())
        return pulses[-1]

    step()
    blocks, count = (14, 10) if lab.cuda else (3, 2)
    without, within, ratio = interleaved(lab, step, pulse, blocks, count)
    beats = [beat for one in pulses for beat in one.beats]
    good = len(beats) == blocks * count and all(beat.ok and beat.grad_norm for beat in beats)
    yield (
        good and (ratio <= 1.01 or not lab.cuda),
        f"pulse: {within:.2f} ms for {without:.2f} ms a step, {ratio:.4f}x (goal 1.01x)",
    )
    for name, options in {"metadata": {"cost": False}, "and cost": {}, "and statistics": {"stats": True}}.items():
        without, within, ratio = interleaved(lab, step, lambda o=options: stepscope.record(case.model, **o), 3, 1)
        yield True, f"record, {name}: {within:.1f} ms for {without:.1f} ms a step, {ratio:.2f}x"
