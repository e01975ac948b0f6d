import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(44)
d = load_digits()
full = TensorDataset(torch.tensor(d.images / 16.0).float().unsqueeze(1), torch.tensor(d.target))
train_ds, test_ds = random_split(full, [1400, len(full) - 1400])
train_dl = DataLoader(train_ds, batch_size=64, shuffle=True, drop_last=True)
test_dl = DataLoader(test_ds, batch_size=128)

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
    nn.Flatten(), nn.Linear(32, 10),
)
train_loss = nn.CrossEntropyLoss(label_smoothing=0.1)
test_loss = nn.CrossEntropyLoss(reduction="sum")
decay = [p for p in net.parameters() if p.ndim > 1]
no_decay = [p for p in net.parameters() if p.ndim <= 1]
opt = torch.optim.SGD([{"params": decay, "weight_decay": 5e-4}, {"params": no_decay, "weight_decay": 0.0}],
                      lr=0.1, momentum=0.9, nesterov=True)
EPOCHS = 6
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=EPOCHS * len(train_dl))

for epoch in range(EPOCHS):
    net.train()
    for x, y in train_dl:
        loss = train_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    net.eval()
    nll, hit = 0.0, 0
    with torch.no_grad():
        for x, y in test_dl:
            out = net(x)
            nll += test_loss(out, y).item()
            hit += (out.argmax(1) == y).sum().item()
    print(f"epoch {epoch} smoothed train {loss.item():.3f} test nll {nll / len(test_ds):.3f} acc {hit / len(test_ds):.3f}")
