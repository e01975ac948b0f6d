"""A small transformer with masks and packed sequences, training and evaluation with fast paths."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

torch.manual_seed(0)
embed = nn.Embedding(19, 16, padding_idx=0)
encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2, enable_nested_tensor=False)
lstm, head = nn.LSTM(16, 8, batch_first=True, bidirectional=True), nn.Linear(16, 19)
parts = nn.ModuleList([embed, encoder, lstm, head])
optimizer = torch.optim.AdamW(parts.parameters(), lr=1e-3)
for step in range(4):
    rows = [torch.randint(1, 19, (n,)) for n in (5, 3, 4)]
    x = pad_sequence(rows, batch_first=True)
    h = encoder(embed(x), src_key_padding_mask=x == 0)
    packed = pack_padded_sequence(h, [5, 3, 4], batch_first=True, enforce_sorted=False)
    out, _ = pad_packed_sequence(lstm(packed)[0], batch_first=True)
    loss = F.cross_entropy(head(out).transpose(1, 2), x, ignore_index=0, label_smoothing=0.1)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    print(step, loss.item())
parts.eval()
with torch.inference_mode():
    print(encoder(embed(x), src_key_padding_mask=x == 0).sum().item(), torch.rand(1).item())
