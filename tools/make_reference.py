#!/usr/bin/env python3
"""Makes the reference numbers that Ergometer's training is tested against, with PyTorch, from weights and data made by formula.

Writes tests/reference/NAME.json (ten losses, first-step gradient norms per tensor, evaluation) and the C++ table
src/workload/reference_losses.inc (the first three losses of the check phase). docs/reference.md is the contract that this tool and
src/workload both follow: the formula, the order of the parameters, the initial weights, the optimizers, the precisions.
    python3 tools/make_reference.py [--only NAME ...]
"""
import argparse
import contextlib
import json
import math
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from reference_models import Gpt, ResNet  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 1
STEPS = 10
TOLERANCE = {"fp32": 1e-4, "bf16": 2e-2}
# Of the check phase: so far below what three steps change that an optimizer which does nothing is seen.
CHECK_TOLERANCE = {"fp32": 1e-4, "bf16": 3e-3}
GPT_OPTIMIZER = {"learning_rate": 1e-4, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.1, "clip": 1.0}
RESNET_OPTIMIZER = {"momentum": 0.9, "weight_decay": 5e-5, "label_smoothing": 0.1}


def gpt(name, layers=12, hidden=768, heads=12, vocabulary=50257, sequence=64, positions="learned", batch=2, micro_batch=None, check=True):
    shape = {"layers": layers, "hidden": hidden, "heads": heads, "ffn": 4 * hidden, "vocabulary": vocabulary,
             "padded_vocabulary": -(-vocabulary // 128) * 128, "sequence": sequence, "positions": positions}
    key = f"gpt-L{layers}-h{hidden}-a{heads}-f{4 * hidden}-v{vocabulary}-V{shape['padded_vocabulary']}-{positions}-s{sequence}"
    return {"name": name, "key": key, "workload": "gpt", "shape": shape, "global_batch": batch, "micro_batch": micro_batch or batch,
            "optimizer": GPT_OPTIMIZER, "check": check}


def resnet(name, blocks=(3, 4, 6, 3), width=64, image_size=224, classes=1000, batch=4, micro_batch=None, check=True, learning_rate=2e-4):
    shape = {"image_size": image_size, "classes": classes, "width": width, "blocks": list(blocks)}
    key = f"resnet-{'.'.join(map(str, blocks))}-w{width}-i{image_size}-c{classes}"
    return {"name": name, "key": key, "workload": "resnet50", "shape": shape, "global_batch": batch, "micro_batch": micro_batch or batch,
            "optimizer": RESNET_OPTIMIZER | {"learning_rate": learning_rate}, "check": check}


# Those with check=True are the check phase's, 2 x min(64, sequence) tokens or 4 images (METHOD §1); the others are for tests only.
CONFIGURATIONS = [
    gpt("gpt-tiny", layers=2, hidden=64, heads=4, vocabulary=256, sequence=32),
    gpt("gpt-tiny-rope-odd", layers=2, hidden=64, heads=4, vocabulary=200, sequence=33, positions="rope", batch=3, check=False),
    gpt("gpt-tiny-accumulate", layers=2, hidden=64, heads=4, vocabulary=256, sequence=32, batch=4, micro_batch=2, check=False),
    gpt("gpt-117m"),
    gpt("gpt-117m-8k", vocabulary=8000),
    resnet("resnet-tiny", blocks=(1, 1, 1, 1), width=16, image_size=32, classes=10),
    resnet("resnet-tiny-odd", blocks=(2, 1), width=16, image_size=45, classes=7, batch=3, check=False, learning_rate=1e-3),
    resnet("resnet-tiny-accumulate", blocks=(1, 1), width=16, image_size=32, classes=10, batch=8, micro_batch=4, check=False, learning_rate=1e-3),
    resnet("resnet50"),
]


# ---- The formula (src/core/rng.hpp), all in uint64 that wraps ---------------------------------------------------------------------


def mix64(z):
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def random_bits(stream, count):
    with np.errstate(over="ignore"):
        golden = np.uint64(0x9E3779B97F4A7C15)
        key = mix64(np.uint64(SEED) * golden + mix64(np.uint64(stream) + np.uint64(0x632BE59BD9B4E019)))
        return mix64(key + np.arange(count, dtype=np.uint64) * golden)


def random_uniform(stream, count):
    return (random_bits(stream, count) >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def random_centered(stream, count, std):
    return (np.float32(2) * random_uniform(stream, count) - np.float32(1)) * np.float32(std * math.sqrt(3))


# ---- One configuration in one precision --------------------------------------------------------------------------------------------


def make_model(config, dtype):
    if config["workload"] == "gpt":
        model = Gpt(**config["shape"])
    else:
        model = ResNet(label_smoothing=config["optimizer"]["label_smoothing"], **config["shape"])
    model = model.to(dtype)
    with torch.no_grad():
        for stream, (_, tensor, (kind, value)) in enumerate(model.parameters_in_order()):
            if kind == "constant":
                tensor.fill_(value)
            else:
                tensor.copy_(torch.from_numpy(random_centered(stream, tensor.numel(), value)).view(tensor.shape))
    return model


def make_batch(config, dtype):
    shape, batch = config["shape"], config["global_batch"]
    if config["workload"] == "gpt":
        rows = random_bits(1000, batch * (shape["sequence"] + 1)) % np.uint64(shape["vocabulary"])
        rows = torch.from_numpy(rows.astype(np.int64)).view(batch, -1)
        return rows[:, :-1].contiguous(), rows[:, 1:].contiguous()
    size = shape["image_size"]
    pixels = np.float32(2) * random_uniform(1001, batch * 3 * size * size) - np.float32(1)
    labels = random_bits(1002, batch) % np.uint64(shape["classes"])
    return torch.from_numpy(pixels).view(batch, 3, size, size).to(dtype), torch.from_numpy(labels.astype(np.int64))


def make_optimizer(config, model):
    o = config["optimizer"]
    tensors = [t for _, t, _ in model.parameters_in_order()]
    groups = [{"params": [t for t in tensors if t.dim() >= 2], "weight_decay": o["weight_decay"]},
              {"params": [t for t in tensors if t.dim() < 2], "weight_decay": 0.0}]
    if config["workload"] == "gpt":
        return torch.optim.AdamW(groups, lr=o["learning_rate"], betas=(o["beta1"], o["beta2"]), eps=o["epsilon"])
    return torch.optim.SGD(groups, lr=o["learning_rate"], momentum=o["momentum"])


def train(config, precision):
    """Ten steps on the fixed batch: losses, first-step gradients by tensor name, and the evaluation after them."""
    dtype = torch.float64 if precision == "fp64" else torch.float32
    autocast = (lambda: torch.autocast("cpu", torch.bfloat16)) if precision == "bf16" else contextlib.nullcontext
    model, batch = make_model(config, dtype), make_batch(config, dtype)
    optimizer = make_optimizer(config, model)
    micro_batch, accumulation = config["micro_batch"], config["global_batch"] // config["micro_batch"]
    losses, gradients = [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        total = 0.0
        for m in range(accumulation):
            part = tuple(t[m * micro_batch:(m + 1) * micro_batch] for t in batch)
            with autocast():
                loss, _ = model.loss(part, training=True)
            (loss / accumulation).backward()
            total += loss.item() / accumulation
        losses.append(total)
        if step == 0:
            gradients = {name: t.grad.clone() for name, t, _ in model.parameters_in_order()}
        if config["optimizer"].get("clip"):
            torch.nn.utils.clip_grad_norm_(model.parameters(), config["optimizer"]["clip"])
        optimizer.step()
    model.eval()
    with torch.no_grad(), autocast():
        loss, correct = model.loss(batch, training=False)
    count = batch[1].numel()
    return {"losses": losses, "gradients": gradients, "evaluation": {"loss": loss.item(), "top1": correct / count}}


# ---- Files -------------------------------------------------------------------------------------------------------------------------


def worst(a, b):
    return max(abs(x - y) / abs(y) for x, y in zip(a, b))


def norms(gradients):
    return {name: g.double().norm().item() for name, g in gradients.items()}


def rounding(gradients, truth):
    """How far PyTorch's own rounding moves each gradient: |g - g64| / |g64|."""
    return {name: ((g.double() - truth[name]).norm() / truth[name].norm()).item() for name, g in gradients.items()}


def rounded(x, digits=9):
    return float(f"{x:.{digits}g}")


def make(config):
    results = {precision: train(config, precision) for precision in ("fp32", "bf16", "fp64")}
    truth = results["fp64"]
    document = {key: config[key] for key in ("name", "key", "workload", "shape", "global_batch", "micro_batch")}
    document |= {"seed": SEED, "optimizer": config["optimizer"], "check": config["check"], "torch": torch.__version__.split("+")[0]}
    for precision in ("fp32", "bf16"):
        result = results[precision]
        error = rounding(result["gradients"], truth["gradients"])
        losses = worst(result["losses"], truth["losses"])
        print(f"{config['name']:24s} {precision}: loss {result['losses'][0]:.4f} -> {result['losses'][-1]:.4f}; apart from fp64: losses {losses:.1e},"
              f" gradients {max(error.values()):.1e}", flush=True)
        if losses > TOLERANCE[precision] / 2:
            sys.exit(f"{config['name']}: rounding alone moves the {precision} losses too far for a test within {TOLERANCE[precision]}")
        learned = abs(result["losses"][2] / result["losses"][0] - 1)
        if config["check"] and learned < 3 * CHECK_TOLERANCE[precision]:
            sys.exit(f"{config['name']}: three {precision} steps change the loss by {learned:.1e} only: no check within {CHECK_TOLERANCE[precision]}")
        document[precision] = {
            "losses": [rounded(x) for x in result["losses"]],
            "evaluation": {k: rounded(v) for k, v in result["evaluation"].items()},
            "gradient_norms": {k: rounded(v) for k, v in norms(result["gradients"]).items()},
            "gradient_rounding": {k: rounded(v, 2) for k, v in error.items()},
        }
    classes = config["shape"].get("padded_vocabulary", config["shape"].get("classes"))
    if abs(truth["losses"][0] - math.log(classes)) > 0.1 * math.log(classes):
        sys.exit(f"{config['name']}: the first loss {truth['losses'][0]} is far from ln {classes}")
    return document


def write_table(folder, path):
    """The check phase's losses as C++ aggregate initialisers: {key, dtype, {losses of steps 1, 2, 3}, relative tolerance}."""
    lines = ["// Made by tools/make_reference.py from tests/reference/*.json; do not edit. First three losses in PyTorch (docs/reference.md):",
             "// {architecture key, precision, {loss of steps 1, 2, 3}, relative tolerance}."]
    for file in sorted(folder.glob("*.json")):
        document = json.loads(file.read_text())
        if document["check"]:
            for precision, tolerance in CHECK_TOLERANCE.items():
                losses = ", ".join(repr(x) for x in document[precision]["losses"][:3])
                lines.append(f'{{"{document["key"]}", "{precision}", {{{losses}}}, {tolerance}}},')
    path.write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=[c["name"] for c in CONFIGURATIONS], help="make these configurations only")
    only = parser.parse_args().only
    torch.use_deterministic_algorithms(True)
    torch.set_float32_matmul_precision("highest")
    folder = ROOT / "tests" / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for config in CONFIGURATIONS:
        if only is None or config["name"] in only:
            (folder / f"{config['name']}.json").write_text(json.dumps(make(config), indent=1) + "\n")
    write_table(folder, ROOT / "src" / "workload" / "reference_losses.inc")


if __name__ == "__main__":
    main()
