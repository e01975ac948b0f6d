"""The plain, frozen records in the middle: made inside the training process, read by everything else.

`run.py` has the contents of a run folder; `step.py` the operations of one recorded step, imported on demand.
"""

from stepscope.records.run import *  # noqa: F403
from stepscope.records.run import __all__ as __all__
