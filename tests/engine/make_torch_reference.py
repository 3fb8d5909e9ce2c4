#!/usr/bin/env python3
"""Makes torch_reference.json: what PyTorch, in fp64, gets from the cases of op_cases.hpp named here, with op_run.cpp's values, and from
three steps of the optimizers.

Of every op's tensor two numbers are kept: its norm, and its dot product with random_centered(9, 0, i, 1), which changes when any value
does or moves. Run it after a case named here has changed:  python3 tests/engine/make_torch_reference.py
"""
import json
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix64(z):
    z = ((z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)).astype(np.uint64)
    z = ((z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)).astype(np.uint64)
    return z ^ (z >> np.uint64(31))


def random_bits(seed, stream, count):  # core/rng.hpp
    with np.errstate(over="ignore"):
        inner = mix64(np.uint64((stream + 0x632BE59BD9B4E019) & MASK))
        key = mix64(np.uint64((seed * GOLDEN + int(inner)) & MASK))
        return mix64(key + np.arange(count, dtype=np.uint64) * np.uint64(GOLDEN))


def random_centered(seed, stream, count, std):
    u = (random_bits(seed, stream, count) >> np.uint64(40)).astype(np.float32) * np.float32(2**-24)
    return (np.float32(2) * u - np.float32(1)) * np.float32(std * np.sqrt(3))


def stream_of(name):  # FNV-1a
    h = 0xCBF29CE484222325
    for c in name.encode():
        h = ((h ^ c) * 0x100000001B3) & MASK
    return h


SEED = 1


def tensor(name, shape, std=1.0, mean=0.0):
    values = random_centered(SEED, stream_of(name), int(np.prod(shape)), std) + np.float32(mean)
    return torch.tensor(values.reshape(shape), dtype=torch.float64, requires_grad=True)


def integers(name, shape, below):
    return torch.tensor((random_bits(SEED, stream_of(name), int(np.prod(shape))) % np.uint64(below)).astype(np.int64).reshape(shape))


def weight(name, shape):
    return tensor(name, shape, 1 / np.sqrt(np.prod(shape) / shape[0]))


def gamma(name, n):
    return tensor(name, [n], 0.25, 1.0)


def shift(name, n):
    return tensor(name, [n], 0.5)


class Case:
    """Tensors by name, and the summary of what backward of sum(d_out * out) leaves."""

    def __init__(self):
        self.out, self.gradients, self.state = {}, {}, {}

    def finish(self, outputs, variables, d_out=None):
        d_out = d_out or {}
        loss = sum((y * d_out.get(name, tensor("d_" + name, y.shape).detach())).sum() for name, y in outputs.items())
        self.backward(loss, outputs, variables)

    def backward(self, loss, outputs, variables):
        loss.backward()
        self.out = outputs
        self.gradients = {"d_" + name: v.grad for name, v in variables.items()}

    def summary(self):
        def two(t):
            v = t.detach().double().reshape(-1).numpy()
            return [float(np.linalg.norm(v)), float(v @ random_centered(9, 0, v.size, 1).astype(np.float64))]

        return {kind: {name: two(t) for name, t in tensors.items()}
                for kind, tensors in (("out", self.out), ("gradients", self.gradients), ("state", self.state))}


def conv_part(case, prefix, x, cin, cout, k, stride, padding, variables):
    w, g, b = weight(prefix + "weight", [cout, cin, k, k]), gamma(prefix + "gamma", cout), shift(prefix + "beta", cout)
    variables.update({prefix + "weight": w, prefix + "gamma": g, prefix + "beta": b})
    mean, var = torch.zeros(cout, dtype=torch.float64), torch.ones(cout, dtype=torch.float64)
    y = F.batch_norm(F.conv2d(x, w, stride=stride, padding=padding), mean, var, g, b, training=True, momentum=0.1, eps=1e-5)
    case.state.update({prefix + "running_mean": mean, prefix + "running_var": var})
    return y


def conv_bn(batch, cin, h, w, cout, k, stride, padding, residual, relu, input_gradient=True):
    case, x = Case(), tensor("x", [batch, cin, h, w])
    variables = {"x": x} if input_gradient else {}
    y = conv_part(case, "", x, cin, cout, k, stride, padding, variables)
    if residual:
        variables["residual"] = tensor("residual", y.shape)
        y = y + variables["residual"]
    case.finish({"y": torch.relu(y) if relu else y}, variables)
    return case


