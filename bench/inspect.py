"""What it costs to look inside a step, beside the peers, in one run, as ratios.

    .venv/bin/python bench/inspect.py                              # all; makes a venv for each peer under .bench/
    .venv/bin/python bench/inspect.py --quick --seconds 2          # small nets, to try the bench itself
    .venv/bin/python bench/inspect.py --only stepscope,torchlens --nets gpt2

A ResNet-50 and a GPT-2 small, each with two sizes of batch, and a net whose step takes a millisecond
(bench/inspectors/nets.py). Each tool runs on each net in a process of its own, taking turns with the plain step or
forward in that same process; a ratio is the median of the ratios of neighbours. "First use" holds imports and caches:
what a user waits for who calls it once. `torch.export` does not run the forward it stands beside: below 1x is possible.
"""

from __future__ import annotations

import sys

if __name__ == "inspect":
    # Scripts of this folder have it on their path, and find this file where they want Python's own `inspect`.
    import importlib.util
    import os

    _spec = importlib.util.spec_from_file_location("inspect", os.path.join(os.path.dirname(os.__file__), "inspect.py"))
    sys.modules["inspect"] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules["inspect"])
else:
    from inspectors.bench import main

if __name__ == "__main__":
    main(__doc__)
