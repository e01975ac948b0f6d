"""Is recording on a GPU true, silent and cheap? Run on a machine with a CUDA GPU; takes about two minutes.

    python bench/gpu_record.py                 # needs torch with CUDA and msgspec
    python bench/gpu_record.py --dry           # on a CPU, small: tries the script itself, skips what needs a GPU

Each check (bench/gpu/) prints PASS or FAIL with its numbers; the exit status is the number of failures.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # before CUDA starts: else matmul is not deterministic
sys.path.append(str(Path(__file__).parents[1] / "src"))

import torch
from gpu.lab import CHECKS, Lab

from stepscope import fence


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dry", action="store_true", help="on a CPU, skipping what needs a GPU")
    parser.add_argument("--only", default="", help="checks whose name has this in it")
    options = parser.parse_args()
    for part in ("devices", "truth", "cost"):
        import_module(f"gpu.{part}")
    lab = Lab("cpu" if options.dry else "cuda")
    name = "CPU" if options.dry else torch.cuda.get_device_name()
    print(f"{name}, torch {torch.__version__}, CUDA {torch.version.cuda}", flush=True)
    failures, started = 0, time.perf_counter()
    for function, needs_cuda in CHECKS:
        if options.only not in function.__name__ or (needs_cuda and not lab.cuda):
            continue
        fence.reset()
        begun = time.perf_counter()
        try:
            for passed, text in function(lab):
                failures += not passed
                print(f"{'PASS' if passed else 'FAIL'}  {function.__name__}: {text}", flush=True)
        except Exception:  # the other checks still have something to say
            failures += 1
            print(f"FAIL  {function.__name__}: {traceback.format_exc()}", flush=True)
        for fault in fence._faults.values():
            failures += 1
            print(f"FAIL  {function.__name__}: a fault of ours in {fault.where}\n{fault.traceback}", flush=True)
        print(f"      ({time.perf_counter() - begun:.1f} s)", flush=True)
    print(f"{failures} failures in {time.perf_counter() - started:.0f} s", flush=True)
    return failures


if __name__ == "__main__":
    sys.exit(main())
