"""A process that has only imported torch, and runs each script it is told of in a fork of itself.

Forks of a process that has trained with DistributedDataParallel hang: its threads are not in them. So scripts that
start processes run here. Read from stdin: a path on each line, an empty line at the end; written to stdout: the
findings of each, one line of JSON.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).parent))

from conftest import run_watched
from stepscope.diagnose.rule import all_rules


def main() -> None:
    answers = os.dup(1)
    os.dup2(2, 1)  # what scripts print is not an answer
    all_rules()
    for line in sys.stdin:
        if not line.strip():
            break
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.write(writing, msgspec.json.encode(list(run_watched(Path(line.strip())))))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            found = pipe.read()
        os.waitpid(pid, 0)
        os.write(answers, (found or b"null") + b"\n")


if __name__ == "__main__":
    main()
