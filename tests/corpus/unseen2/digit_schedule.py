import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn, optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(14)
BATCH, EPOCHS = 32, 12

X, y = load_digits(return_X_y=True)
X_tr, X_te, y_tr, y_te = train_test_split(X / 16.0, y, test_size=0.3, random_state=14)
train_loader = DataLoader(TensorDataset(torch.tensor(X_tr).float(), torch.tensor(y_tr)), BATCH, shuffle=True)
X_te, y_te = torch.tensor(X_te).float(), torch.tensor(y_te)

net = nn.Sequential(nn.Linear(64, 100), nn.ReLU(), nn.Linear(100, 10))
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
# decay by 10 every 4 epochs
scheduler = StepLR(optimizer, step_size=4, gamma=0.1)

for epoch in range(EPOCHS):
    net.train()
    running_loss = 0.0
    for inputs, labels in train_loader:
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
        running_loss += loss.item()

    net.eval()
    with torch.no_grad():
        acc = (net(X_te).argmax(1) == y_te).float().mean().item()
    print(f"[{epoch + 1}/{EPOCHS}] loss {running_loss / len(train_loader):.4f} acc {acc:.4f}")

print("Finished Training")
print("parameters:", sum(p.numel() for p in net.parameters()))
