"""Deep ensemble trained in one go with torch.func (vmap over stacked parameters)."""
import copy

import torch
import torch.nn as nn
from torch.func import functional_call, stack_module_state, vmap
from sklearn.datasets import load_wine

torch.manual_seed(98)
raw, target = load_wine(return_X_y=True)
perm = torch.randperm(len(raw)).numpy()
raw, target = raw[perm], target[perm]
mean, std = raw[:120].mean(0), raw[:120].std(0)
x = torch.tensor((raw - mean) / std, dtype=torch.float32)
y = torch.tensor(target)

MEMBERS = 5
models = [nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3)) for _ in range(MEMBERS)]
params, buffers = stack_module_state(models)
params = {k: v.detach().clone().requires_grad_(True) for k, v in params.items()}
base = copy.deepcopy(models[0]).to("meta")


def forward(p, b, inputs):
    return functional_call(base, (p, b), (inputs,))


ensemble = vmap(forward, in_dims=(0, 0, 0))
broadcast = vmap(forward, in_dims=(0, 0, None))
opt = torch.optim.Adam(params.values(), lr=5e-3)
for step in range(150):
    idx = torch.randint(0, 120, (MEMBERS, 32))
    logits = ensemble(params, buffers, x[idx])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), y[idx].flatten(), reduction="sum") / 32
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print(f"step {step} mean member loss {loss.item() / MEMBERS:.4f}")
with torch.no_grad():
    probs = broadcast(params, buffers, x[120:]).softmax(-1)
single = (probs.argmax(-1) == y[120:]).float().mean(1)
print("single members", [round(v, 3) for v in single.tolist()])
print("ensemble", (probs.mean(0).argmax(-1) == y[120:]).float().mean().item())
