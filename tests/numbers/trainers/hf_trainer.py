"""Hugging Face Trainer: a loss in the model, compute_metrics, evaluation each epoch, its dictionaries printed."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()


class Rows(Dataset):
    def __init__(self, low, high):
        self.low, self.high = low, high

    def __len__(self):
        return self.high - self.low

    def __getitem__(self, i):
        return {"x": x[self.low + i], "labels": y[self.low + i]}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(12, 3)

    def forward(self, x, labels):
        logits = self.net(x)
        return {"loss": F.cross_entropy(logits, labels), "logits": logits}


def compute_metrics(predicted):
    return {"accuracy": float((np.argmax(predicted.predictions, 1) == predicted.label_ids).mean())}


if __name__ == "__main__":
    arguments = TrainingArguments(
        "out", num_train_epochs=3, per_device_train_batch_size=25, per_device_eval_batch_size=30, logging_steps=5,
        eval_strategy="epoch", save_strategy="no", report_to="none", use_cpu=True, learning_rate=0.05,
        disable_tqdm=True,
    )  # fmt: skip
    trainer = Trainer(Net(), arguments, train_dataset=Rows(0, 250), eval_dataset=Rows(250, 330),
                      compute_metrics=compute_metrics)  # fmt: skip
    trainer.train()
    result = trainer.evaluate()
    print(f"final eval_loss {result['eval_loss']:.4f} eval_accuracy {result['eval_accuracy']:.4f}")
