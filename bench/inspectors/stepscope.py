"""Stepscope itself."""

from __future__ import annotations

from inspectors.nets import Case

REQUIREMENTS: list[str] = []  # installed from this checkout


def recorded_step(case: Case, **options: object) -> None:
    import stepscope

    with stepscope.record(case.model, **options) as step:
        case.step()
    assert len(step) > 5


def recorded_only(case: Case) -> None:
    """What the training waits for; the record is put together when somebody reads it."""
    import stepscope

    with stepscope.record(case.model):
        case.step()


def recorded_forward(case: Case) -> None:
    import stepscope

    with stepscope.record(case.model, cost=False) as step:
        case.forward()
    assert len(step) > 5


def summary(case: Case) -> None:
    import stepscope

    assert "parameters" in str(stepscope.summary(case.model, case.inputs))


def pulse(case: Case) -> None:
    from stepscope.record.pulse import Pulse

    with Pulse() as watching:
        case.steps()
    assert watching.last is not None
    assert watching.last.ok


def trace_values(case: Case) -> None:
    import stepscope

    with stepscope.trace_values(model=case.model) as tracer:
        case.step()
    assert tracer.check().ok


TOOLS = {
    "record: metadata": ("step", lambda case: recorded_step(case, cost=False)),
    "record: metadata and cost": ("step", lambda case: recorded_step(case)),
    "record: not read": ("step", recorded_only),
    "record: modules only": ("step", lambda case: recorded_step(case, depth="modules", cost=False)),
    "record: ATen operators": ("step", lambda case: recorded_step(case, depth="aten", cost=False)),
    "record: metadata, cost and statistics": ("step", lambda case: recorded_step(case, stats=True)),
    "record: a forward": ("forward", recorded_forward),
    "summary": ("forward", summary),
    "pulse": ("steps", pulse),
    "trace_values": ("step", trace_values),
}
