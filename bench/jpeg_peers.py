#!/usr/bin/env python3
"""The JPEG pipeline of one core beside Pillow's (and torchvision's, where it is installed), in alternating rounds.

    cmake --preset release -DERG_BUILD_BENCH=ON && ninja -C build/release data_bench
    python3 -m venv .peers-jpeg && .peers-jpeg/bin/pip install pillow numpy
    .peers-jpeg/bin/python bench/jpeg_peers.py build/release/bin/data_bench

Each does the same: decode, RandomResizedCrop(224, 0.08-1, 3/4-4/3), bilinear antialiased, flip, normalise, planes of fp32. The photos are made
here: 500 x 375, noise with the 1/f amplitude spectrum of natural images, quality 90, 4:2:0. Prints medians over the rounds and their range.
"""
import argparse, io, json, math, os, pathlib, random, statistics, subprocess, tempfile, time

import numpy as np
from PIL import Image

MEAN = np.array([0.485, 0.456, 0.406], np.float32)
STD = np.array([0.229, 0.224, 0.225], np.float32)


def photo(rng, width=500, height=375):
    """Luma and two weaker, smoother chroma planes with amplitude falling as 1/f, plus a little sensor noise."""
    fy, fx = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
    f = np.maximum(np.hypot(fx, fy), 1 / max(width, height))

    def plane(power, deviation):
        spectrum = np.fft.rfft2(rng.standard_normal((height, width))) / f**power
        image = np.fft.irfft2(spectrum, s=(height, width))
        return deviation * (image - image.mean()) / image.std()

    y, u, v = 120 + plane(1.4, 45), plane(1.8, 15), plane(1.8, 15)
    rgb = np.stack([y + 1.4 * v, y - 0.34 * u - 0.71 * v, y + 1.77 * u], -1) + rng.normal(0, 1, (height, width, 1))
    return Image.fromarray(np.clip(rgb, 0, 255).astype(np.uint8))


def make_photos(folder, count):
    rng = np.random.default_rng(1)
    sizes = []
    for i in range(count):
        path = folder / "a" / f"{i:04}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        photo(rng).save(path, quality=90, subsampling="4:2:0")
        sizes.append(path.stat().st_size)
    print(f"{count} photos of 500 x 375, {statistics.mean(sizes) / 1000:.1f} kB on average")
    return [p.read_bytes() for p in sorted(folder.glob("a/*.jpg"))]


def crop_box(width, height):
    """torchvision's RandomResizedCrop.get_params."""
    for _ in range(10):
        area = width * height * random.uniform(0.08, 1)
        ratio = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            x, y = random.randint(0, width - w), random.randint(0, height - h)
            return x, y, x + w, y + h
    return 0, 0, width, height


def pillow(data):
    image = Image.open(io.BytesIO(data))
    image = image.resize((224, 224), Image.Resampling.BILINEAR, box=crop_box(*image.size))
    pixels = np.asarray(image, np.float32)
    if random.random() < 0.5:
        pixels = pixels[:, ::-1]
    return np.ascontiguousarray(((pixels / 255 - MEAN) / STD).transpose(2, 0, 1))


def torchvision_loader():
    try:
        import torch
        from torchvision import transforms
    except ImportError:
        return None
    torch.set_num_threads(1)
    pipeline = transforms.Compose([transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(),
                                   transforms.Normalize(MEAN.tolist(), STD.tolist())])
    return lambda data: pipeline(Image.open(io.BytesIO(data)).convert("RGB"))


def rate(load, files, seconds):
    """Images per second of this process's CPU time: other programs on the machine then count less."""
    random.seed(1)
    n, begin = 0, time.process_time()
    while time.process_time() - begin < seconds:
        load(files[n % len(files)])
        n += 1
    return n / (time.process_time() - begin)


def ours(binary, folder, seconds, name="BM_TrainingImage"):
    out = subprocess.run([binary, f"--benchmark_filter=^{name}$", f"--benchmark_min_time={seconds}", "--benchmark_format=json"],
                         env={**os.environ, "ERG_BENCH_IMAGES": str(folder)}, check=True, capture_output=True, text=True).stdout
    return 1e9 / json.loads(out)["benchmarks"][0]["cpu_time"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--photos", type=int, default=100)
    args = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        files = make_photos(folder, args.photos)
        runs = {"ergometer": lambda: ours(args.binary, folder, args.seconds), "Pillow": lambda: rate(pillow, files, args.seconds)}
        if loader := torchvision_loader():
            runs["torchvision"] = lambda: rate(loader, files, args.seconds)
        results = {name: [] for name in runs}
        for _ in range(args.rounds):
            for name, run in runs.items():
                results[name].append(run())
    for name, values in results.items():
        median = statistics.median(values)
        print(f"{name:12} {median:7.1f} images/s a core  ({min(values):.1f} to {max(values):.1f})"
              f"  ergometer / it {statistics.median(results['ergometer']) / median:.2f}")


if __name__ == "__main__":
    main()
