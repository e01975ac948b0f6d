import torch
from torch import nn


class TextModel(nn.Module):
    def __init__(self, vocab=80, dim=24, classes=3):
        super().__init__()
        self.backbone = nn.ModuleDict({
            "embed": nn.Embedding(vocab, dim),
            "encoder": nn.GRU(dim, dim, batch_first=True),
        })
        self.pre_classifier = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, ids):
        h, _ = self.backbone["encoder"](self.backbone["embed"](ids))
        h = self.norm(torch.relu(self.pre_classifier(h.mean(dim=1))))
        return self.head(h)


def freeze_all_but(model, names):
    for n, p in model.named_parameters():
        p.requires_grad_(any(n.startswith(k) for k in names))
    total = sum(p.numel() for p in model.parameters())
    active = sum(p.numel() for p in model.parameters() if p.requires_grad)
    print(f"trainable {active} / {total}")


def documents(n, gen):
    y = torch.randint(0, 3, (n,), generator=gen)
    noise = torch.randint(0, 80, (n, 14), generator=gen)
    topical = torch.randint(0, 10, (n, 14), generator=gen) + 10 * y.unsqueeze(1)
    keep = torch.rand(n, 14, generator=gen) < 0.35
    return torch.where(keep, topical, noise), y


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = TextModel()
    freeze_all_but(model, ["pre_classifier", "norm", "head"])
    optimizer = torch.optim.AdamW((p for p in model.parameters() if p.requires_grad), lr=1e-2)
    loss_fn = nn.CrossEntropyLoss()
    model.train()
    for step in range(80):
        ids, y = documents(64, gen)
        loss = loss_fn(model(ids), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 16 == 0:
            print(f"step {step:3d} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
