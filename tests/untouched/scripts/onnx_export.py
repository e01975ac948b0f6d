"""ONNX export with the exporter that needs no extra package, as far as it gets, and the TorchScript graph behind it."""
import io
import warnings

import torch
from torch import nn

warnings.simplefilter("ignore")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    loss = model(torch.randn(2, 3)).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item())
file = io.BytesIO()
try:
    torch.onnx.export(model, (torch.randn(1, 3),), file, dynamo=False)
    print(len(file.getvalue()))
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
from torch.onnx._internal.torchscript_exporter import utils  # noqa: E402

graph, params, _ = utils._model_to_graph(model.eval(), (torch.randn(1, 3),), do_constant_folding=False)
print(graph, sorted(params))
