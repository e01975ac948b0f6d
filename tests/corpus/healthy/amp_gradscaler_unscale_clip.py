import torch
import torch.nn as nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1)).to(device)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scaler = torch.amp.GradScaler(device, init_scale=2.0 ** 10, growth_interval=40)
x = torch.randn(400, 8, device=device)
y = (x[:, :1] * 0.5 + x[:, 1:2].tanh() - x[:, 2:3] * x[:, 3:4] * 0.3)
accum = 2
for epoch in range(6):
    running = 0.0
    for i, idx in enumerate(torch.randperm(400, device=device).split(40)):
        with torch.autocast(device, dtype=torch.bfloat16):
            out = model(x[idx])
        loss = nn.functional.mse_loss(out.float(), y[idx])
        scaler.scale(loss / accum).backward()
        running += loss.item()
        if (i + 1) % accum == 0:
            scaler.unscale_(opt)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(opt)
            scaler.update()
            opt.zero_grad(set_to_none=True)
    print(f"epoch {epoch} mse {running / 10:.5f} scale {scaler.get_scale():.0f}")
