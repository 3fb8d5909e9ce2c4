#!/usr/bin/env bash
# What a sweep adds to its points: N points that do almost nothing as one sweep, and as N direct runs, in alternating rounds. Usage:
#   bench/sweep_overhead.sh [POINTS=30] [ROUNDS=3] [BINARY=build/release/bin/ergometer]
# Both train the same steps and store the same records; the difference is the parent's files, its fork, and the waiting for each other.
# Then, as an upper bound, all that a sweep's point costs outside the phases of its run: process start, machine facts and records included.
set -eu
points=${1:-30} rounds=${2:-3} erg=${3:-build/release/bin/ergometer}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ERGOMETER_RESULTS=$dir/results
work=(--device ref --set measure.check=false --set measure.warmup_min_s=0 --set measure.settle_max_s=0 --set measure.duration_s=0.01
      --set workload.validation_steps=0)
sweep() { "$erg" sweep gpt-tiny "${work[@]}" --axis "seed=1-$points+1" --json "$dir/runs.json" >/dev/null 2>"$dir/log"; }
direct() { for seed in $(seq "$points"); do "$erg" run gpt-tiny "${work[@]}" --set "seed=$seed" --json "$dir/one.json" >/dev/null 2>"$dir/log"; done; }
TIMEFORMAT='%R %U %S'
for _ in $(seq "$rounds"); do
  for what in sweep direct; do
    rm -rf "$ERGOMETER_RESULTS"
    echo "$what $( { time $what; } 2>&1 )" >>"$dir/times"
  done
done
echo "$points points, $rounds rounds, load $(cut -d' ' -f1 /proc/loadavg) on $(nproc) CPUs"
python3 - "$dir" "$points" <<'PY'
import json, statistics, sys
folder, points = sys.argv[1], int(sys.argv[2])
rows = [line.split() for line in open(f"{folder}/times")]
wall = {w: [1000 * float(r[1]) / points for r in rows if r[0] == w] for w in ("sweep", "direct")}
cpu = {w: [1000 * (float(r[2]) + float(r[3])) / points for r in rows if r[0] == w] for w in ("sweep", "direct")}
for name, t in (("wall", wall), ("CPU", cpu)):
    added = [s - d for s, d in zip(t["sweep"], t["direct"])]
    print(f"{name:4} ms a point: sweep {statistics.median(t['sweep']):.1f}, direct {statistics.median(t['direct']):.1f}, "
          f"added {statistics.median(added):.1f} ({min(added):.1f} to {max(added):.1f})")
runs = json.load(open(f"{folder}/runs.json"))["runs"]
assert all(r["status"] == "PASSED" for r in runs), {r["status"] for r in runs}
inside = sum(r["phases"].get(p, 0) for r in runs for p in ("init_s", "check_s", "warmup_s", "settle_s", "measure_s", "validation_s"))
print(f"outside the runs' phases: {statistics.median(wall['sweep']) - 1000 * inside / len(runs):.1f} ms a point")
PY
