"""A small VAE on scikit-learn's handwritten digits, tracked with Stepscope.

    stepscope run examples/digits_vae.py --lr 1e-3 --latent 8
    stepscope ui

It shows each kind of thing one can log. The training is an ordinary PyTorch loop; what belongs to Stepscope is one
`init`, a few `run.log` calls, and nothing else. Takes about five seconds on a laptop.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn import functional as F

import stepscope

RECORDED = 30
"""The step of which every operation is kept, for the pages Model and Step."""


@dataclass
class Config:
    lr: float = 3e-3
    decay: float = 0.1
    """What share of the learning rate is left at the end."""
    latent: int = 16
    beta: float = 0.25
    """The weight of the KL term."""
    optimizer: str = "adam"
    hidden: int = 128
    batch: int = 64
    epochs: int = 40
    seed: int = 0


class VAE(nn.Module):
    """Sixty-four pixels to a few numbers and back."""

    def __init__(self, latent: int, hidden: int) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 2 * latent))
        self.decoder = nn.Sequential(nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, 64))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        return self.decoder(z), mean, log_variance


def losses(model: VAE, x: Tensor) -> tuple[Tensor, Tensor]:
    """Reconstruction and KL divergence, in nats per image."""
    logits, mean, log_variance = model(x)
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
    kl = 0.5 * (mean**2 + log_variance.exp() - 1 - log_variance).sum() / len(x)
    return reconstruction, kl


def digits() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Training images, validation images, and the labels of both."""
    data = load_digits()
    x = torch.tensor(data.data / 16, dtype=torch.float32)
    y = torch.tensor(data.target)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = x[order], y[order]
    return x[:1437], x[1437:], y[:1437], y[1437:]


def make_optimizer(config: Config, model: nn.Module) -> torch.optim.Optimizer:
    if config.optimizer == "sgd":
        return torch.optim.SGD(model.parameters(), lr=config.lr, momentum=0.9)
    return torch.optim.Adam(model.parameters(), lr=config.lr)


def training_step(model: VAE, optimizer: torch.optim.Optimizer, x: Tensor, beta: float) -> dict[str, Tensor]:
    reconstruction, kl = losses(model, x)
    loss = reconstruction + beta * kl
    optimizer.zero_grad()
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).norm()
    optimizer.step()
    return {"loss": loss, "reconstruction": reconstruction, "kl": kl, "grad_norm": norm}


def train(config: Config) -> float:
    """Train one VAE and record it; the last validation loss."""
    torch.manual_seed(config.seed)
    train_x, val_x, train_y, val_y = digits()
    model = VAE(config.latent, config.hidden)
    optimizer = make_optimizer(config, model)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.decay ** (1 / config.epochs))
    val_loss = torch.tensor(float("nan"))

    with stepscope.init(project="digits-vae", config=asdict(config), system_interval_s=0.2) as run:
        run.define("val/loss", summary="min", goal="min")
        step = 0
        for epoch in range(config.epochs):
            for index in torch.randperm(len(train_x)).split(config.batch):
                if step == RECORDED:
                    with stepscope.record(model, stats=True) as recording:
                        values = training_step(model, optimizer, train_x[index], config.beta)
                    run.log({"recording": recording}, step)
                else:
                    values = training_step(model, optimizer, train_x[index], config.beta)
                run.log({"train": values}, step)
                step += 1
            with torch.no_grad():
                reconstruction, kl = losses(model, val_x)
                val_loss = reconstruction + config.beta * kl
            run.log({"val": {"loss": val_loss, "reconstruction": reconstruction, "kl": kl}, "epoch": epoch}, step)
            run.log({"lr": schedule.get_last_lr()[0]}, step)
            print(f"epoch {epoch + 1:3} of {config.epochs}: validation loss {val_loss:.2f} nats", flush=True)
            schedule.step()
            if epoch % 4 == 0 or epoch == config.epochs - 1:
                log_pictures(run, model, val_x, step)
        if val_loss.isfinite():
            log_report(run, model, train_x, val_x, train_y, val_y, step)
        else:
            run.alert("the loss is not finite", f"val/loss ended as {val_loss.item()}", level="error")
    return float(val_loss)


@torch.no_grad()
def log_pictures(run: stepscope.Run, model: VAE, val_x: Tensor, step: int) -> None:
    """What the model sees and dreams, and how its weights and gradients are spread."""
    shown = val_x[:12]
    rebuilt = torch.sigmoid(model(shown)[0])
    pairs = torch.cat([shown, rebuilt]).view(-1, 1, 8, 8)
    latent = model.decoder[0].in_features
    # Fixed noise of its own generator: pictures of different steps compare, and the training's randomness is untouched.
    noise = torch.randn(64, latent, generator=torch.Generator().manual_seed(1))
    samples = torch.sigmoid(model.decoder(noise)).view(-1, 1, 8, 8)
    run.log(
        {
            "reconstructions": stepscope.Image(pairs, columns=12, caption="digits above, reconstructions below"),
            "samples": stepscope.Image(samples, columns=8),
            "latent": stepscope.Histogram(model.encoder(val_x)[:, :latent]),
        },
        step,
    )
    for name, parameter in model.named_parameters():
        if name.endswith("weight"):
            run.log({f"weights/{name}": stepscope.Histogram(parameter)}, step)
            run.log({f"gradients/{name}": stepscope.Histogram(parameter.grad)}, step)


