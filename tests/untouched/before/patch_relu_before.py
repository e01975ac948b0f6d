"""What a user's sitecustomize does to torch before anything else is started."""

import functools

import torch.nn.functional as F

calls = []
original = F.relu


@functools.wraps(original)
def half_relu(x, inplace=False):
    calls.append(x.shape)
    return 0.5 * original(x, inplace)


F.relu = half_relu
