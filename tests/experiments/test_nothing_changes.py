"""Experiments change no bit of the training, draw no random number of it, print nothing and leave nothing behind."""

from __future__ import annotations

import torch

STATEFUL = """
    import random
    import numpy as np
    random.seed(0); np.random.seed(0)

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.norm = nn.Conv1d(1, 4, 3), nn.BatchNorm1d(4)
            self.rnn, self.head = nn.GRU(4, 8, batch_first=True), nn.Linear(8, 3)
            self.calls, self.memory = 0, None
            self.register_buffer("seen", torch.zeros(()))

        def forward(self, x):
            self.calls += 1
            self.seen += 1
            print("forward", self.calls)
            h = F.dropout(self.norm(self.conv(x[:, None])), 0.3, self.training).transpose(1, 2)
            out, state = self.rnn(h, self.memory)
            self.memory = state.detach()
            return self.head(out[:, -1]) + 0.01 * torch.randn(3)

    class Data(Dataset):
        def __init__(self): self.x, self.reads = torch.randn(40, 6), 0
        def __len__(self): return 40
        def __getitem__(self, i):
            self.reads += 1
            self.x[i] *= 1.01
            return self.x[i] + random.random() + np.random.rand(), int(torch.randint(0, 3, ()))

    data, model = Data(), Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(2):
        for x, y in DataLoader(data, batch_size=10, shuffle=True):
            loss = F.cross_entropy(model(x), y) + model.head.weight.square().mean()
            optimizer.zero_grad(); loss.backward(); optimizer.step()
            losses.append(loss.item())
    last = (random.random(), np.random.rand(), torch.rand(3))
"""


def test_the_training_is_the_same_to_the_last_bit(probed, capsys) -> None:
    plain = probed(STATEFUL, probe=False).names
    said = capsys.readouterr()
    tried = probed(STATEFUL)
    assert capsys.readouterr() == said, "a probe has printed something"
    names = tried.names
    assert sum(one.state != "not checked" for one in tried.values()) >= 4, tried
    assert names["losses"] == plain["losses"]
    for key, value in plain["model"].state_dict().items():
        assert torch.equal(names["model"].state_dict()[key], value), key
    for mine, theirs in zip(names["optimizer"].state.values(), plain["optimizer"].state.values(), strict=True):
        assert all(torch.equal(torch.as_tensor(mine[key]), torch.as_tensor(theirs[key])) for key in mine)
    assert all(torch.equal(a.grad, b.grad) for a, b in zip(
        names["model"].parameters(), plain["model"].parameters(), strict=True))  # fmt: skip
    assert (names["model"].calls, names["data"].reads) == (plain["model"].calls, plain["data"].reads)
    assert torch.equal(names["data"].x, plain["data"].x)
    assert names["last"][:2] == plain["last"][:2]
    assert torch.equal(names["last"][2], plain["last"][2])