def bottleneck(batch, cin, h, w, width, stride, projection):
    case, x = Case(), tensor("x", [batch, cin, h, w])
    variables = {"x": x}
    a = torch.relu(conv_part(case, "reduce.", x, cin, width, 1, 1, 0, variables))
    b = torch.relu(conv_part(case, "spatial.", a, width, width, 3, stride, 1, variables))
    y = conv_part(case, "expand.", b, width, 4 * width, 1, 1, 0, variables)
    s = conv_part(case, "project.", x, cin, 4 * width, 1, stride, 0, variables) if projection else x
    case.finish({"y": torch.relu(y + s)}, variables)
    return case


def max_pool(batch, channels, h, w, k, stride, padding):
    case, x = Case(), tensor("x", [batch, channels, h, w])
    case.finish({"y": F.max_pool2d(x, k, stride, padding)}, {"x": x})
    return case


def avg_pool(batch, channels, h, w):
    case, x = Case(), tensor("x", [batch, channels, h, w])
    case.finish({"y": x.mean(dim=(2, 3))}, {"x": x})
    return case


def linear(rows, n_in, n_out, bias, gelu):
    case, v = Case(), {"x": tensor("x", [rows, n_in]), "weight": weight("weight", [n_out, n_in])}
    if bias:
        v["bias"] = shift("bias", n_out)
    y = F.linear(v["x"], v["weight"], v.get("bias"))
    case.finish({"y": F.gelu(y, approximate="tanh") if gelu else y}, v)
    return case


def residual_norm(rows, hidden, residual, stream):
    case, v = Case(), {"x": tensor("x", [rows, hidden]), "gamma": gamma("gamma", hidden), "beta": shift("beta", hidden)}
    r = v["x"] + tensor("delta", [rows, hidden]) if residual else v["x"]
    y = F.layer_norm(r, [hidden], v["gamma"], v["beta"], 1e-5)
    loss = (y * tensor("d_y", y.shape).detach()).sum() + (r * tensor("d_r", r.shape).detach()).sum() * float(stream)
    case.backward(loss, {"r": r, "y": y} if residual else {"y": y}, v)
    return case


def attention(batch, sequence, heads, size, rope):
    case, qkv = Case(), tensor("qkv", [batch, sequence, 3, heads, size])
    q, k, v = (t.transpose(1, 2) for t in qkv.unbind(2))
    if rope:
        angles = torch.arange(sequence).double()[:, None] * 10000.0 ** (-2.0 * torch.arange(size // 2).double() / size)
        cos, sin = angles.cos(), angles.sin()

        def rotate(t):
            a, b = t.chunk(2, dim=-1)
            return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)

        q, k = rotate(q), rotate(k)
    case.finish({"y": F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)}, {"qkv": qkv})
    return case


def embedding(batch, sequence, vocabulary, hidden, positions):
    case, tokens = Case(), integers("tokens", [batch, sequence], vocabulary)
    v = {"tokens": tensor("tokens", [vocabulary, hidden])}
    y = F.embedding(tokens, v["tokens"])
    if positions:
        v["positions"] = tensor("positions", [positions, hidden])
        y = y + v["positions"][:sequence]
    case.finish({"y": y.reshape(-1, hidden)}, v)
    return case


def classifier(rows, n_in, classes, valid, bias, smoothing, loss_scale):
    case, v = Case(), {"x": tensor("x", [rows, n_in]), "weight": weight("weight", [classes, n_in])}
    if bias:
        v["bias"] = shift("bias", classes)
    targets = integers("targets", [rows], valid or classes)
    targets[3::7] = -1
    logits = F.linear(v["x"], v["weight"], v.get("bias"))[:, : valid or classes]
    loss = F.cross_entropy(logits, targets, ignore_index=-1, label_smoothing=smoothing, reduction="sum")
    right = ((logits.argmax(dim=1) == targets) & (targets >= 0)).sum()
    case.backward(loss * loss_scale, {"metrics": torch.stack([loss.detach(), right])}, v)
    return case


