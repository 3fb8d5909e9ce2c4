#!/usr/bin/env bash
# What a point costs beside its own work: a sweep of N points whose runs do almost nothing, against the same points' own phases. Usage:
#   bench/sweep_overhead.sh [POINTS=50] [BINARY=build/release/bin/ergometer]
# Overhead of a point = (wall time of the sweep - time inside the runs' phases) / points. It holds the parent's files and fork, the
# child's start, its capture of the machine, and its records. A second line times the child's start alone (`ergometer version`).
set -eu
points=${1:-50} erg=${2:-build/release/bin/ergometer}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ERGOMETER_RESULTS=$dir/results
begin=$EPOCHREALTIME
$erg sweep gpt-tiny --device ref --axis "seed=1-$points+1" --set measure.check=false --set measure.warmup_min_s=0 --set measure.settle_max_s=0 \
  --set measure.duration_s=0.01 --set workload.validation_steps=0 --json "$dir/runs.json" >/dev/null 2>"$dir/log"
end=$EPOCHREALTIME
python3 - "$dir/runs.json" "$begin" "$end" <<'PY'
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
wall = float(sys.argv[3]) - float(sys.argv[2])
inside = sum(r["phases"].get(p, 0) for r in runs for p in ("init_s", "check_s", "warmup_s", "settle_s", "measure_s", "validation_s"))
assert all(r["status"] == "PASSED" for r in runs), {r["status"] for r in runs}
print(f"{len(runs)} points in {wall:.3f} s, {inside:.3f} s of it in their phases: {1000 * (wall - inside) / len(runs):.1f} ms a point beside its work")
PY
begin=$EPOCHREALTIME
for _ in $(seq 20); do $erg version >/dev/null; done
awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "start of the program alone: %.1f ms\n", 1000 * (b - a) / 20 }'
