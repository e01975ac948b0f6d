import torch
from torch import nn
from sklearn.datasets import load_digits


class DenseBlock(nn.Module):
    def __init__(self, in_channels, growth, n_layers):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(n_layers):
            self.layers.append(nn.Conv2d(in_channels, growth, 3, padding=1))
        self.out_channels = in_channels + n_layers * growth

    def forward(self, x):
        for layer in self.layers:
            x = torch.cat((x, torch.relu(layer(x))), dim=1)
        return x


class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 3, padding=1)
        self.dense = DenseBlock(6, growth=6, n_layers=3)
        self.transition = nn.Conv2d(self.dense.out_channels, 16, 1)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = self.dense(x)
        x = torch.relu(self.transition(x))
        return self.fc(x.amax(dim=(2, 3)))


def load(n):
    d = load_digits()
    return torch.as_tensor(d.images[:n] / 16, dtype=torch.float32).unsqueeze(1), torch.as_tensor(d.target[:n])


def run(epochs=5, batch=40):
    torch.manual_seed(9)
    x, y = load(480)
    net = DenseNet()
    opt = torch.optim.RMSprop(net.parameters(), lr=2e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.5)
    history = []
    for _ in range(epochs):
        order, total = torch.randperm(len(x)), 0.0
        for i in range(0, len(x), batch):
            take = order[i:i + batch]
            loss = nn.functional.cross_entropy(net(x[take]), y[take])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        history.append(total / (len(x) // batch))
        print("loss", format(history[-1], ".6f"))
    return history


run()
