import os
import tempfile
import torch
import torch.nn as nn

torch.manual_seed(14)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 20), nn.BatchNorm1d(20), nn.ReLU(), nn.Dropout(0.2), nn.Linear(20, 1))

    def forward(self, x):
        return torch.sigmoid(self.net(x)).squeeze(1)


trained = Scorer()
opt = torch.optim.Adam(trained.parameters(), lr=5e-3)
x = torch.randn(400, 7)
y = (x.sum(1) > 0).float()
for _ in range(60):
    opt.zero_grad()
    nn.functional.binary_cross_entropy(trained(x), y).backward()
    opt.step()
path = os.path.join(tempfile.mkdtemp(), "scorer.pt")
torch.save({"model": trained.state_dict(), "version": 2}, path)

checkpoint = torch.load(path, weights_only=True)
service = Scorer()
service.load_state_dict(checkpoint["model"])
service.eval()


@torch.inference_mode()
def score(rows):
    return service(torch.as_tensor(rows, dtype=torch.float32)).tolist()


requests = torch.randn(5, 7)
print("scores", [round(s, 3) for s in score(requests)])
print("one by one", [round(score(r.unsqueeze(0))[0], 3) for r in requests])
