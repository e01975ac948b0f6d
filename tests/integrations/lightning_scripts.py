"""Small Lightning scripts: sound ones under the flags people use, and ones with a bug."""

from __future__ import annotations

HEAD = """
import logging
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


def loaders(n=480, batch=32):
    g = torch.Generator().manual_seed(0)
    x = torch.randn(n, 20, generator=g)
    y = (x @ torch.randn(20, 4, generator=g) + 0.3 * torch.randn(n, 4, generator=g)).argmax(1)
    k = n * 4 // 5
    return DataLoader(TensorDataset(x[:k], y[:k]), batch, shuffle=True), DataLoader(TensorDataset(x[k:], y[k:]), batch)


def trainer(**given):
    usual = dict(max_epochs=2, accelerator="cpu", logger=False, enable_checkpointing=False, log_every_n_steps=1)
    return L.Trainer(**{**usual, "enable_progress_bar": False, "enable_model_summary": False, **given})


def told(t, m):
    total = sum(p.detach().double().sum() for p in m.parameters())
    print("TOLD", t.global_step, repr(float(total)), {k: float(v) for k, v in t.callback_metrics.items()})


class Base(L.LightningModule):
    def __init__(self, lr=1e-2):
        super().__init__()
        self.save_hyperparameters()
        self.body = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.BatchNorm1d(32), nn.Dropout(0.2))
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.body(x))

    def training_step(self, batch, i):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, i):
        x, y = batch
        out = self(x)
        self.log("val_loss", F.cross_entropy(out, y))
        self.log("val_acc", (out.argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), self.hparams.lr)


L.seed_everything(0)
tr, va = loaders()
"""

SOUND = {
    "plain": "m = Base(); t = trainer(); t.fit(m, tr, va); told(t, m); t.validate(m, va, verbose=False)",
    "accumulate": """
class Net(Base):
    def training_step(self, batch, i):
        loss = super().training_step(batch, i)
        losses.append(float(loss.detach()))
        return loss


losses = []
m = Net(); t = trainer(accumulate_grad_batches=4, gradient_clip_val=0.5); t.fit(m, tr, va); told(t, m)
print("LOSSES", losses)
""",
    "flags": """
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
best = [EarlyStopping("val_loss"), ModelCheckpoint("best", monitor="val_acc", mode="max")]
m = Base(); t = trainer(limit_train_batches=0.5, val_check_interval=0.5, precision="bf16-mixed", profiler="simple",
                        callbacks=best, enable_checkpointing=True); t.fit(m, tr, va); told(t, m)
""",
    "overfit": "m = Base(); t = trainer(overfit_batches=2, max_epochs=6); t.fit(m, tr); told(t, m)",
    "fast_dev_run": "m = Base(); t = trainer(fast_dev_run=True); t.fit(m, tr, va); told(t, m)",
    "tuner": """
from lightning.pytorch.tuner import Tuner
m = Base(); t = trainer()
Tuner(t).lr_find(m, tr, va, num_training=25)
t.fit(m, tr, va); told(t, m)
""",
    "resume": """
m = Base(); t = trainer(default_root_dir="."); t.fit(m, tr, va); t.save_checkpoint("a.ckpt")
m = Base(); t = trainer(max_epochs=4); t.fit(m, tr, va, ckpt_path="a.ckpt"); told(t, m)
""",
    "gan": """
class GAN(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.g = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 20))
        self.d = nn.Sequential(nn.Linear(20, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def training_step(self, batch, i):
        real, _ = batch
        og, od = self.optimizers()
        ones = torch.ones(len(real), 1, device=self.device)
        z = torch.randn(len(real), 8, device=self.device)
        self.toggle_optimizer(og)
        g_loss = F.binary_cross_entropy_with_logits(self.d(self.g(z)), ones)
        og.zero_grad(); self.manual_backward(g_loss); og.step()
        self.untoggle_optimizer(og)
        self.toggle_optimizer(od)
        fake = F.binary_cross_entropy_with_logits(self.d(self.g(z).detach()), 0 * ones)
        d_loss = (F.binary_cross_entropy_with_logits(self.d(real), ones) + fake) / 2
        od.zero_grad(); self.manual_backward(d_loss); od.step()
        self.untoggle_optimizer(od)
        self.log_dict({"g_loss": g_loss, "d_loss": d_loss})

    def configure_optimizers(self):
        return [torch.optim.Adam(part.parameters(), 2e-4, betas=(0.5, 0.999)) for part in (self.g, self.d)]


m = GAN(); t = trainer(); t.fit(m, tr); told(t, m)
""",
}

