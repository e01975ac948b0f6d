"""The run folder: write, read, catalog, query, downsample. Does not import torch.

Called as a function, `stepscope.runs("dir", "config.lr < 0.01")` lists the runs of a store.
"""

from stepscope._callable import make_callable

make_callable(__name__, "stepscope.runs.catalogue.run_list:runs")
