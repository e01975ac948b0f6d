import torch
from torch import nn

PAD, CLS = 0, 1
LENGTH, VOCAB = 14, 20


def sentences(count, generator):
    """The label says whether any two equal marker tokens (2, 3 or 4) occur."""
    ids = torch.full((count, LENGTH), PAD)
    labels = torch.zeros(count, dtype=torch.long)
    for i in range(count):
        n = int(torch.randint(5, LENGTH - 2, (1,), generator=generator))
        row = torch.randint(5, VOCAB, (n,), generator=generator)
        markers = torch.randint(2, 5, (2,), generator=generator)
        spots = torch.randperm(n, generator=generator)[:2]
        row[spots] = markers
        ids[i, 0] = CLS
        ids[i, 1:n + 1] = row
        labels[i] = int(markers[0] == markers[1])
    return ids, labels


class Encoder(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.tokens = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, 2)

    def forward(self, ids):
        padding = ids == PAD
        hidden = self.encoder(self.tokens(ids), src_key_padding_mask=padding)
        return self.head(hidden[:, 0])


def main():
    torch.manual_seed(73)
    generator = torch.Generator().manual_seed(73)
    train_ids, train_labels = sentences(1200, generator)
    test_ids, test_labels = sentences(300, generator)
    model = Encoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        model.train()
        for rows in torch.randperm(1200).split(60):
            optimizer.zero_grad()
            loss = criterion(model(train_ids[rows]), train_labels[rows])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(test_ids).argmax(1) == test_labels).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
