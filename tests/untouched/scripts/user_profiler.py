"""The user's own torch.profiler around some steps: the same operators, as many times."""
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
ready = []
with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda p: ready.append(p.step_num)) as p:
    for step in range(5):
        with record_function("my step"):
            optimizer.zero_grad()
            loss = model(torch.randn(3, 4)).square().mean()
            loss.backward()
            optimizer.step()
        p.step()
        print(step, loss.item(), ready)
counts = {one.key: one.count for one in p.key_averages() if one.key.startswith(("aten::", "my ", "autograd::"))}
print(sorted(counts.items()))
