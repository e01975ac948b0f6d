import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def mlp(width):
    return nn.Sequential(nn.Linear(10, width), nn.ReLU(), nn.Linear(width, 5))


@torch.no_grad()
def cache_teacher(teacher, x, device):
    """Run the teacher once over everything and keep its logits in host memory."""
    teacher.eval()
    return torch.cat([teacher(chunk.to(device)).cpu() for chunk in x.split(128)])


def fit_teacher(x, y, device):
    teacher = mlp(64).to(device)
    opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
    for _ in range(5):
        for idx in torch.randperm(len(x)).split(60):
            xb, yb = x[idx].to(device), y[idx].to(device)
            loss = F.cross_entropy(teacher(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
    return teacher


def main():
    torch.manual_seed(34)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    temperature = torch.tensor(2.0)
    x = torch.randn(600, 10)
    y = (x @ torch.randn(10, 5)).argmax(1)
    soft = cache_teacher(fit_teacher(x, y, device), x, device)
    loader = DataLoader(TensorDataset(x, soft, y), batch_size=60, shuffle=True)

    student = mlp(16).to(device)
    opt = torch.optim.AdamW(student.parameters(), lr=8e-3)
    for epoch in range(6):
        total, confusion = 0.0, torch.zeros(5, 5, dtype=torch.long)
        for xb, sb, yb in loader:
            xb = xb.to(device)
            with torch.autocast(device_type=device, dtype=torch.bfloat16):
                out = student(xb)
            log_p = F.log_softmax(out.float() / temperature, dim=1)
            loss = F.kl_div(log_p, F.softmax(sb / temperature, dim=1), reduction="batchmean")
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            confusion.index_put_((yb, out.argmax(1).cpu()), torch.tensor(1), accumulate=True)
        agree = confusion.diag().sum().item() / len(x)
        print(f"epoch {epoch} kd {total / len(loader):.6f} train agreement {agree:.4f}")


if __name__ == "__main__":
    main()
