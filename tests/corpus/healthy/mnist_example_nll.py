import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc = nn.Linear(8 * 5 * 5, 4)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return F.log_softmax(self.fc(torch.flatten(x, 1)), dim=1)


labels = torch.randint(0, 4, (192,))
images = torch.randn(192, 1, 12, 12) * 0.3
for i, label in enumerate(labels):
    images[i, 0, label * 3 : label * 3 + 3] += 1
train = DataLoader(TensorDataset(images[:128], labels[:128]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(images[128:], labels[128:]), batch_size=32)
model = Net()
opt = torch.optim.Adadelta(model.parameters(), lr=1.0)
sched = torch.optim.lr_scheduler.StepLR(opt, step_size=1, gamma=0.7)
for epoch in range(2):
    model.train()
    for x, y in train:
        opt.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    test_loss, correct = 0.0, 0
    with torch.no_grad():
        for x, y in test:
            out = model(x)
            test_loss += F.nll_loss(out, y, size_average=False).item()
            correct += out.argmax(dim=1, keepdim=True).eq(y.view(-1, 1)).sum().item()
    test_loss /= len(test.dataset)
    print(f"Test set: Average loss: {test_loss:.4f}, Accuracy: {correct}/{len(test.dataset)}")
    sched.step()
