"""`--debugpy [PORT]`: wait for an editor to attach before the script starts."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from stepscope.errors import MissingExtra, UsageError

PORT = 5678


def wait_for_editor(port: int = PORT, host: str = "127.0.0.1") -> int:
    """Listen, say so, and return when an editor has attached; the port that was used.

    Only this machine can attach: whoever attaches can run anything. Ranks of one machine listen on ports next to
    each other.
    """
    try:
        debugpy: Any = importlib.import_module("debugpy")
    except ModuleNotFoundError:
        raise MissingExtra("--debugpy", "debugpy") from None
    local_rank = os.environ.get("LOCAL_RANK", "0")
    port += int(local_rank) if local_rank.isdigit() else 0
    try:
        debugpy.listen((host, port))
    except (OSError, RuntimeError) as fault:
        raise UsageError(
            f"cannot listen on {host}:{port}: {fault}; is it in use? Choose another: --debugpy PORT"
        ) from None
    print(  # noqa: T201
        f"stepscope: waiting for an editor on {host}:{port} (VS Code: Stepscope: attach); press Ctrl-C to stop",
        file=sys.stderr,
    )
    debugpy.wait_for_client()
    return port
