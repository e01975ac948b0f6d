import argparse
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Classifier(nn.Module):
    def __init__(self, vocab, d_model=32, nhead=4, seq_len=11, classes=2):
        super().__init__()
        self.tok = nn.Embedding(vocab, d_model)
        self.pos = nn.Parameter(torch.randn(seq_len, d_model) * 0.02)
        layer = nn.TransformerEncoderLayer(d_model, nhead, dim_feedforward=64, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.fc = nn.Linear(d_model, classes)

    def forward(self, ids):
        x = self.tok(ids) + self.pos          # (batch, seq, d_model)
        x = self.encoder(x)
        return self.fc(x.mean(dim=1))


def parity_votes(n, vocab, length):
    """Are there more odd than even tokens in the sequence?"""
    ids = torch.randint(0, vocab, (n, length))
    label = ((ids % 2).float().mean(1) > 0.5).long()
    return TensorDataset(ids, label)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--epochs', type=int, default=8)
    ap.add_argument('--batch-size', type=int, default=32)
    ap.add_argument('--lr', type=float, default=3e-3)
    args = ap.parse_args()

    torch.manual_seed(17)
    train, val = random_split(parity_votes(480, 14, 11), [384, 96])
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(val, batch_size=96)
    model = Classifier(vocab=14)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for ids, label in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(ids), label)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            hits = sum((model(i).argmax(1) == l).sum().item() for i, l in val_loader)
        print(f'epoch {epoch} loss {total / len(train_loader):.5f} val {hits / len(val):.4f}')


if __name__ == '__main__':
    main()
