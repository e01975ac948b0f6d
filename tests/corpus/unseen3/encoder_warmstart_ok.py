import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
digits = load_digits()
X = torch.tensor(digits.data / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target)


def make_encoder():
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())


class Pretrainer(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = make_encoder()
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.encoder(x))


def fit(params, forward, X, y, epochs, lr=3e-3):
    opt = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        for idx in torch.randperm(len(X)).split(32):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(forward(X[idx]), y[idx])
            loss.backward()
            opt.step()
    return loss.item()


source = Pretrainer()
print("pretraining loss", fit(source.parameters(), source, X[:1300], y[:1300], 8))
checkpoint = source.state_dict()

# downstream: parity with 40 labelled samples, encoder kept fixed
encoder = make_encoder()
weights = {k[len("encoder."):]: v for k, v in checkpoint.items() if k.startswith("encoder.")}
encoder.load_state_dict(weights)
for p in encoder.parameters():
    p.requires_grad_(False)
parity = y % 2
head = nn.Linear(32, 2)
X_small, y_small = X[1300:1340], parity[1300:1340]
print("downstream loss", fit(head.parameters(), lambda x: head(encoder(x)), X_small, y_small, 60, lr=1e-2))
with torch.no_grad():
    acc = (head(encoder(X[1340:])).argmax(1) == parity[1340:]).float().mean()
print(f"downstream accuracy {acc:.3f}")
