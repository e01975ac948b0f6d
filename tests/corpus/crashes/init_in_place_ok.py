import torch
from torch import nn


class Detector(nn.Module):
    def __init__(self, classes=4, prior=0.05):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.score = nn.Linear(32, classes)
        self.score.bias.data += torch.log(torch.tensor(prior / (1 - prior)))

    def forward(self, x):
        return self.score(self.body(x))


torch.manual_seed(0)
x = torch.randn(300, 10)
y = (x[:, :4] > 1).float()
model = Detector()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(300).split(50):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
print("bce", loss.item())