BUGS = {
    "loss.softmax-before-ce": (
        "loss = F.cross_entropy(torch.softmax(self(x), 1), y)",
        """
class Net(Base):
    def training_step(self, batch, i):
        x, y = batch
        loss = F.cross_entropy(torch.softmax(self(x), 1), y)
        return loss
""",
    ),
    "opt.missing-params": (
        "return torch.optim.Adam(self.head.parameters(), 1e-3)",
        """
class Net(Base):
    def configure_optimizers(self):
        return torch.optim.Adam(self.head.parameters(), 1e-3)
""",
    ),
    "grad.detached-needed": (
        "return self.head(self.body(x).detach())",
        """
class Net(Base):
    def forward(self, x):
        return self.head(self.body(x).detach())
""",
    ),
    "opt.no-zero-grad": (
        "self.manual_backward(loss)",
        """
class Net(Base):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, i):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.manual_backward(loss)
        self.optimizers().step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.05)
""",
    ),
    "mode.no-eval": (
        "self.train()",
        """
class Net(Base):
    def on_validation_epoch_start(self):
        self.train()
""",
    ),
    "opt.scheduler-per-micro": (
        "schedule = torch.optim.lr_scheduler.StepLR(opt, 2, 0.1)",
        """
class Net(Base):
    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), 1e-3)
        schedule = torch.optim.lr_scheduler.StepLR(opt, 2, 0.1)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}
""",
    ),
    "num.log-zero": (
        "return torch.log(out - out.min()).square().mean()",
        """
class Net(Base):
    def training_step(self, batch, i):
        out = self(batch[0])
        return torch.log(out - out.min()).square().mean()
""",
    ),
    "opt.no-backward": (
        'self.log("train_loss", F.cross_entropy(self(x), y))',
        """
class Net(Base):
    def training_step(self, batch, i):
        x, y = batch
        self.log("train_loss", F.cross_entropy(self(x), y))
""",
    ),
    "opt.stepped-twice": (
        "opt.step()",
        """
class Net(Base):
    def training_step(self, batch, i):
        loss = super().training_step(batch, i)
        opt = self.optimizers()
        loss.backward(retain_graph=True)
        opt.step()
        return loss
""",
    ),
    "loss.not-a-tensor": (
        'return {"loss": loss.item()}',
        """
class Net(Base):
    def training_step(self, batch, i):
        loss = super().training_step(batch, i)
        return {"loss": loss.item()}
""",
    ),
    "stop.early-stop-wrong": (
        'return [EarlyStopping("val_acc", patience=5), EarlyStopping("val_loss")]',
        """
from lightning.pytorch.callbacks import EarlyStopping


class Net(Base):
    def configure_callbacks(self):
        return [EarlyStopping("val_acc", patience=5), EarlyStopping("val_loss")]
""",
    ),
    "shape.linear-in": (
        "self.head = nn.Linear(64, 4)",
        """
class Net(Base):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(64, 4)
""",
    ),
}


def sound(name: str) -> str:
    return HEAD + SOUND[name]


def buggy(rule: str) -> str:
    return f"{HEAD}{BUGS[rule][1]}\n\nm = Net(); t = trainer(max_epochs=3); t.fit(m, tr, va)\n"
