# daily visits per shop, count regression
import torch
import torch.nn as nn

torch.manual_seed(17)
n = 1500
features = torch.rand(n, 5)
rate = torch.exp(0.6 + 1.2 * features[:, 0] - 0.8 * features[:, 1] + 1.0 * features[:, 2] * features[:, 3])
visits = torch.poisson(rate)

x_train, y_train = features[:1200], visits[:1200]
x_test, y_test, rate_test = features[1200:], visits[1200:], rate[1200:]


class VisitModel(nn.Module):
    def __init__(self, inputs):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(inputs, 24),
            nn.Tanh(),
            nn.Linear(24, 1),
            nn.Softplus(),
        )

    def forward(self, x):
        return self.layers(x).squeeze(-1)


model = VisitModel(5)
criterion = nn.PoissonNLLLoss(log_input=False)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(1, 31):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(x_train)).split(100):
        optimizer.zero_grad()
        loss = criterion(model(x_train[idx]), y_train[idx])
        loss.backward()
        optimizer.step()
        total += loss.item() * len(idx)
    if epoch % 10 == 0:
        print(f"epoch {epoch} loss {total / len(x_train):.4f}")

model.eval()
with torch.no_grad():
    predicted = model(x_test)
print(f"mean visits observed {y_test.mean().item():.2f} predicted {predicted.mean().item():.2f}")
print(f"mean absolute error of the rate {(predicted - rate_test).abs().mean().item():.3f}")
