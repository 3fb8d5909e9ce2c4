#!/usr/bin/env bash
# How long `ergometer list` takes over many stored runs: cold (no index), warm, with one run changed, and to JSON. Usage:
#   bench/store.sh [RUNS=10000] [BINARY=build/release/bin/ergometer]
# The runs are copies of one real run of gpt-tiny, made in a temporary folder.
set -eu
runs=${1:-10000} erg=${2:-build/release/bin/ergometer}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export ERGOMETER_RESULTS=$dir/results
$erg run gpt-tiny --device ref --set measure.warmup_min_s=0 --set measure.settle_max_s=0 --set measure.duration_s=0.1 >/dev/null 2>&1
python3 - "$ERGOMETER_RESULTS" "$runs" <<'PY'
import os, sys
folder, runs = sys.argv[1], int(sys.argv[2])
first = next(n for n in os.listdir(folder) if n.startswith("20"))
record = open(f"{folder}/{first}/record.json").read()
samples = open(f"{folder}/{first}/samples.json").read()
for i in range(runs - 1):
    name = f"20260101T{i:06d}.000Z-h-{i:06x}"
    os.mkdir(f"{folder}/{name}")
    open(f"{folder}/{name}/record.json", "w").write(record.replace(first, name))
    open(f"{folder}/{name}/samples.json", "w").write(samples)
PY
seconds() {
  local begin=$EPOCHREALTIME
  "${@:2}" >/dev/null
  awk -v a="$begin" -v b="$EPOCHREALTIME" -v name="$1" 'BEGIN { printf "%-36s %7.3f s\n", name, b - a }'
}
echo "$runs runs"
seconds "list, no index yet" $erg list
for _ in 1 2 3; do seconds "list, index up to date" $erg list; done
one=$(find "$ERGOMETER_RESULTS" -maxdepth 1 -name '20260101*' | head -1)
cp "$one/record.json" "$one/new" && mv "$one/new" "$one/record.json"
seconds "list, one run changed" $erg list
seconds "list --limit 20" $erg list --limit 20
seconds "list --json -" $erg list --json -
