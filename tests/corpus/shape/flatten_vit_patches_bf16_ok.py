import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class PatchEmbed(nn.Module):
    def __init__(self, patch=4, channels=3, dim=32):
        super().__init__()
        self.patch = patch
        self.proj = nn.Linear(channels * patch * patch, dim)

    def forward(self, img):
        p = self.patch
        b, c, h, w = img.shape
        x = img.reshape(b, c, h // p, p, w // p, p)
        x = x.permute(0, 2, 4, 1, 3, 5).flatten(3).flatten(1, 2)     # b, patches, c*p*p
        return self.proj(x)


class ViT(nn.Module):
    def __init__(self, dim=32, n_patches=16, classes=4):
        super().__init__()
        self.patches = PatchEmbed(dim=dim)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, n_patches + 1, dim) * 0.02)
        self.block = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, classes)

    def forward(self, img):
        x = self.patches(img)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos
        return self.head(self.norm(self.block(x))[:, 0])


def quadrants(n):
    """Where is the bright square?"""
    y = torch.randint(0, 4, (n,))
    img = 0.3 * torch.randn(n, 3, 16, 16)
    for i, q in enumerate(y.tolist()):
        r, c = 8 * (q // 2) + 2, 8 * (q % 2) + 2
        img[i, :, r:r + 4, c:c + 4] += 1
    return TensorDataset(img, y)


def main():
    torch.manual_seed(15)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = DataLoader(quadrants(256), batch_size=32, shuffle=True)
    model = ViT().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for epoch in range(5):
        total = 0.0
        for img, y in loader:
            img, y = img.to(device), y.to(device)
            with torch.autocast(device_type=device, dtype=torch.bfloat16):
                logits = model(img)
            loss = F.cross_entropy(logits.float(), y)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.5f}")


if __name__ == "__main__":
    main()
