import torch


def stripes(n: int, seed: int):
    """12x12 images with stripes in one of four directions."""
    g = torch.Generator().manual_seed(seed)
    label = torch.randint(0, 4, (n,), generator=g)
    yy, xx = torch.meshgrid(torch.arange(12.0), torch.arange(12.0), indexing="ij")
    planes = torch.stack([xx, yy, xx + yy, xx - yy])
    phase = torch.rand(n, 1, 1, generator=g) * 6.28
    images = torch.sin(planes[label] * 1.6 + phase)
    return images.unsqueeze(1) + 0.1 * torch.randn(n, 1, 12, 12, generator=g), label
