"""Simulates batches of 256 with micro-batches of 32."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 8
MICRO = 32
EPOCHS = 20


def data():
    x, y = load_digits(return_X_y=True)
    x = torch.from_numpy(x).float() / 16
    y = torch.from_numpy(y)
    order = torch.randperm(len(x))
    train, test = order[:1536], order[1536:]
    return TensorDataset(x[train], y[train]), (x[test], y[test])


def build_model():
    return nn.Sequential(
        nn.Linear(64, 128), nn.LayerNorm(128), nn.ReLU(),
        nn.Linear(128, 64), nn.ReLU(),
        nn.Linear(64, 10),
    )


def main():
    torch.manual_seed(7)
    train_set, (x_test, y_test) = data()
    loader = DataLoader(train_set, batch_size=MICRO, shuffle=True, drop_last=True)
    model = build_model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    criterion = nn.CrossEntropyLoss()
    updates = 0
    for epoch in range(EPOCHS):
        model.train()
        shown = 0.0
        for index, (inputs, targets) in enumerate(loader):
            optimizer.zero_grad()
            outputs = model(inputs)
            loss = criterion(outputs, targets) / ACCUMULATE
            loss.backward()
            shown += loss.item() * ACCUMULATE
            if (index + 1) % ACCUMULATE == 0:
                optimizer.step()
                updates += 1
        if epoch % 5 == 4:
            model.eval()
            with torch.no_grad():
                accuracy = (model(x_test).argmax(-1) == y_test).float().mean()
            print(f"epoch {epoch} updates {updates} loss {shown / len(loader):.4f} test {accuracy:.4f}")


if __name__ == "__main__":
    main()
