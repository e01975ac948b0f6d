"""Lightning: trainer.validate and trainer.test after fit, what they return printed."""

import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = x[:, :1] * 2 + x[:, 1:2]


class Regressor(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(12, 1)

    def training_step(self, batch, batch_idx):
        return F.mse_loss(self.net(batch[0]), batch[1])

    def validation_step(self, batch, batch_idx):
        self.log("val_mse", F.mse_loss(self.net(batch[0]), batch[1]))

    def test_step(self, batch, batch_idx):
        out = self.net(batch[0])
        self.log_dict({"test_mse": F.mse_loss(out, batch[1]), "test_mae": F.l1_loss(out, batch[1])})

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.05)


if __name__ == "__main__":
    flags = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    trainer = L.Trainer(max_epochs=2, enable_checkpointing=False, num_sanity_val_steps=0, **flags)
    model = Regressor()
    trainer.fit(model, DataLoader(TensorDataset(x[:200], y[:200]), 25))
    validated = trainer.validate(model, DataLoader(TensorDataset(x[200:260], y[200:260]), 25), verbose=False)
    tested = trainer.test(model, DataLoader(TensorDataset(x[260:], y[260:]), 25), verbose=False)
    print(f"val mse: {validated[0]['val_mse']:.5f}")
    print(f"test mse: {tested[0]['test_mse']:.5f}, test mae: {tested[0]['test_mae']:.5f}")
