"""Quantized tensors, fake quantization in training, and dynamic quantization of the result."""
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    x = torch.fake_quantize_per_tensor_affine(torch.randn(3, 4), 0.1, 0, -128, 127)
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
q = torch.quantize_per_tensor(torch.linspace(-1, 1, 5), 0.1, 10, torch.quint8)
print(q.int_repr().tolist(), q.dequantize().tolist(), q.q_scale())
try:
    quantized = torch.ao.quantization.quantize_dynamic(model, {nn.Linear}, dtype=torch.qint8)
    print(quantized, quantized(torch.ones(1, 4)).tolist())
except RuntimeError as error:  # no engine in this build
    print(str(error).splitlines()[0])
