import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split


class WineNet(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.fc1 = nn.Linear(n_in, 24)
        self.fc2 = nn.Linear(24, n_out)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def compute_loss(model, x, y):
    logits = model(x)
    loss = nn.functional.cross_entropy(logits, y)
    acc = (logits.argmax(1) == y).float().mean()
    return loss, acc.item()


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    loss, acc = compute_loss(model, x, y)
    return loss.item(), acc


def train(model, x, y, opt, batch_size=25):
    model.train()
    losses = []
    for idx in torch.randperm(len(x)).split(batch_size):
        loss, _ = compute_loss(model, x[idx], y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(51)
    X, y = load_wine(return_X_y=True)
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.3, random_state=51)
    mean, std = X_tr.mean(0), X_tr.std(0)
    X_tr, X_va = (torch.tensor((a - mean) / std, dtype=torch.float32) for a in (X_tr, X_va))
    y_tr, y_va = torch.tensor(y_tr), torch.tensor(y_va)
    model = WineNet(X_tr.shape[1], 3)
    opt = torch.optim.AdamW(model.parameters(), lr=6e-3)
    for epoch in range(8):
        loss = train(model, X_tr, y_tr, opt)
        val_loss, val_acc = evaluate(model, X_va, y_va)
        print(f"{epoch} train {loss:.6f} val {val_loss:.6f} acc {val_acc:.3f}")


if __name__ == "__main__":
    main()
