"""A venv for each peer, made on first use under .bench/."""

from __future__ import annotations

import json
import subprocess
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def peer_python(peer: str, wanted: list[str]) -> Path:
    """The interpreter of a peer's venv, with what it needs installed."""
    home = ROOT / ".bench" / peer
    python = home / "bin" / "python"
    stamp = home / "installed.json"
    if not stamp.exists() or json.loads(stamp.read_text()) != wanted:
        print(f"  installing {' '.join(wanted)} into .bench/{peer}", flush=True)
        if not python.exists():
            venv.create(home, with_pip=True, symlinks=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *wanted], check=True)
        stamp.write_text(json.dumps(wanted))
    return python
