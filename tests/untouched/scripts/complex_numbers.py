"""Complex parameters, fft, and conjugate views."""
import torch
from torch import nn

torch.manual_seed(0)
weight = nn.Parameter(torch.randn(4, 4, dtype=torch.complex64))
optimizer = torch.optim.SGD([weight], lr=0.05)
for step in range(5):
    x = torch.fft.fft(torch.randn(3, 4))
    out = x @ weight.conj().T
    loss = out.abs().square().mean() + torch.view_as_real(out).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), weight.grad.dtype, out.is_conj(), x.conj().is_conj())
print(torch.angle(weight.detach()).sum().item(), weight.real.sum().item(), weight.mH.is_conj())
