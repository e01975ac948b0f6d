"""Who starts the workers of a shared sweep: Slurm, Ray or Kubernetes. We write what they take, and show it.

Each worker is the same command: `stepscope sweep FILE --worker --storage URL`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from stepscope.errors import ConfigError, MissingExtra
from stepscope.runs.format.layout import write_file
from stepscope.sweep.journal import make_folders
from stepscope.sweep.spec import Sweep


def worker_command(file: Path, url: str, store: Path) -> list[str]:
    """What a worker is started with, anywhere."""
    return ["stepscope", "sweep", str(file), "--worker", "--storage", url, "--dir", str(store)]


def slurm_script(sweep: Sweep, command: list[str], folder: Path) -> str:
    """An array of workers for `sbatch`; `backend_options` are its options."""
    options = {
        "job-name": sweep.name,
        "array": f"1-{sweep.workers}",
        "output": f"{folder}/worker-%a.log",
        **sweep.backend_options,
    }
    lines = [f"#SBATCH --{name}{_given(value)}" for name, value in options.items()]
    return "\n".join(["#!/bin/bash", *lines, f"exec {shlex.join(command)}", ""])


def _given(value: Any) -> str:
    """The value of an option on one line, quoted where sbatch would split it.

    >>> _given("gpu:1"), _given("lr & width"), _given(None)
    ('=gpu:1', "='lr & width'", '')
    """
    return f"={shlex.quote(' '.join(str(value).split()))}" if value else ""


def job_manifest(sweep: Sweep, command: list[str], store: Path) -> str:
    """A Job of Kubernetes with one pod for each worker, as JSON, which `kubectl apply` takes too.

    With `volume`, the name of a claim, the folder of runs is on that volume; otherwise it goes with the pod.
    """
    options = dict(sweep.backend_options)
    image = options.pop("image", None)
    if image is None:
        raise ConfigError("backend kubernetes needs an image with your code: backend_options: {image: registry/name}")
    namespace, volume = options.pop("namespace", "default"), options.pop("volume", None)
    container: dict[str, Any] = {"name": "worker", "image": image, "command": command}
    if options:
        container["resources"] = {"limits": options}  # cpu, memory, nvidia.com/gpu
    pod: dict[str, Any] = {"containers": [container], "restartPolicy": "OnFailure"}
    if volume is not None:
        container["volumeMounts"] = [{"name": "runs", "mountPath": str(store)}]
        pod["volumes"] = [{"name": "runs", "persistentVolumeClaim": {"claimName": volume}}]
    name = re.sub("[^a-z0-9]+", "-", sweep.name.lower())[:50].strip("-") or "sweep"
    manifest = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"parallelism": sweep.workers, "completions": sweep.workers, "template": {"spec": pod}},
    }
    return json.dumps(manifest, indent=2) + "\n"


def submission(sweep: Sweep, command: list[str], folder: Path, store: Path) -> str:
    """What the backend gets, to show."""
    if sweep.backend == "slurm":
        return slurm_script(sweep, command, folder)
    if sweep.backend == "kubernetes":
        return job_manifest(sweep, command, store)
    return f"{sweep.workers} Ray tasks: {shlex.join(command)}\n"


def submit(sweep: Sweep, command: list[str], folder: Path, store: Path) -> str:
    """Hand the workers over; what the backend said."""
    make_folders(folder)
    text = submission(sweep, command, folder, store)
    if sweep.backend == "slurm":
        script = folder / "workers.sbatch"
        write_file(script, text.encode())
        return _run(["sbatch", str(script)], "Slurm's sbatch is not on the PATH; submit from a login node")
    if sweep.backend == "kubernetes":
        manifest = folder / "workers.json"
        write_file(manifest, text.encode())
        return _run(["kubectl", "apply", "-f", str(manifest)], "kubectl is not on the PATH")
    return _ray(sweep, command)


def _run(command: list[str], missing: str) -> str:
    if shutil.which(command[0]) is None:
        raise ConfigError(f"{missing}; what would be submitted is in {command[-1]}")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ConfigError(f"{command[0]} refused the workers: {(done.stderr or done.stdout).strip()[:500]}")
    return done.stdout.strip()


def _ray(sweep: Sweep, command: list[str]) -> str:
    """Tasks of Ray; this process waits for them."""
    if find_spec("ray") is None:
        raise MissingExtra("backend: ray", "ray")
    import ray

    options: dict[str, Any] = {name: float(value) for name, value in _resources(sweep.backend_options).items()}
    if not ray.is_initialized():
        ray.init(address=sweep.backend_options.get("address"))

    def work() -> int:
        return subprocess.run([sys.executable, "-m", *command], check=False).returncode

    task = ray.remote(**options)(work) if options else ray.remote(work)
    codes = ray.get([task.remote() for _ in range(sweep.workers)])
    return f"{len(codes)} workers have ended, {sum(code != 0 for code in codes)} of them with an error"


def _resources(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if name in ("num_cpus", "num_gpus", "memory")}
