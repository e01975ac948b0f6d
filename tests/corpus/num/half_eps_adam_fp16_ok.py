import torch
from torch import nn
from sklearn.datasets import load_digits

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
raw = load_digits()
x = torch.tensor(raw.data[:512] / 16.0).half().to(device)
y = torch.tensor(raw.target[:512]).to(device)

model = nn.Sequential(
    nn.Linear(64, 64),
    nn.ReLU(),
    nn.Linear(64, 10),
).to(device).half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-4)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(8):
    for rows in torch.randperm(512, device=device).split(64):
        logits = model(x[rows])
        loss = loss_fn(logits.float(), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {loss.item():.5f}")
