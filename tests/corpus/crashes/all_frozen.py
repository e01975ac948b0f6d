import torch
import torch.nn as nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 32), nn.ReLU())
        self.fc = nn.Linear(32, 10)

    def forward(self, x):
        return self.fc(self.features(x))


def for_task(classes):
    model = Backbone()
    model.fc = nn.Linear(32, classes)
    for parameter in model.parameters():
        parameter.requires_grad = False
    return model


torch.manual_seed(0)
model = for_task(4)
optimizer = torch.optim.SGD(model.fc.parameters(), lr=0.1)
x = torch.randn(160, 12)
y = x[:, :4].argmax(1)
for epoch in range(5):
    for rows in torch.randperm(160).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
