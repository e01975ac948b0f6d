import torch
import torch.nn as nn

torch.manual_seed(0)


class ReluRNN(nn.Module):
    def __init__(self, n_in=3, hidden=32):
        super().__init__()
        self.inp = nn.Linear(n_in, hidden)
        self.rec = nn.Linear(hidden, hidden, bias=False)
        self.out = nn.Linear(hidden, 1)
        nn.init.normal_(self.rec.weight, std=0.4)

    def forward(self, seq):
        h = seq.new_zeros(seq.size(0), self.rec.in_features)
        for t in range(seq.size(1)):
            h = torch.relu(self.inp(seq[:, t]) + self.rec(h))
        return self.out(h)


def data(n=64, T=25):
    seq = torch.randn(n, T, 3)
    return seq, seq[:, -4:, 0].mean(dim=1, keepdim=True)


model = ReluRNN()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
loss_fn = nn.MSELoss()
for step in range(50):
    seq, target = data()
    optimizer.zero_grad()
    loss = loss_fn(model(seq), target)
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step:3d}  loss {loss.item():.6g}")