def log_report(
    run: stepscope.Run, model: VAE, train_x: Tensor, val_x: Tensor, train_y: Tensor, val_y: Tensor, step: int
) -> None:
    """What was learnt: how well a linear probe reads the digit from the latent code, and where the model fails."""
    latent = model.decoder[0].in_features
    with torch.no_grad():
        train_z, val_z = (model.encoder(x)[:, :latent] for x in (train_x, val_x))
        logits, _, _ = model(val_x)
        errors = F.binary_cross_entropy_with_logits(logits, val_x, reduction="none").sum(1)
    scores = probe(train_z, train_y, val_z)
    accuracy = (scores.argmax(1) == val_y).float().mean()
    worst = errors.argsort(descending=True)[:20]
    names = [str(digit) for digit in range(10)]
    run.log(
        {
            "probe/accuracy": accuracy,
            "probe/precision-recall": stepscope.PRCurve(val_y, scores, labels=names),
            "probe/confusion": stepscope.ConfusionMatrix(val_y, scores, labels=names),
            "worst": stepscope.Image(val_x[worst].view(-1, 1, 8, 8), columns=10, caption="hardest to rebuild"),
            "hardest digits": stepscope.Table(
                {
                    "rank": range(1, 21),
                    "digit": val_y[worst],
                    "probe says": scores.argmax(1)[worst],
                    "nats": errors[worst],
                }
            ),
            "codes": stepscope.Embedding(val_z, labels=val_y, images=val_x.view(-1, 1, 8, 8)),
            "walk": stepscope.Video(walk(model, val_z), fps=8, caption="from one digit to another"),
            "about": stepscope.Markdown(
                f"A VAE with **{latent} latent dimensions**; a linear probe reads {accuracy:.1%} of the digits.\n\n"
                "- `samples`: decoded from the same noise at every step\n"
                "- `worst`: the validation digits it rebuilds worst"
            ),
        },
        step,
    )
    log_scatter(run, val_z, val_y, step)
    with tempfile.TemporaryDirectory() as folder:
        torch.save(model.state_dict(), Path(folder) / "vae.pt")
        run.log_artifact(Path(folder) / "vae.pt", name="vae", type="model", metadata={"accuracy": float(accuracy)})


def probe(train_z: Tensor, train_y: Tensor, val_z: Tensor) -> Tensor:
    """Class scores of a linear classifier trained on the codes."""
    with torch.random.fork_rng():
        linear = nn.Linear(train_z.shape[1], 10)
    optimizer = torch.optim.Adam(linear.parameters(), lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        F.cross_entropy(linear(train_z), train_y).backward()
        optimizer.step()
    return linear(val_z).detach().softmax(1)


@torch.no_grad()
def walk(model: VAE, codes: Tensor) -> Tensor:
    """Frames on straight lines from digit to digit, eight pixels blown up to sixty-four."""
    stops = torch.cat([codes[:5], codes[:1]])
    shares = torch.linspace(0, 1, 9)[:-1, None]
    path = torch.cat([a + shares * (b - a) for a, b in itertools.pairwise(stops)])
    frames = torch.sigmoid(model.decoder(path)).view(-1, 1, 8, 8)
    return F.interpolate(frames, scale_factor=8, mode="nearest")


def log_scatter(run: stepscope.Run, codes: Tensor, labels: Tensor, step: int) -> None:
    """The two strongest directions of the latent space, as a matplotlib figure."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    centred = codes - codes.mean(0)
    points = centred @ torch.linalg.svd(centred, full_matrices=False).Vh[:2].T
    figure = Figure(figsize=(5, 4), layout="constrained")
    axes = figure.subplots()
    dots = axes.scatter(*points.T, c=labels, cmap="tab10", s=10)
    figure.colorbar(dots, label="digit")
    axes.set(title="latent codes of the validation digits", xlabel="first component", ylabel="second component")
    run.log({"latent space": figure}, step)


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a VAE on digits and record the run.")
    for name, value in asdict(Config()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help=f"default: {value}")
    loss = train(Config(**vars(parser.parse_args())))
    print(f"validation loss {loss:.2f} nats; see it with: stepscope ui")


if __name__ == "__main__":
    main()
