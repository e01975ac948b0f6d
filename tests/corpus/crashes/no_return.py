import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 32)
        self.b = nn.Linear(32, 3)

    def forward(self, x):
        x = F.relu(self.a(x))
        x = self.b(x)


torch.manual_seed(0)
x = torch.randn(240, 6)
y = x[:, :3].argmax(1)
model = Encoder()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(240).split(24):
        logits = model(x[rows])
        loss = F.cross_entropy(logits, y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
