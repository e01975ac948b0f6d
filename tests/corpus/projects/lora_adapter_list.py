"""Adapters in a frozen text encoder, trained for topic classification."""
import torch
from torch import nn


class Adapter(nn.Module):
    def __init__(self, width, bottleneck=8):
        super().__init__()
        self.down = nn.Linear(width, bottleneck)
        self.up = nn.Linear(bottleneck, width)
        nn.init.zeros_(self.up.weight)
        nn.init.zeros_(self.up.bias)

    def forward(self, x):
        return x + self.up(torch.relu(self.down(x)))


class Encoder(nn.Module):
    def __init__(self, vocab=50, width=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        make = lambda: nn.TransformerEncoderLayer(width, 4, 64, dropout=0.0, batch_first=True)
        self.layers = nn.ModuleList([make() for _ in range(layers)])
        self.width = width

    def forward(self, ids, adapters):
        x = self.embed(ids)
        for layer, adapter in zip(self.layers, adapters):
            x = adapter(layer(x))
        return x.mean(1)


class AdaptedClassifier(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        for p in self.encoder.parameters():
            p.requires_grad = False
        self.adapters = [Adapter(encoder.width) for _ in encoder.layers]
        self.classifier = nn.Linear(encoder.width, classes)

    def forward(self, ids):
        return self.classifier(self.encoder(ids, self.adapters))


def make_texts(count, generator):
    topic = torch.randint(0, 4, (count,), generator=generator)
    words = torch.randint(0, 50, (count, 12), generator=generator)
    marks = topic[:, None] * 10 + torch.randint(0, 10, (count, 12), generator=generator)
    chosen = torch.rand(count, 12, generator=generator) < 0.4
    return torch.where(chosen, marks, words), topic


def main():
    torch.manual_seed(9)
    generator = torch.Generator().manual_seed(9)
    model = AdaptedClassifier(Encoder(), classes=4)
    trainable = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trainable, lr=5e-3)
    criterion = nn.CrossEntropyLoss()
    print("trainable", sum(p.numel() for p in trainable))
    for step in range(150):
        ids, topic = make_texts(64, generator)
        loss = criterion(model(ids), topic)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 49:
            print(f"step {step} loss {loss.item():.4f}")
    ids, topic = make_texts(512, generator)
    with torch.no_grad():
        print(f"accuracy {(model(ids).argmax(1) == topic).float().mean():.4f}")


if __name__ == "__main__":
    main()
