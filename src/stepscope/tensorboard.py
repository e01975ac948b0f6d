"""`from stepscope.tensorboard import SummaryWriter`: in the place of `torch.utils.tensorboard`, with the same calls."""

from stepscope.integrations.tensorboard import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
