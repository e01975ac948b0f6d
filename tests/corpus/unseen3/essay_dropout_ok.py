import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(15)


class EssayScorer(nn.Module):
    def __init__(self, vocab=80, dim=24):
        super().__init__()
        self.bag = nn.EmbeddingBag(vocab, dim)
        self.fc1 = nn.Linear(dim, 64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, tokens):
        x = self.bag(tokens)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=0.6, training=self.training)
        return self.fc2(x)


def essays(n):
    grade = torch.randint(0, 4, (n,))
    tokens = torch.randint(0, 80, (n, 15))
    hint = torch.rand(n, 15) < 0.25
    tokens[hint] = (grade[:, None] * 5 + torch.randint(0, 5, (n, 15)))[hint]
    return tokens, grade


train_x, train_y = essays(1000)
test_x, test_y = essays(400)
model = EssayScorer()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    model.train()
    for idx in torch.randperm(1000).split(50):
        opt.zero_grad()
        loss = F.cross_entropy(model(train_x[idx]), train_y[idx])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(test_x).argmax(1) == test_y).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test acc {acc:.3f}")

with torch.no_grad():
    first, second = model(test_x).argmax(1), model(test_x).argmax(1)
print("graded identically twice:", (first == second).float().mean().item())
