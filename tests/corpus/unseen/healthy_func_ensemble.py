import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(0)
raw = load_wine()
X = torch.tensor(raw.data, dtype=torch.float32)
X = (X - X.mean(0)) / X.std(0)
y = torch.tensor(raw.target)
perm = torch.randperm(len(X))
train_idx, test_idx = perm[:120], perm[120:]


class SimpleMLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(13, 16)
        self.fc2 = nn.Linear(16, 3)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


models = [SimpleMLP() for _ in range(5)]
params, buffers = stack_module_state(models)
base_model = copy.deepcopy(models[0]).to("meta")
params = {k: v.detach() for k, v in params.items()}
momentum = {k: torch.zeros_like(v) for k, v in params.items()}


def loss_fn(p, b, x, t):
    return F.cross_entropy(functional_call(base_model, (p, b), (x,)), t)


step_fn = vmap(grad_and_value(loss_fn), in_dims=(0, 0, 0, 0))
for step in range(150):
    idx = train_idx[torch.randint(0, 120, (5, 24))]
    grads, losses = step_fn(params, buffers, X[idx], y[idx])
    for k in params:
        momentum[k] = 0.9 * momentum[k] + grads[k]
        params[k] = params[k] - 0.02 * momentum[k]
    if step % 30 == 0:
        print(f"step {step} losses {[round(v, 3) for v in losses.tolist()]}")

with torch.no_grad():
    logits = vmap(lambda p, b: functional_call(base_model, (p, b), (X[test_idx],)))(params, buffers)
    single = (logits.argmax(-1) == y[test_idx]).float().mean(1)
    joint = (logits.softmax(-1).mean(0).argmax(-1) == y[test_idx]).float().mean()
print("single", [round(v, 3) for v in single.tolist()], "ensemble", round(joint.item(), 3))
