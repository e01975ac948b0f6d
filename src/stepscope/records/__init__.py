"""The plain, frozen records in the middle: made inside the training process, read by everything else.

`run.py` has what a run folder holds; `step.py` the operations of one recorded step, imported by those who need it.
"""

from stepscope.records.run import *  # noqa: F403
from stepscope.records.run import __all__ as __all__
