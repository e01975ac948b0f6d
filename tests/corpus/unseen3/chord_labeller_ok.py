import torch
import torch.nn as nn

torch.manual_seed(25)
CHORDS, STEPS = 7, 12


class ChordLabeller(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.lstm = nn.LSTM(12, hidden, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(2 * hidden, CHORDS)

    def forward(self, chroma):
        out, _ = self.lstm(chroma)
        return self.fc(out)


templates = (torch.rand(CHORDS, 12) < 0.35).float()


def excerpt(n):
    labels = torch.randint(0, CHORDS, (n, STEPS // 3)).repeat_interleave(3, dim=1)
    return templates[labels] + 0.4 * torch.randn(n, STEPS, 12), labels


model = ChordLabeller()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(120):
    chroma, labels = excerpt(32)
    logits = model(chroma)
    loss = criterion(logits.transpose(1, 2), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        acc = (logits.argmax(-1) == labels).float().mean()
        print(f"step {step} loss {loss.item():.4f} frame acc {acc:.3f}")

with torch.no_grad():
    chroma, labels = excerpt(200)
    print(f"test frame accuracy {(model(chroma).argmax(-1) == labels).float().mean():.3f}")
