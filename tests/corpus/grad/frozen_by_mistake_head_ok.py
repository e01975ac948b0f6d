import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
Y = torch.tensor(d.target)


class SmallResNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.conv2, self.bn2 = nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = F.relu(x + self.bn2(self.conv2(x)))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


def run(model, x, y, params, lr, epochs, tag):
    opt = torch.optim.Adam(params, lr=lr)
    for ep in range(epochs):
        model.train()
        tot = 0.0
        for i in torch.randperm(len(x)).split(64):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[i]), y[i])
            loss.backward()
            opt.step()
            tot += loss.item() * len(i)
        print(f"{tag} {ep}: {tot / len(x):.5f}")


small = Y < 5
model = SmallResNet(5)
run(model, X[small][:512], Y[small][:512], model.parameters(), 5e-3, 2, "pretrain")

# new task: digits five to nine, adapt the norm layers and the classifier
model.fc = nn.Linear(16, 5)
for name, param in model.named_parameters():
    if "bn" not in name and "fc" not in name:
        param.requires_grad = False

rest = ~small
trainable = [p for p in model.parameters() if p.requires_grad]
run(model, X[rest][:512], Y[rest][:512] - 5, trainable, 2e-2, 4, "adapt")
