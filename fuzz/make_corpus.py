#!/usr/bin/env python3
"""Writes small seeds for every fuzzer into FOLDER/NAME_fuzz/, from the formats' definitions and what the repository already holds."""
import json, pathlib, re, struct, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def megatron(code, size, lengths, modes=b""):
    offsets = [sum(lengths[:i]) * size for i in range(len(lengths))]
    n = len(lengths)
    index = b"MMIDIDX\0\0" + struct.pack("<QBQQ", 1, code, n, n + 1)
    index += struct.pack(f"<{n}i{n}q{n + 1}q", *lengths, *offsets, *range(n + 1)) + modes
    return struct.pack("<I", sum(lengths) * size) + index


def llmc(magic, version, letter, tokens):
    return struct.pack("<256i", magic, version, len(tokens), *[0] * 253) + struct.pack(f"<{len(tokens)}{letter}", *tokens)


def record():
    metric = {"value": 1.5, "unit": "1/s", "better": "higher", "ci95": [1, 2], "n": 3}
    none = {"value": None, "unit": "1", "better": "", "reason": "unknown"}
    return {"schema_version": 1, "id": "run", "status": "PASSED", "status_reason": "", "started": "2026-01-01T00:00:00Z", "spec": {},
            "spec_hash": "0", "sweep_id": "", "coordinates": {"a": "1"}, "plan": {}, "environment": {}, "metrics": {"x": metric, "y": none},
            "energy": {}, "phases": {"init_s": 1}, "check": {}, "data": {"position": []}, "flags": [{"code": "a", "detail": "b"}],
            "repro": "", "process": {"pid": 1}, "step_times": [1.0, None], "losses": [2.0]}


def seeds():
    for path in sorted((ROOT / "specs").glob("*.toml")):
        yield "spec", path.stem, path.read_bytes()
    for code, size in ((1, 1), (2, 1), (3, 2), (4, 4), (5, 8), (8, 2), (6, 8), (7, 4)):
        yield "megatron_index", f"type{code}", megatron(code, size, [3, 0, 5])
    yield "megatron_index", "modes", megatron(8, 2, [1, 2], b"\0\1")
    yield "megatron_index", "empty", megatron(8, 2, [])
    yield "token_file", "narrow", llmc(20240520, 1, "H", list(range(40)))
    yield "token_file", "wide", llmc(20240801, 7, "I", list(range(40)))
    yield "token_file", "outside", llmc(20240801, 7, "I", [1, 2**32 - 1])
    yield "record", "whole", json.dumps(record()).encode()
    yield "record", "least", b'{"schema_version":1,"id":"run","status":"RUNNING"}'
    pillow = (ROOT / "tests/data/pillow_jpegs.hpp").read_text()
    for name, text in re.findall(r'\{"([a-z ]+)",\s*((?:"[0-9a-f]+"\s*)+)', pillow):
        yield "jpeg", name.replace(" ", "-"), b"\5" + bytes.fromhex("".join(re.findall(r'"([0-9a-f]+)"', text)))


def main():
    out = pathlib.Path(sys.argv[1])
    for reader, name, content in seeds():
        path = out / f"{reader}_fuzz" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


if __name__ == "__main__":
    main()
