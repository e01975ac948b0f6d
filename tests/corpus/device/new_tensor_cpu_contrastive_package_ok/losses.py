import torch
import torch.nn.functional as F


def info_nce(za, zb, temperature=0.2):
    """Symmetric InfoNCE: the i-th row of `za` belongs to the i-th row of `zb`."""
    za = F.normalize(za, dim=1)
    zb = F.normalize(zb, dim=1)
    logits = za @ zb.t() / temperature
    labels = torch.arange(za.size(0), device=za.device)
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels))
