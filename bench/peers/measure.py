"""How every peer written in Python is timed, and what it prints: one line of JSON."""
import argparse, json, statistics, time


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--precision", choices=["bf16", "fp32"], required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--seconds", type=float, default=25.0, help="of measuring, and at least four steps")
    return parser


def step_times(step, seconds, warmup=2, fewest=4):
    """Seconds of each step. `step` returns when its work is done."""
    for _ in range(warmup):  # the first compiles, where something compiles
        step()
    times, end = [], time.perf_counter() + seconds
    while len(times) < fewest or time.perf_counter() < end:
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times


def peak_rss():
    """Of this process alone, not of compilers it started."""
    with open("/proc/self/status") as status:
        return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def summary(samples, times):
    return {"rate": samples / statistics.median(times), "best": samples / min(times), "steps": len(times)}


def report(version, samples, times):
    print(json.dumps({"version": version, "peak_rss_bytes": peak_rss(), **summary(samples, times)}))
