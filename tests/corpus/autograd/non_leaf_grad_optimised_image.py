import torch
import torch.nn as nn
import torch.nn.functional as F


def make_filters():
    """A fixed bank of edge filters."""
    k = torch.tensor([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])
    bank = torch.stack([k, k.t(), torch.eye(3) - 1 / 3, torch.full((3, 3), 1 / 9)])
    conv = nn.Conv2d(1, 4, 3, padding=1, bias=False)
    with torch.no_grad():
        conv.weight.copy_(bank.unsqueeze(1))
    return conv.requires_grad_(False)


def gram(features):
    b, c, h, w = features.shape
    flat = features.view(c, h * w)
    return flat @ flat.t() / (c * h * w)


def main():
    torch.manual_seed(37)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    filters = make_filters().to(device)
    grid = torch.arange(24, device=device)
    style = ((grid[:, None] // 3 + grid[None, :] // 3) % 2).float().view(1, 1, 24, 24)
    wanted = gram(filters(style))

    image = torch.rand(1, 1, 24, 24, device=device, requires_grad=True) * 0.5
    optimizer = torch.optim.Adam([image], lr=0.03)
    for step in range(60):
        optimizer.zero_grad()
        loss = 100 * F.mse_loss(gram(filters(image)), wanted)
        loss.backward()
        optimizer.step()
        if step % 15 == 14:
            print(f"step {step + 1}: style loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
