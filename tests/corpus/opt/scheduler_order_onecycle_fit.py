import torch
import torch.nn as nn


class Autoregressive(nn.Module):
    """Causal 1-D convolutions predicting the next sample of a noisy chirp."""

    def __init__(self, channels=16):
        super().__init__()
        self.conv1 = nn.Conv1d(1, channels, 3)
        self.conv2 = nn.Conv1d(channels, channels, 3, dilation=2)
        self.out = nn.Conv1d(channels, 1, 1)

    def forward(self, x):
        h = torch.relu(self.conv1(nn.functional.pad(x, (2, 0))))
        h = torch.relu(self.conv2(nn.functional.pad(h, (4, 0))))
        return self.out(h)

    def fit(self, signal, steps=60, max_lr=1e-2):
        opt = torch.optim.AdamW(self.parameters(), lr=max_lr)
        sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=max_lr, total_steps=steps)
        history = []
        for step in range(steps):
            start = torch.randint(0, signal.numel() - 41, (16,)).tolist()
            window = torch.stack([signal[s:s + 41] for s in start])
            x, y = window[:, None, :-1], window[:, None, 1:]
            loss = nn.functional.mse_loss(self(x), y)
            opt.zero_grad()
            loss.backward()
            sched.step()
            opt.step()
            history.append(loss.item())
            if (step + 1) % 15 == 0:
                print(f"step {step + 1}: mse {loss.item():.6f}")
        return history


def main():
    torch.manual_seed(6)
    t = torch.linspace(0, 20, 800)
    signal = torch.sin(t + 0.05 * t ** 2) + 0.02 * torch.randn_like(t)
    Autoregressive().fit(signal)


main()
