import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset


def get_loader(batch_size):
    x, y = load_digits(return_X_y=True)
    dataset = TensorDataset(torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y))
    return DataLoader(dataset, batch_size=batch_size, shuffle=True)


def get_model(hidden):
    return nn.Sequential(
        nn.Linear(64, hidden),
        nn.BatchNorm1d(hidden),
        nn.ReLU(),
        nn.Linear(hidden, 10),
    )


def main():
    torch.manual_seed(33)
    epochs = 6
    loader = get_loader(128)
    model = get_model(64)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, nesterov=True)
    scheduler = OneCycleLR(optimizer, max_lr=0.3, total_steps=epochs)

    for epoch in range(epochs):
        running = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            running += loss.item()
        rate = scheduler.get_last_lr()[0]
        print(f"epoch {epoch + 1}: loss {running / len(loader):.4f} lr {rate:.5f}")


if __name__ == "__main__":
    main()
