import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.manual_seed(99)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(50, 16, mode="mean")
        self.fc1 = nn.Linear(16, 32)
        self.fc2 = nn.Linear(32, 2)

    def forward(self, bags):
        return self.fc2(torch.relu(self.fc1(self.emb(bags))))


def sample(n=64, length=7):
    bags = torch.randint(0, 50, (n, length))
    return bags, (bags < 20).float().mean(1).gt(0.4).long()


net = Net()
params = list(net.parameters())
optimizer = torch.optim.SGD(params, lr=0.5, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()

for step in range(80):
    bags, target = sample()
    optimizer.zero_grad()
    loss = loss_fn(net(bags), target)
    loss.backward()
    clip_grad_norm_(params, max_norm=0.25)
    optimizer.step()
    if step % 16 == 0:
        print(step, "%.5f" % loss.item())
