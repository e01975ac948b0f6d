"""Capture inside the training process: every operation of a step, its values and its cost. Needs torch.

Called as a function, `with stepscope.record(model) as step: ...` records what runs inside.
"""

from stepscope._callable import make_callable

make_callable(__name__, "stepscope.inspect.recording:record")
