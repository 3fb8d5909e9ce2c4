"""GPT-2 and ResNet v1.5 in plain torch.nn, for make_reference.py: GPT as nanoGPT has it, ResNet as torchvision has it.

Parameters are listed by `parameters_in_order` under Ergometer's names (docs/reference.md), each with how it is initialised.
"""
import math

import torch
from torch import nn
from torch.nn import functional as F


# ---- GPT-2 (Radford et al. 2019) -------------------------------------------------------------------------------------------------


def rotate(x):
    """RoPE (Su et al. 2021) on [batch, heads, sequence, head_size], half-split pairs, base 10000; never in less than fp32."""
    sequence, size = x.shape[-2:]
    frequency = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
    angle = torch.outer(torch.arange(sequence, dtype=torch.float64), frequency)
    wide = torch.promote_types(x.dtype, torch.float32)
    cos, sin = angle.cos().to(wide), angle.sin().to(wide)
    a, b = x.to(wide).chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1).to(x.dtype)


class Block(nn.Module):
    def __init__(self, hidden, heads, ffn, rope):
        super().__init__()
        self.heads, self.rope = heads, rope
        self.ln1 = nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.proj = nn.Linear(hidden, hidden)
        self.ln2 = nn.LayerNorm(hidden)
        self.up = nn.Linear(hidden, ffn)
        self.down = nn.Linear(ffn, hidden)

    def attention(self, x):
        batch, sequence, hidden = x.shape
        q, k, v = (t.view(batch, sequence, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(hidden, dim=2))
        if self.rope:
            q, k = rotate(q), rotate(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, sequence, hidden))

    def forward(self, x):
        x = x + self.attention(self.ln1(x))
        return x + self.down(F.gelu(self.up(self.ln2(x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, layers, hidden, heads, ffn, padded_vocabulary, sequence, positions, **_):
        super().__init__()
        self.tokens = nn.Embedding(padded_vocabulary, hidden)
        self.positions = nn.Embedding(sequence, hidden) if positions == "learned" else None
        self.blocks = nn.ModuleList(Block(hidden, heads, ffn, positions == "rope") for _ in range(layers))
        self.ln_f = nn.LayerNorm(hidden)

    def forward(self, tokens):
        x = self.tokens(tokens)
        if self.positions is not None:
            x = x + self.positions.weight
        for block in self.blocks:
            x = block(x)
        return F.linear(self.ln_f(x), self.tokens.weight)  # tied head

    def loss(self, batch, training):
        tokens, targets = batch
        logits = self(tokens).to(self.tokens.weight.dtype)
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return loss, (logits.argmax(-1) == targets).sum().item()

    def parameters_in_order(self):
        residual = 0.02 / math.sqrt(2 * len(self.blocks))
        yield "embed.tokens", self.tokens.weight, ("std", 0.02)
        if self.positions is not None:
            yield "embed.positions", self.positions.weight, ("std", 0.02)
        for i, b in enumerate(self.blocks):
            for name in ("ln1", "qkv", "proj", "ln2", "up", "down"):
                std = residual if name in ("proj", "down") else 0.02
                yield from named(f"h.{i}.{name}", getattr(b, name), std)
        yield from named("ln_f", self.ln_f, None)


# ---- ResNet v1.5 (He et al. 2015, with the stride in the 3x3) --------------------------------------------------------------------


class ConvNorm(nn.Sequential):
    def __init__(self, inputs, outputs, kernel, stride=1):
        super().__init__(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride, projection):
        super().__init__()
        self.reduce = ConvNorm(inputs, width, 1)
        self.spatial = ConvNorm(width, width, 3, stride)
        self.expand = ConvNorm(width, 4 * width, 1)
        self.project = ConvNorm(inputs, 4 * width, 1, stride) if projection else None

    def forward(self, x):
        y = self.expand(F.relu(self.spatial(F.relu(self.reduce(x)))))
        return F.relu(y + (self.project(x) if self.project is not None else x))


class ResNet(nn.Module):
    def __init__(self, width, blocks, classes, label_smoothing, **_):
        super().__init__()
        self.label_smoothing = label_smoothing
        self.stem = ConvNorm(3, width, 7, 2)
        self.layers = nn.ModuleDict()
        channels = width
        for layer, count in enumerate(blocks):
            for i in range(count):
                w = width << layer
                self.layers[f"layer{layer + 1}_{i}"] = Bottleneck(channels, w, 2 if layer > 0 and i == 0 else 1, i == 0)
                channels = 4 * w
        self.head = nn.Linear(channels, classes)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.stem(x)), 3, 2, 1)
        for block in self.layers.values():
            x = block(x)
        return self.head(x.mean((2, 3)))

    def loss(self, batch, training):
        images, labels = batch
        logits = self(images).to(self.head.weight.dtype)
        loss = F.cross_entropy(logits, labels, label_smoothing=self.label_smoothing if training else 0.0)
        return loss, (logits.argmax(-1) == labels).sum().item()

    def parameters_in_order(self):
        yield from named("stem", self.stem, None)
        for name, block in self.layers.items():
            for part in ("reduce", "spatial", "expand", "project"):
                conv = getattr(block, part)
                if conv is not None:
                    yield from named(f"{name.replace('_', '.')}.{part}", conv, None, gamma=0.25 if part == "expand" else 1.0)
        yield from named("head", self.head, 0.01)


def named(prefix, module, std, gamma=1.0):
    """(name, tensor, how it starts) of one op: ("std", s) or ("constant", c). Convolutions have He's std whatever is given."""
    if isinstance(module, ConvNorm):
        conv, norm = module
        out, _, k, _ = conv.weight.shape
        yield f"{prefix}.weight", conv.weight, ("std", math.sqrt(2 / (out * k * k)))
        yield from named(prefix, norm, None, gamma)
    elif isinstance(module, (nn.LayerNorm, nn.BatchNorm2d)):
        yield f"{prefix}.gamma", module.weight, ("constant", gamma)
        yield f"{prefix}.beta", module.bias, ("constant", 0.0)
    else:
        yield f"{prefix}.weight", module.weight, ("std", std)
        yield f"{prefix}.bias", module.bias, ("constant", 0.0)
