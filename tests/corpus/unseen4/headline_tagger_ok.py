import random
import torch
import torch.nn as nn

random.seed(4)
torch.manual_seed(4)

SPORT = "goal match team coach league striker referee stadium".split()
MONEY = "market shares bank profit inflation bond trader budget".split()
OTHER = "today says new after over city year week big small plan".split()


def make_headline():
    label = random.randint(0, 1)
    words = random.choices(SPORT if label else MONEY, k=3) + random.choices(OTHER, k=5)
    random.shuffle(words)
    return words, label


corpus = [make_headline() for _ in range(900)]
words = sorted({w for ws, _ in corpus for w in ws})
stoi = {w: i + 2 for i, w in enumerate(words)}
stoi["<pad>"], stoi["<unk>"] = 0, 1

ids = torch.tensor([[stoi.get(w, 1) for w in ws] for ws, _ in corpus])
labels = torch.tensor([l for _, l in corpus])
n_train = 700


class HeadlineCNN(nn.Module):
    def __init__(self, vocab_size, dim=24):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.conv = nn.Conv1d(dim, 32, kernel_size=3, padding=1)
        self.fc = nn.Linear(32, 2)

    def forward(self, tokens):
        x = self.embedding(tokens).transpose(1, 2)
        x = torch.relu(self.conv(x)).amax(dim=2)
        return self.fc(x)


model = HeadlineCNN(vocab_size=len(stoi))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    perm = torch.randperm(n_train)
    for idx in perm.split(50):
        optimizer.zero_grad()
        loss = criterion(model(ids[idx]), labels[idx])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(ids[n_train:]).argmax(1) == labels[n_train:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} val acc {acc:.3f}")
