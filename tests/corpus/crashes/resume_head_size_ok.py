import os
import tempfile

import torch
import torch.nn as nn

PATH = os.path.join(tempfile.mkdtemp(), "pretrained.pt")


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Linear(16, 32)
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


def fit(model, x, y, steps):
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(200, 16)
big = Net(classes=10)
print(fit(big, x, x[:, :10].argmax(1), 30))
torch.save(big.state_dict(), PATH)

small = Net(classes=3)
small.load_state_dict({k: v for k, v in torch.load(PATH).items() if "head" not in k}, strict=False)
print(fit(small, x, x[:, :3].argmax(1), 30))
