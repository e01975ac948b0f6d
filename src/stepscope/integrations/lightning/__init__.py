"""Lightning: a logger, a callback and a profiler.

    from stepscope.integrations.lightning import StepscopeCallback, StepscopeLogger, StepscopeProfiler

    trainer = Trainer(logger=StepscopeLogger(project="digits"), callbacks=[StepscopeCallback()])

For `lightning.pytorch`, `pytorch_lightning` and Fabric. `stepscope run train.py` does the same without any of them.
"""

from stepscope.integrations.lightning.callback import StepscopeCallback
from stepscope.integrations.lightning.logger import StepscopeLogger
from stepscope.integrations.lightning.profiler import StepscopeProfiler

__all__ = ["StepscopeCallback", "StepscopeLogger", "StepscopeProfiler"]
