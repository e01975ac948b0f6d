import torch
import torch.nn as nn


class DiceLoss(nn.Module):
    def forward(self, logits, mask, eps=1.0):
        prob = torch.sigmoid(logits)
        inter = (prob * mask).sum(dim=(1, 2, 3))
        union = prob.sum(dim=(1, 2, 3)) + mask.sum(dim=(1, 2, 3))
        return 1 - ((2 * inter + eps) / (union + eps)).mean()


class SegTrainer:
    def __init__(self, lr=1e-2):
        self.model = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
            nn.Conv2d(8, 1, 1),
        )
        self.criterion = DiceLoss()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def train_step(self, image, mask):
        self.optimizer.zero_grad()
        loss = self.criterion(self.model(image), mask)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def squares(n, gen):
    mask = torch.zeros(n, 1, 14, 14)
    for m in mask:
        r, c = torch.randint(1, 8, (2,), generator=gen).tolist()
        m[:, r:r + 5, c:c + 5] = 1
    image = mask + 0.5 * torch.randn(mask.shape, generator=gen)
    return image, mask


if __name__ == "__main__":
    torch.manual_seed(48)
    gen = torch.Generator().manual_seed(48)
    trainer = SegTrainer()
    for step in range(1, 61):
        loss = trainer.train_step(*squares(16, gen))
        if step % 12 == 0:
            print(f"step {step:3d} dice loss {loss:.6f}")
