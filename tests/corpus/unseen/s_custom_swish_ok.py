import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        local = s * (1 + x * (1 - s))
        return grad_output * local


class Activation(nn.Module):
    def forward(self, x):
        return Swish.apply(x)


torch.manual_seed(9)
wine = load_wine()
Xtr, Xte, ytr, yte = train_test_split(wine.data, wine.target, test_size=0.4, random_state=5)
sc = StandardScaler().fit(Xtr)
Xtr, Xte = [torch.tensor(sc.transform(a), dtype=torch.float32) for a in (Xtr, Xte)]
ytr, yte = torch.tensor(ytr), torch.tensor(yte)

model = nn.Sequential(
    nn.Linear(13, 24), Activation(),
    nn.Linear(24, 24), Activation(),
    nn.Linear(24, 3),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
criterion = nn.CrossEntropyLoss()

for epoch in range(40):
    model.train()
    for idx in torch.randperm(len(Xtr)).split(20):
        optimizer.zero_grad()
        loss = criterion(model(Xtr[idx]), ytr[idx])
        loss.backward()
        optimizer.step()
    if epoch % 8 == 7:
        model.eval()
        with torch.no_grad():
            out = model(Xte)
            acc = (out.argmax(1) == yte).float().mean().item()
            val = criterion(out, yte).item()
        print(f"epoch {epoch + 1}: train {loss.item():.4f} test loss {val:.4f} acc {acc:.4f}")
