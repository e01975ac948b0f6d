"""Lightning: a logger, a callback and a profiler.

    from stepscope.integrations.lightning import StepscopeCallback, StepscopeLogger, StepscopeProfiler

    trainer = Trainer(logger=StepscopeLogger(project="digits"), callbacks=[StepscopeCallback()])

For `lightning.pytorch`, `pytorch_lightning` and Fabric. Without any of them, `stepscope run train.py` does as much.
"""

from stepscope.integrations.lightning.callback import StepscopeCallback
from stepscope.integrations.lightning.logger import StepscopeLogger
from stepscope.integrations.lightning.profiler import StepscopeProfiler

__all__ = ["StepscopeCallback", "StepscopeLogger", "StepscopeProfiler"]
