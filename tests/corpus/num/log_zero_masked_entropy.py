import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
N_PIECES, BOARD = 6, 10


def positions(n):
    board = torch.randn(n, BOARD)
    legal = torch.rand(n, N_PIECES) > 0.4
    legal[torch.arange(n), torch.randint(0, N_PIECES, (n,))] = True
    score = board[:, :N_PIECES] + 0.5 * board[:, 4:]
    best = score.masked_fill(~legal, -1e9).argmax(dim=1)
    return board, legal, best


class MovePicker(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(BOARD, 40), nn.ReLU(), nn.Linear(40, N_PIECES))

    def forward(self, board, legal):
        return self.net(board).masked_fill(~legal, -1e9)


model = MovePicker()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
boards, legal, best = positions(400)

for epoch in range(8):
    for idx in torch.randperm(400).split(50):
        logits = model(boards[idx], legal[idx])
        probs = F.softmax(logits, dim=1)
        entropy = -(probs * torch.log(probs)).sum(dim=1).mean()
        loss = F.cross_entropy(logits, best[idx]) - 0.01 * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.5f} entropy {entropy.item():.5f}")
