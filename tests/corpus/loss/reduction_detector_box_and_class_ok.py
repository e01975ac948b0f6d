"""A toy detector: where is the bright blob, and how large is its class?"""
import torch
from torch import nn


class BlobImages(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.centre = torch.rand(n, 2, generator=g) * 10 + 3
        self.kind = torch.randint(0, 3, (n,), generator=g)
        grid = torch.arange(16.0)
        dy = (grid.view(1, 16, 1) - self.centre[:, 0].view(-1, 1, 1)) ** 2
        dx = (grid.view(1, 1, 16) - self.centre[:, 1].view(-1, 1, 1)) ** 2
        width = (self.kind + 1).view(-1, 1, 1).float()
        self.image = torch.exp(-(dx + dy) / (2 * width ** 2)) + 0.05 * torch.randn(n, 16, 16, generator=g)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.image[i].unsqueeze(0), self.centre[i] / 16, self.kind[i]


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(),
            nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
            nn.Flatten(),
            nn.Linear(256, 48), nn.ReLU(),
        )
        self.box = nn.Linear(48, 2)
        self.cls = nn.Linear(48, 3)

    def forward(self, x):
        h = self.trunk(x)
        return self.box(h), self.cls(h)


def main():
    torch.manual_seed(2)
    loader = torch.utils.data.DataLoader(BlobImages(256, 0), batch_size=64, shuffle=True)
    val = BlobImages(64, 1)
    net = Detector()
    box_loss = nn.SmoothL1Loss(beta=0.05)
    cls_loss = nn.CrossEntropyLoss()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    for epoch in range(12):
        for image, centre, kind in loader:
            box, logits = net(image)
            lb, lc = box_loss(box, centre), cls_loss(logits, kind)
            loss = lb + lc
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1} total {loss.item():.4f} box {lb.item():.5f} class {lc.item():.4f}")
    net.eval()
    with torch.no_grad():
        box, logits = net(val.image.unsqueeze(1))
        off = (box - val.centre / 16).abs().mean().item()
        acc = (logits.argmax(1) == val.kind).float().mean().item()
    print(f"val: mean offset {off:.4f} of the image, class accuracy {acc:.4f}")


main()
