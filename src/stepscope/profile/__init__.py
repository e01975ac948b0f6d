"""Where time and memory go: collectors -> one event table -> analyses -> advice. Reads without torch.

Called as a function, `with stepscope.profile("run.profile"): ...` profiles what runs inside.
"""

from stepscope._callable import make_callable

make_callable(__name__, "stepscope.profile.collect.api:profile")
