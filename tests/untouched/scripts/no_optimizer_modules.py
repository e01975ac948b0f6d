# untouched: without dynamo
"""Inference only: nothing of torch is imported that plain Python would not import."""
import sys

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.Flatten(), nn.Linear(24, 2)).eval()
with torch.no_grad():
    for step in range(6):
        print(step, model(torch.randn(3, 2, 8)).sum().item())
heavy = ("torch._dynamo", "torch._inductor", "torch.distributed", "torch.onnx", "torch.export", "torch.fx.experimental")
print([name for name in heavy if name in sys.modules], len([n for n in sys.modules if n.startswith("torch.")]))
