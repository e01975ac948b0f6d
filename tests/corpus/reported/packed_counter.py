import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader


def make_examples(count, generator):
    examples = []
    for _ in range(count):
        length = int(torch.randint(3, 15, (1,), generator=generator))
        tokens = torch.randint(1, 6, (length,), generator=generator)
        examples.append((tokens, int((tokens == 5).sum().clamp(max=3))))
    return examples


def collate(batch):
    tokens, labels = zip(*batch)
    lengths = torch.tensor([len(t) for t in tokens])
    return pad_sequence(tokens, batch_first=True), lengths, torch.tensor(labels)


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(6, 12, padding_idx=0)
        self.rnn = nn.GRU(12, 32, batch_first=True)
        self.head = nn.Linear(32, 4)

    def forward(self, tokens, lengths):
        packed = pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
        _, last = self.rnn(packed)
        return self.head(last[-1])


def train():
    generator = torch.Generator().manual_seed(30)
    loader = DataLoader(make_examples(640, generator), batch_size=64, shuffle=True, collate_fn=collate)
    model = Counter()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(4):
        for tokens, lengths, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(tokens), labels)
            loss.backward()
            optimizer.step()
        print("epoch", epoch, "loss", round(loss.item(), 4))


if __name__ == "__main__":
    torch.manual_seed(30)
    train()
