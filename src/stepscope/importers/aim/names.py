"""Aim distinguishes metrics by context; Stepscope by name."""

from __future__ import annotations

from typing import Any

from stepscope.track.names import as_name

_SYSTEM = "__system__"
_METERS = {
    "cpu": "process_cpu_percent",
    "p_memory_percent": "process_memory_percent",
    "gpu": "use_percent",
    "gpu_memory_percent": "memory_percent",
    "gpu_power_watts": "power_w",
    "gpu_temp": "temperature_c",
}


def series_name(name: str, context: dict[str, Any]) -> str:
    """The name of a series: its subset as prefix, as people write it, then the rest of the context.

    >>> series_name("loss", {"subset": "val"}), series_name("loss", {"fold": 1, "subset": "val"}), series_name("x", {})
    ('val/loss', 'val/fold=1/loss', 'x')
    """
    if name.startswith(_SYSTEM):
        meter = name.removeprefix(_SYSTEM)
        card = f"gpu{context['gpu']}/" if "gpu" in context else ""
        return as_name(f"system/{card}{_METERS.get(meter, meter)}")
    parts = [str(context["subset"])] if context.get("subset") else []
    parts += [f"{key}={value}" for key, value in sorted(context.items()) if key != "subset" or not value]
    return as_name("/".join([*parts, name]))
