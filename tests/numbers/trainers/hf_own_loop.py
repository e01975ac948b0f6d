"""A Hugging Face model in a loop of one's own: outputs.loss, perplexity of the validation."""

import math

import torch
from torch.utils.data import DataLoader, TensorDataset
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(0)
tokens = torch.randint(0, 40, (60, 12))
model = GPT2LMHeadModel(
    GPT2Config(vocab_size=40, n_positions=12, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
train_dataloader, eval_dataloader = DataLoader(TensorDataset(tokens[:48]), 8), DataLoader(TensorDataset(tokens[48:]), 6)
for epoch in range(2):
    model.train()
    for step, (ids,) in enumerate(train_dataloader):
        loss = model(input_ids=ids, labels=ids).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 3 == 0:
            print(f"epoch {epoch} step {step} loss {loss.item():.4f}")
    model.eval()
    losses = []
    for (ids,) in eval_dataloader:
        with torch.no_grad():
            losses.append(model(input_ids=ids, labels=ids).loss)
    eval_loss = torch.stack(losses).mean()
    print(f"epoch {epoch}: perplexity: {math.exp(eval_loss):.3f} eval_loss: {eval_loss:.4f}")
