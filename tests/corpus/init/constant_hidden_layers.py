import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class SmallNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, padding=1)
        self.hidden = nn.Linear(8 * 16, 40)
        self.logits = nn.Linear(40, 10)
        self.reset_parameters()

    def reset_parameters(self):
        for layer in (self.conv, self.hidden, self.logits):
            nn.init.constant_(layer.weight, 0.05)
            nn.init.constant_(layer.bias, 0.01)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = F.relu(self.hidden(x.flatten(1)))
        return self.logits(x)


if __name__ == "__main__":
    torch.manual_seed(0)
    d = load_digits()
    x = torch.tensor(d.images / 16, dtype=torch.float32)[:, None]
    y = torch.tensor(d.target)
    loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=50, shuffle=True)
    net = SmallNet()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(4):
        for xb, yb in loader:
            opt.zero_grad(set_to_none=True)
            loss = F.cross_entropy(net(xb), yb)
            loss.backward()
            opt.step()
        with torch.no_grad():
            acc = (net(x[1000:]).argmax(1) == y[1000:]).float().mean()
        print(f"{epoch=} loss={loss.item():.5f} acc={acc.item():.4f}")
