# %% transfer from "is the digit even" to the ten classes
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(11)
images, labels = load_digits(return_X_y=True)
images = torch.from_numpy(images).float() / 16
labels = torch.from_numpy(labels).long()
order = torch.randperm(len(images))
train, test = order[:1300], order[1300:]


# %%
class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, n_out)

    def forward(self, x):
        return self.head(self.body(x))


def fit(model, optimizer, target, epochs):
    for epoch in range(epochs):
        model.train()
        for idx in train[torch.randperm(len(train))].split(100):
            loss = F.cross_entropy(model(images[idx]), target[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        acc = (model(images[test]).argmax(1) == target[test]).float().mean()
    return loss.item(), acc.item()


# %% source task
model = Net(2)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
print("source:", fit(model, optimizer, labels % 2, 6))

# %% target task, body kept fixed
for p in model.body.parameters():
    p.requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
model.head = nn.Linear(32, 10)
print("target:", fit(model, optimizer, labels, 25))
