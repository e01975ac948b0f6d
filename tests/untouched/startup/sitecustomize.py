"""For whole commands: registered first, so run last, it writes what a child of the warm process would write."""

import atexit
import json
import os
import random
import sys


def write_state(path: str, pid: int) -> None:
    if os.getpid() != pid:
        return
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from fingerprint import fingerprint

    with open(path, "w") as file:
        json.dump(fingerprint(vars(sys.modules["__main__"]), {}), file)


if "UNTOUCHED_STATE" in os.environ:
    random.seed(0)
    atexit.register(write_state, os.environ.pop("UNTOUCHED_STATE"), os.getpid())
