import torch
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.BCELoss()

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for xb, yb in loader:
            prob = self.model(xb).squeeze(1)
            loss = self.criterion(prob, yb)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * xb.size(0)
        return total / len(loader.dataset)

    @torch.no_grad()
    def accuracy(self, X, y):
        self.model.eval()
        return ((self.model(X).squeeze(1) > 0.5).float() == y).float().mean().item()


def run():
    torch.manual_seed(42)
    X, y = load_breast_cancer(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=42)
    sc = StandardScaler()
    X_tr = torch.tensor(sc.fit_transform(X_tr), dtype=torch.float32)
    X_te = torch.tensor(sc.transform(X_te), dtype=torch.float32)
    y_tr = torch.tensor(y_tr, dtype=torch.float32)
    y_te = torch.tensor(y_te, dtype=torch.float32)

    model = nn.Sequential(
        nn.Linear(30, 16),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(16, 1),
    )
    trainer = Trainer(model, lr=3e-3)
    loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=32, shuffle=True)
    for epoch in range(15):
        loss = trainer.train_epoch(loader)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} loss {loss:.4f} test acc {trainer.accuracy(X_te, y_te):.4f}")


if __name__ == "__main__":
    run()
