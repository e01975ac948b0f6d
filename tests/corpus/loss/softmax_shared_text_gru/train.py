import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from data import VOCAB, Headlines
from model import TextClassifier


def evaluate(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for tokens, labels in loader:
            hits += (model.predict(tokens) == labels).sum().item()
            total += len(labels)
    return hits / total


def run_epoch(model, loader, opt):
    model.train()
    losses = []
    for tokens, labels in loader:
        opt.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(tokens), labels)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)


if __name__ == "__main__":
    torch.manual_seed(3)
    train = DataLoader(Headlines(240, seed=1), batch_size=24, shuffle=True)
    val = DataLoader(Headlines(90, seed=2), batch_size=45)
    model = TextClassifier(len(VOCAB), 3)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        train_loss = run_epoch(model, train, opt)
        print("epoch", epoch, "loss", round(train_loss, 5), "val", round(evaluate(model, val), 4))
