import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(63)
use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")

x = torch.randn(512, 16)
y = (x[:, :4].prod(dim=1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True, pin_memory=use_cuda)

model = nn.Sequential(
    nn.Linear(16, 64), nn.GELU(),
    nn.Linear(64, 64), nn.GELU(),
    nn.Linear(64, 2),
).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
scaler = torch.cuda.amp.GradScaler(enabled=use_cuda)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    running = 0.0
    for inputs, labels in loader:
        inputs = inputs.to(device, non_blocking=True)
        labels = labels.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.amp.autocast(enabled=use_cuda):
            loss = criterion(model(inputs), labels)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        running += loss.item()
    print(f"epoch {epoch:2d}  loss {running / len(loader):.5f}")
