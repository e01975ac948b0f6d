"""The tools `bench/inspect.py` compares, one file each, with two names.

REQUIREMENTS     what pip installs into the tool's own venv; empty for Stepscope and torch itself
TOOLS            name -> (baseline, function): the function uses the tool once on a `nets.Case`; the baseline is what
                 the same case costs without it: "step" (a training step), "steps" (as many as take
                 50 ms) or "forward" (in evaluation mode, without gradients)

The tool's library is imported inside the functions: the bench reads these tables without having it.
"""