CASES = {
    "conv 7x7/2 3->17 @15x13 b2 fp32 bn+relu no-dx": conv_bn(2, 3, 15, 13, 17, 7, 2, 3, False, True, False),
    "conv 3x3 17->17 @5x6 b3 fp32 bn+add": conv_bn(3, 17, 5, 6, 17, 3, 1, 1, True, False),
    "conv 3x3/2 64->64 @9x8 b2 fp32 bn+relu": conv_bn(2, 64, 9, 8, 64, 3, 2, 1, False, True),
    "conv 3x3 p0 64->32 @6 b1 fp32 bn+relu": conv_bn(1, 64, 6, 6, 32, 3, 1, 0, False, True),
    "conv 1x1 17->64 @8x7 b2 fp32 bn+add+relu": conv_bn(2, 17, 8, 7, 64, 1, 1, 0, True, True),
    "conv 1x1/2 64->128 @9 b1 fp32 bn": conv_bn(1, 64, 9, 9, 128, 1, 2, 0, False, False),
    "bottleneck 64->16->64 @7 b2 fp32": bottleneck(2, 64, 7, 7, 16, 1, False),
    "bottleneck/2 64->32->128 @9x8 b2 fp32 projection": bottleneck(2, 64, 9, 8, 32, 2, True),
    "maxpool 3x3/2 17 @9x7 b3 fp32": max_pool(3, 17, 9, 7, 3, 2, 1),
    "maxpool 2x2/2 3 @7x6 b1 fp32": max_pool(1, 3, 7, 6, 2, 2, 0),
    "avgpool 64 @7 b2 fp32": avg_pool(2, 64, 7, 7),
    "linear 129x96->80 fp32 bias+gelu": linear(129, 96, 80, True, True),
    "linear 7x33->3 fp32": linear(7, 33, 3, False, False),
    "add+layernorm 129x80 fp32": residual_norm(129, 80, True, True),
    "layernorm 129x33 fp32": residual_norm(129, 33, False, True),
    "attention b2 s7 3x24 fp32 rope": attention(2, 7, 3, 24, True),
    "attention b1 s130 3x64 fp32": attention(1, 130, 3, 64, False),
    "embedding b2 s7 101x64 fp32 positions": embedding(2, 7, 101, 64, 9),
    "embedding b3 s33 129x80 fp32": embedding(3, 33, 129, 80, 0),
    "classifier 129x80->128 of 101 fp32 tied": classifier(129, 80, 128, 101, False, 0, 1 / 129),
    "classifier 33x64->1001 of 1000 fp32 bias smoothed": classifier(33, 64, 1001, 1000, True, 0.1, 1 / 33),
}

def optimizer(make, clip=0.0, elements=11, decayed=6, steps=3):
    """Weights after some steps from random_centered(1, master) with gradients random_centered(step, gradient)."""
    w = torch.tensor(random_centered(1, stream_of("master"), elements, 0.5), dtype=torch.float64)
    parts = [w[:decayed].clone().requires_grad_(), w[decayed:].clone().requires_grad_()]
    torch_optimizer = make(parts)
    for step in range(1, steps + 1):
        g = torch.tensor(random_centered(step, stream_of("gradient"), elements, 1), dtype=torch.float64)
        parts[0].grad, parts[1].grad = g[:decayed].clone(), g[decayed:].clone()
        if clip:
            torch.nn.utils.clip_grad_norm_(parts, clip)
        torch_optimizer.step()
    return torch.cat(parts).tolist()


def adamw(parts):
    groups = [{"params": parts[0]}, {"params": parts[1], "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=0.01, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)


def sgd(parts):
    groups = [{"params": parts[0]}, {"params": parts[1], "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=0.1, momentum=0.9, weight_decay=0.01)


OPTIMIZERS = {"adamw": optimizer(adamw), "adamw clipped": optimizer(adamw, clip=1.0), "sgd": optimizer(sgd)}


def block(entries):
    return "{\n" + ",\n".join("    " + json.dumps(name) + ": " + json.dumps(value) for name, value in entries.items()) + "\n  }"


text = "{\n  \"ops\": " + block({name: case.summary() for name, case in CASES.items()}) + ",\n  \"optimizers\": " + block(OPTIMIZERS) + "\n}\n"
(pathlib.Path(__file__).parent / "torch_reference.json").write_text(text)
