import torch
from torch import nn

torch.manual_seed(0)
seq = torch.randn(400, 30, 3)
y = seq.sum((1, 2)).unsqueeze(1) * 3


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(3, 32, batch_first=True)
        self.fc = nn.Linear(32, 1)

    def forward(self, x):
        return self.fc(self.rnn(x)[0][:, -1])


net = Net()
opt = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
for epoch in range(6):
    for i in torch.randperm(400).split(40):
        loss = nn.functional.mse_loss(net(seq[i]), y[i])
        opt.zero_grad()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
