"""Lightning: losses and accuracy by self.log, printed from callback_metrics after each validation."""

import lightning as L
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])


class Classifier(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))

    def training_step(self, batch, batch_idx):
        loss = F.cross_entropy(self.net(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, batch_idx):
        out = self.net(batch[0])
        self.log("val_loss", F.cross_entropy(out, batch[1]))
        self.log("val_acc", (out.argmax(1) == batch[1]).float().mean())

    def on_validation_epoch_end(self):
        shown = self.trainer.callback_metrics
        print(f"epoch {self.current_epoch}: val_loss {shown['val_loss']:.4f} val_acc {shown['val_acc']:.4f}")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.02)


if __name__ == "__main__":
    flags = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    trainer = L.Trainer(max_epochs=3, enable_checkpointing=False, num_sanity_val_steps=0, **flags)
    trainer.fit(Classifier(), DataLoader(train_set, 32, shuffle=True), DataLoader(test_set, 32))
