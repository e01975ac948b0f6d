import torch
import torch.nn as nn

torch.manual_seed(19)
torch.set_printoptions(precision=4)


def adding_problem(n, length):
    values = torch.rand(n, length)
    mask = torch.zeros(n, length)
    for i in range(n):
        j, k = torch.randperm(length)[:2]
        mask[i, j] = mask[i, k] = 1.0
    values = torch.where(torch.rand(n, length) < 0.05, values * 8, values)
    target = (values * mask).sum(1)
    return torch.stack([values, mask], dim=-1), target


class AdderRNN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, nonlinearity="relu", batch_first=True)
        self.fc = nn.Linear(hidden, 1)
        with torch.no_grad():
            self.rnn.weight_hh_l0.copy_(torch.eye(hidden))

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1]).squeeze(-1)


X, y = adding_problem(800, 20)
X_val, y_val = adding_problem(200, 20)
net = AdderRNN()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
mse = nn.MSELoss()

for epoch in range(10):
    losses, norms = [], []
    for idx in torch.randperm(len(X)).split(40):
        loss = mse(net(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        norm = nn.utils.clip_grad_norm_(net.parameters(), max_norm=1.0)
        losses.append(loss.item())
        norms.append(norm.item())
    with torch.no_grad():
        val = mse(net(X_val), y_val).item()
    print(f"epoch {epoch} train {sum(losses) / len(losses):.4f} val {val:.4f} max grad norm {max(norms):.1f}")
