import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
PAD_TOKEN, PAD_TAG = 0, 0            # tag 0 is <pad>, 1 = O, 2 = NAME, 3 = PLACE
N_TOKENS, N_TAGS, MAX_LEN = 40, 4, 14


def sentence():
    n = int(torch.randint(4, MAX_LEN + 1, (1,)))
    tokens = torch.randint(1, N_TOKENS, (n,))
    tags = torch.where(tokens > 34, 3, torch.where(tokens > 28, 2, 1))
    return tokens, tags


def batchify(samples):
    x = torch.full((len(samples), MAX_LEN), PAD_TOKEN)
    y = torch.full((len(samples), MAX_LEN), PAD_TAG)
    for row, (tokens, tags) in enumerate(samples):
        x[row, :len(tokens)] = tokens
        y[row, :len(tags)] = tags
    return x.to(device), y.to(device)


class Tagger(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.tok = nn.Embedding(N_TOKENS, d, padding_idx=PAD_TOKEN)
        self.pos = nn.Embedding(MAX_LEN, d)
        layer = nn.TransformerEncoderLayer(d, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.cls = nn.Linear(d, N_TAGS)

    def forward(self, x):
        h = self.tok(x) + self.pos(torch.arange(x.size(1), device=x.device))
        h = self.encoder(h, src_key_padding_mask=x.eq(PAD_TOKEN))
        return self.cls(h)


data = [sentence() for _ in range(240)]
net = Tagger().to(device)
loss_fn = nn.CrossEntropyLoss(ignore_index=PAD_TAG)
optim = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(5):
    order = torch.randperm(len(data)).tolist()
    for k in range(0, len(order), 24):
        x, y = batchify([data[i] for i in order[k:k + 24]])
        loss = loss_fn(net(x).flatten(0, 1), y.flatten())
        optim.zero_grad()
        loss.backward()
        optim.step()
    print(f"epoch {epoch + 1} loss {loss.item():.5f}")
