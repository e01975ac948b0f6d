import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.rand(530, 4)
rate = torch.exp(1.2 * x[:, 0] - 0.8 * x[:, 1] + 0.5)
counts = torch.poisson(rate)
train, test = TensorDataset(x[:430], counts[:430]), TensorDataset(x[430:], counts[430:])
model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1), nn.Flatten(0))
nll = nn.PoissonNLLLoss(log_input=True, reduction="sum")
opt = torch.optim.Adam(model.parameters(), lr=3e-3)


def run(dataset, training):
    total = 0.0
    model.train(training)
    with torch.set_grad_enabled(training):
        for xb, cb in DataLoader(dataset, batch_size=32, shuffle=training):
            loss = nll(model(xb), cb)
            if training:
                opt.zero_grad()
                (loss / len(xb)).backward()
                opt.step()
            total += loss.item()
    return total / len(dataset)


for epoch in range(20):
    tr = run(train, True)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: train nll {tr:.4f} test nll {run(test, False):.4f}")
