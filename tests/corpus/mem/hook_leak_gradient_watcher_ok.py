import torch
from torch import nn


class GradientWatcher:
    """Keeps the largest gradient that flowed out of a layer."""

    def __init__(self):
        self.largest = 0.0
        self.handles = []

    def attach(self, layer):
        self.handles.append(layer.register_full_backward_hook(self._see))

    def detach(self):
        for h in self.handles:
            h.remove()
        self.handles.clear()

    def _see(self, module, grad_in, grad_out):
        self.largest = max(self.largest, grad_out[0].abs().max().item())


class Counter(nn.Module):
    """Says for every step whether more ones than zeros were seen so far."""

    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(1, 16, batch_first=True)
        self.out = nn.Linear(16, 1)

    def forward(self, bits):
        h, _ = self.rnn(bits)
        return self.out(h).squeeze(-1)


torch.manual_seed(0)
gen = torch.Generator().manual_seed(0)
net, watcher = Counter(), GradientWatcher()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
watcher.attach(net.out)
for step in range(80):
    bits = torch.randint(0, 2, (32, 12), generator=gen).float() * 2 - 1
    goal = (bits.cumsum(1) > 0).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(bits.unsqueeze(-1)), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.6f} largest gradient {watcher.largest:.6f}")
watcher.detach()
