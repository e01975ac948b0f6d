"""FLOPs and MACs against numbers worked out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from stepscope.record.flops import FlopsObserver, known_ops
from stepscope.record.recorder import Recorder
from stepscope.records.step import Op, StepRecord


def recorded(step: Callable[[], Any], model: Any = None) -> StepRecord:
    recorder = Recorder(model, observers=[FlopsObserver()])
    with recorder:
        step()
    assert recorder.record is not None
    return recorder.record


def the(record: StepRecord, name: str) -> Op:
    return next(op for op in record.ops if op.name == name)


def macs_of(step: Callable[[], Any]) -> int:
    return sum(op.cost.macs or 0 for op in recorded(step).ops if op.phase != "backward")


def work_of(step: Callable[[], Any]) -> tuple[int | None, int | None]:
    cost = recorded(step).ops[-1].cost
    return cost.flops, cost.macs


def test_a_convnet_by_hand() -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10)
    )
    x = torch.randn(2, 3, 8, 8)
    ops = {op.name: (op.cost.flops, op.cost.macs) for op in recorded(lambda: model(x)).ops}
    convolution = 2 * 8 * 8 * 8 * (3 * 3 * 3)  # outputs, each over 3 channels of a 3 x 3 window
    assert ops["conv2d"] == (2 * convolution, convolution)
    assert ops["batch_norm"] == (8 * 1024, 0)
    assert ops["relu"] == (1024, 0)
    assert ops["max_pool2d"] == (2 * 8 * 4 * 4 * 4, 0)
    assert ops["flatten"] == (0, 0)
    assert ops["linear"] == (2 * 2 * 128 * 10, 2 * 128 * 10)


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Gpt(nn.Module):
    def __init__(self, words: int = 50, width: int = 16, heads: int = 4, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.blocks(self.embedding(tokens)))


def test_a_gpt_with_tied_weights_by_hand() -> None:
    model = Gpt()
    record = recorded(lambda: model(torch.zeros(2, 6, dtype=torch.long)), model)
    tokens, width, length, words = 12, 16, 6, 50
    block = tokens * 12 * width**2 + 2 * tokens * length * width
    assert sum(op.cost.macs or 0 for op in record.ops) == 2 * block + tokens * width * words
    assert the(record, "embedding").cost.flops == 0
    assert all(op.cost.flops is not None for op in record.ops)
    assert sum(module.parameters for module in record.modules) == sum(p.numel() for p in model.parameters())


def test_attention_counts_the_same_whichever_way_it_is_written() -> None:
    q, k, v = torch.randn(2, 4, 6, 8), torch.randn(2, 4, 5, 8), torch.randn(2, 4, 5, 3)
    macs = 2 * 4 * 6 * 5 * (8 + 3)
    assert macs_of(lambda: F.scaled_dot_product_attention(q, k, v)) == macs
    assert macs_of(lambda: (q @ k.transpose(-1, -2)).softmax(-1) @ v) == macs
    mask = torch.ones(6, 5, dtype=torch.bool).tril()
    assert macs_of(lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask)) == macs


def test_grouped_query_attention_does_the_work_of_all_query_heads() -> None:
    q, k = torch.randn(1, 8, 6, 4), torch.randn(1, 2, 6, 4)
    assert macs_of(lambda: F.scaled_dot_product_attention(q, k, k, enable_gqa=True)) == 8 * 6 * 6 * (4 + 4)


def test_multi_head_attention_with_its_projections() -> None:
    attention = nn.MultiheadAttention(16, 4, kdim=10, vdim=12)
    q, k, v = torch.randn(5, 2, 16), torch.randn(7, 2, 10), torch.randn(7, 2, 12)
    projections = 10 * 16 * 16 + 14 * 10 * 16 + 14 * 12 * 16 + 10 * 16 * 16
    assert macs_of(lambda: attention(q, k, v)) == projections + 2 * 5 * 7 * (16 + 16)
    same = nn.MultiheadAttention(16, 4, batch_first=True)
    x = torch.randn(2, 5, 16)
    assert macs_of(lambda: same(x, x, x)) == 10 * 16 * 64 + 2 * 5 * 5 * 32


@pytest.mark.filterwarnings("ignore:LSTM with projections")
def test_an_lstm_by_hand() -> None:
    x = torch.randn(2, 4, 5)
    plain = nn.LSTM(5, 7, num_layers=2, batch_first=True)
    assert macs_of(lambda: plain(x)) == 8 * (4 * 7 * (5 + 7) + 4 * 7 * (7 + 7))
    both = nn.LSTM(5, 7, num_layers=2, batch_first=True, bidirectional=True)
    assert macs_of(lambda: both(x)) == 8 * 2 * (4 * 7 * (5 + 7) + 4 * 7 * (14 + 7))
    projected = nn.LSTM(5, 7, batch_first=True, proj_size=3)
    assert macs_of(lambda: projected(x)) == 8 * (4 * 7 * (5 + 3) + 7 * 3)


def test_gru_rnn_cells_and_packed_sequences() -> None:
    x = torch.randn(2, 4, 5)
    assert macs_of(lambda: nn.GRU(5, 7, batch_first=True)(x)) == 8 * 3 * 7 * (5 + 7)
    assert macs_of(lambda: nn.RNN(5, 7, batch_first=True)(x)) == 8 * 7 * (5 + 7)
    assert macs_of(lambda: nn.LSTMCell(5, 7)(x[:, 0])) == 2 * 4 * 7 * (5 + 7)
    lstm = nn.LSTM(5, 7, batch_first=True)
    packed = pack_padded_sequence(x, torch.tensor([4, 1]), batch_first=True)
    assert macs_of(lambda: lstm(packed)) == 5 * 4 * 7 * (5 + 7)  # five real time steps, not eight


def test_grouped_dilated_and_transposed_convolutions() -> None:
    x = torch.randn(2, 8, 10, 10)
    assert macs_of(lambda: nn.Conv2d(8, 12, 3, groups=4)(x)) == 2 * 12 * 8 * 8 * (2 * 9)
    assert macs_of(lambda: nn.Conv2d(8, 8, 3, groups=8, padding=1)(x)) == 2 * 8 * 100 * 9
    assert macs_of(lambda: nn.Conv2d(8, 4, 3, stride=2, dilation=2)(x)) == 2 * 4 * 3 * 3 * (8 * 9)
    assert macs_of(lambda: nn.ConvTranspose2d(8, 6, 2, stride=2)(x)) == 2 * 8 * 100 * (6 * 4)
    assert macs_of(lambda: nn.ConvTranspose2d(8, 6, 2, groups=2)(x)) == 2 * 8 * 100 * (3 * 4)
    assert macs_of(lambda: nn.Conv1d(8, 4, 5)(x[:, :, 0])) == 2 * 4 * 6 * (8 * 5)
    assert macs_of(lambda: nn.Conv3d(2, 4, 2)(torch.randn(1, 2, 4, 4, 4))) == 4 * 27 * (2 * 8)


@pytest.mark.parametrize(
    ("equation", "shapes", "macs", "flops"),
    [
        ("ij,jk->ik", [(2, 3), (3, 4)], 24, 48),
        ("bhid,bhjd->bhij", [(2, 3, 4, 5), (2, 3, 6, 5)], 720, 1440),
        ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)], 120, 240),
        ("i,j->ij", [(3,), (4,)], 0, 12),
        ("ij->i", [(3, 4)], 0, 12),
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], 24 + 40, 128),
    ],
)
def test_einsum(equation: str, shapes: list[tuple[int, ...]], macs: int, flops: int) -> None:
    tensors = [torch.randn(shape) for shape in shapes]
    assert work_of(lambda: torch.einsum(equation, *tensors)) == (flops, macs)


def test_products_under_all_their_names() -> None:
    a, b, batch = torch.randn(2, 3), torch.randn(3, 4), torch.randn(5, 3, 4)
    bias = torch.randn(2, 4)
    assert work_of(lambda: a @ b) == (48, 24)
    assert work_of(lambda: torch.mm(a, b)) == (48, 24)
    assert work_of(lambda: torch.addmm(bias, a, b)) == (48, 24)
    assert work_of(lambda: a.unsqueeze(0).expand(5, 2, 3).bmm(batch)) == (240, 120)
    assert work_of(lambda: torch.baddbmm(torch.zeros(5, 2, 4), a.expand(5, 2, 3), batch)) == (240, 120)
    assert work_of(lambda: torch.mv(a, b[:, 0])) == (12, 6)
    assert work_of(lambda: torch.dot(b[:, 0], b[:, 1])) == (6, 3)
    assert work_of(lambda: torch.tensordot(a, b, dims=1)) == (48, 24)


def test_in_place_and_foreach_variants_count_like_the_plain_one() -> None:
    x = torch.randn(6)
    assert work_of(lambda: x.add_(1)) == (6, 0)
    assert work_of(lambda: x.mean()) == (6, 0)
    assert work_of(lambda: torch._foreach_add_([x, x], 1.0)) == (12, 0)


def test_an_unknown_op_is_unknown_and_not_free() -> None:
    assert work_of(lambda: torch.linalg.svdvals(torch.randn(3, 3))) == (None, None)
    assert "linear" in known_ops()
    assert len(known_ops()) > 300


def test_backward_is_two_products_for_each_one_that_needs_both_gradients() -> None:
    model = nn.Sequential(nn.Linear(5, 6), nn.ReLU(), nn.Linear(6, 2))
    record = recorded(lambda: model(torch.randn(3, 5)).sum().backward())
    products = [op for op in record.ops if op.name == "AddmmBackward0"]
    assert [op.cost.flops for op in products] == [2 * 2 * (3 * 6 * 2), 2 * (3 * 5 * 6)]  # data needs no gradient
    assert [op.cost.macs for op in products] == [2 * (3 * 6 * 2), 3 * 5 * 6]
    assert [op.cost.flops for op in record.ops if op.name == "AccumulateGrad"] == [0, 0, 0, 0]
    again = recorded(lambda: model(torch.randn(3, 5)).sum().backward())
    assert [op.cost.flops for op in again.ops if op.name == "AccumulateGrad"] == [2, 12, 6, 30]


def test_backward_of_attention_and_convolution() -> None:
    q = torch.randn(1, 2, 4, 8, requires_grad=True)
    attention = recorded(lambda: F.scaled_dot_product_attention(q, q, q).sum().backward())
    forward = 2 * (2 * 4 * 4 * 16)
    backward = sum(op.cost.flops or 0 for op in attention.ops if op.forward == 0 and op.cost.macs)
    assert (attention.ops[0].cost.flops, backward) == (forward, 2 * forward)
    frozen = nn.Conv2d(3, 4, 3).requires_grad_(False)
    x = torch.randn(1, 3, 5, 5, requires_grad=True)
    convolution = recorded(lambda: frozen(x).sum().backward())
    assert the(convolution, "ConvolutionBackward0").cost.flops == the(convolution, "conv2d").cost.flops


def test_agrees_with_torchs_own_counter_on_products_and_convolutions() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model = nn.Sequential(nn.Conv2d(3, 6, 3, stride=2), nn.Flatten(), nn.Linear(6 * 9, 4))
    x = torch.randn(2, 3, 8, 8)
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    record = recorded(lambda: model(x).sum().backward())
    assert sum(2 * (op.cost.macs or 0) for op in record.ops) == counter.get_total_flops()


def test_a_foreach_op_whose_list_comes_second() -> None:
    """Adam's bias correction is `_foreach_pow(beta, steps)`: a number first, then the list."""
    recorder = Recorder(observers=[FlopsObserver()])
    with recorder:
        torch._foreach_pow(0.9, [torch.ones(3), torch.ones(4)])
    assert recorder.record is not None
    assert [op.cost.flops for op in recorder.record.ops if op.name == "_foreach_pow"] == [7]


def test_complex_products_and_fourier_transforms() -> None:
    a, b = torch.randn(3, 4, dtype=torch.cfloat), torch.randn(4, 5, dtype=torch.cfloat)
    assert work_of(lambda: a @ b) == (4 * 2 * 60, 4 * 60)
    x = torch.randn(2, 16)
    spectrum = torch.fft.rfft(x)
    assert work_of(lambda: torch.fft.fft(x)) == (2 * 160, 0)  # real in: half of 2 transforms of 5 * 16 * 4
    assert work_of(lambda: torch.fft.rfft(x, dim=0)) == (80, 0)
    assert work_of(lambda: torch.fft.rfft(x, n=32)) == (2 * 400, 0)
    assert work_of(lambda: torch.fft.irfft(spectrum)) == (2 * 160, 0)
    assert work_of(lambda: torch.fft.ifft(x.cfloat())) == (2 * 320, 0)
    assert work_of(lambda: torch.fft.fft2(torch.randn(3, 4, 8, dtype=torch.cfloat))) == (3 * 5 * 32 * 5, 0)
    assert work_of(lambda: torch.fft.fftn(torch.randn(4, 8, dtype=torch.cfloat))) == (5 * 32 * 5, 0)
