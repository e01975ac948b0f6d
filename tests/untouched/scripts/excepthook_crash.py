"""A crash in forward under an excepthook of the user's own; exit code 1 and the hook's words."""
import sys
import traceback

import torch
from torch import nn


def hook(kind, error, trace):
    frames = [(f.name, f.lineno) for f in traceback.extract_tb(trace) if f.filename == __file__]
    print("crashed", kind.__name__, str(error).splitlines()[0], frames, flush=True)


sys.excepthook = hook
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(2, 3)).sum().backward()
