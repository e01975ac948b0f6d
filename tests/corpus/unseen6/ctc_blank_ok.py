import torch
from torch import nn

torch.manual_seed(0)
K = 6
emb = torch.randn(K, 8)


def batch(n=32):
    y = torch.randint(0, K, (n, 4))
    frames = y.repeat_interleave(5, 1)
    return emb[frames] + 0.2 * torch.randn(n, 20, 8), y


net = nn.GRU(8, 48, batch_first=True, bidirectional=True)
head = nn.Linear(96, K + 1)
ctc = nn.CTCLoss(blank=K)
opt = torch.optim.Adam([*net.parameters(), *head.parameters()], 5e-3)
lens_x, lens_y = torch.full((32,), 20), torch.full((32,), 4)
for step in range(100):
    x, y = batch()
    logp = head(net(x)[0]).log_softmax(-1).transpose(0, 1)
    loss = ctc(logp, y, lens_x, lens_y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 25 == 0:
        print(step, loss.item())
