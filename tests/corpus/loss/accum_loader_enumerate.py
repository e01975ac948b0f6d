import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
gradient_accumulation_steps = 8

signal = torch.randn(256, 1, 24)
kernel = torch.tensor([[[0.2, 0.5, -0.7, 0.5, 0.2]]])
target = nn.functional.conv1d(signal, kernel, padding=2).square().mean(dim=(1, 2)).unsqueeze(1)
train_loader = DataLoader(TensorDataset(signal, target), batch_size=8, shuffle=True)

model = nn.Sequential(
    nn.Conv1d(1, 12, 5, padding=2), nn.ReLU(),
    nn.Conv1d(12, 12, 5, padding=2), nn.ReLU(),
    nn.AdaptiveAvgPool1d(1), nn.Flatten(),
    nn.Linear(12, 1),
).to(device)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(8):
    model.train()
    running = 0.0
    optimizer.zero_grad()
    for step, (x, y) in enumerate(train_loader):
        loss = criterion(model(x.to(device)), y.to(device))
        running += loss.item()
        loss.backward()
        if (step + 1) % gradient_accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    print(f"epoch {epoch}: {running / len(train_loader):.6f}")
