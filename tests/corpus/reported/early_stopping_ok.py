import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class EarlyStopping:
    def __init__(self, patience=3, min_delta=0.0):
        self.patience = patience
        self.min_delta = min_delta
        self.best = float("inf")
        self.bad_epochs = 0

    def should_stop(self, value):
        if value < self.best - self.min_delta:
            self.best = value
            self.bad_epochs = 0
        else:
            self.bad_epochs += 1
        return self.bad_epochs >= self.patience


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return nn.functional.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    x_train, x_rest, y_train, y_rest = train_test_split(x, y, test_size=0.5, random_state=0)
    x_val, x_test, y_val, y_test = train_test_split(x_rest, y_rest, test_size=0.5, random_state=0)
    loader = DataLoader(TensorDataset(x_train, y_train), batch_size=64, shuffle=True)

    model = nn.Sequential(nn.Linear(64, 40), nn.ReLU(), nn.Linear(40, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    stopper = EarlyStopping(patience=3)
    for epoch in range(40):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
        val_loss, _ = evaluate(model, x_val, y_val)
        if stopper.should_stop(val_loss):
            print(f"stopped after epoch {epoch} with validation loss {val_loss:.3f}")
            break
    print("test loss %.3f accuracy %.3f" % evaluate(model, x_test, y_test))


if __name__ == "__main__":
    main()
