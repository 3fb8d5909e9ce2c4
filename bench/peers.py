#!/usr/bin/env python3
"""Ergometer and its peers in alternation, and the table of ratios as Markdown.

    make peers                                                     # everything: hours, and GB to download
    bench/peers.py --only resnet50-32-bf16 gpt-4x512-bf16 --rounds 1 --json raw.json
    bench/peers.py --continue raw.json --rounds 2 --write docs/performance.md

Every round runs each case of peers/cases.py: Ergometer, each configuration of the peers, then the limit (bounds.cpp), in processes of
their own, with equally many threads. Ratios are taken within a round. Ergometer's rate is samples / time of its whole window; a peer's is
that of its median step, which favours the peer. Memory is each process's peak resident set. Keep the machine quiet.
"""
import argparse, datetime, json, os, pathlib, subprocess, sys, tempfile, threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "peers"))

import llmc
from cases import CASES
from prepare import NAMES, Missing, Peers, last_lines
from ratios import LIMIT, OURS, Results, table

BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"


def run(command, threads=None, limit_s=3600, folder=None):
    """The JSON that a command prints last, and its peak resident set. Raises Missing with its last words."""
    environment = dict(os.environ)
    if threads:
        environment["OMP_NUM_THREADS"] = str(threads)
    if folder:
        environment["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "inductor")
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen([str(word) for word in command], stdout=out, stderr=err, env=environment)
        timer = threading.Timer(limit_s, process.kill)
        timer.daemon = True
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), err.seek(0)
        text, errors = out.read(), err.read()
    if process.returncode != 0:
        raise Missing(f"exit code {process.returncode}: {last_lines(errors or text)}")
    try:
        return json.loads(text if text.startswith("{\n") else text.strip().splitlines()[-1]), 1024 * usage.ru_maxrss
    except (ValueError, IndexError):
        raise Missing(f"printed no JSON: {last_lines(text + errors)}") from None


class Session:
    """Raw numbers, written after every measurement, so that nothing is lost when it is stopped."""

    def __init__(self, args, raw):
        self.args, self.raw = args, raw
        self.build, self.folder = pathlib.Path(args.build), (pathlib.Path(args.build).parent / "peers").resolve()
        for program in ("ergometer", "bounds") if args.rounds > 0 else ():
            if not (self.build / "bin" / program).is_file():
                sys.exit(f"peers.py: {self.build}/bin/{program} is not there\n  fix: make program, cmake --build {self.build} --target "
                         "bounds, or name another build with --build")
        self.folder.mkdir(parents=True, exist_ok=True)
        self.peers = Peers(self.folder, {"torch": args.torch_python, "tensorflow": args.tf_python, "llmc": args.llmc})
        self.threads = len(os.sched_getaffinity(0))

    def ours(self, case):
        command = [self.build / "bin/ergometer", "run", case.workload, *case.settings, "--results", self.folder / "results", "--json", "-"]
        for key in (f"measure.max_time_s={self.args.seconds:g}", "measure.settle_max_s=6", "measure.check=false",
                    "workload.validation_steps=0"):
            command += ["--set", key]
        record, peak = run(command)
        rate = record["metrics"][case.unit.replace("/", "_per_")]["value"]
        if rate is None:
            raise Missing(f"{record['status']}: {record['status_reason']}")
        environment = record["environment"]
        self.threads = environment["engine"]["threads"]
        self.raw["machine"] = (f"{environment['cpu']['model']}, {self.threads} threads, {environment['engine']['isa']}, "
                               f"{environment['memory']['total_bytes'] / 2**30:.0f} GiB, {environment['host']['kernel']}")
        dirty = "" if environment["binary"]["git_dirty"] == "false" else " (changed)"
        self.raw["versions"][OURS] = f"{environment['binary']['git_revision'][:7]}{dirty}, {environment['engine']['library']}"
        return {"rate": rate, "peak_rss_bytes": peak, "steps": record["phases"]["measure_steps"],
                "flags": [flag["code"] for flag in record["flags"]]}

    def limit(self, case):
        bound, _ = run([self.build / "bin/bounds", case.workload, *case.settings, "--json", "-"])
        return {"rate": bound["limit"], "bounds": {b["name"]: b["rate"] for b in bound["bounds"]}}

    def peer(self, case, config):
        program = self.peers.get(config.peer)
        if config.peer == "llmc":
            self.raw["versions"][NAMES["llmc"]] = self.peers.llmc_version
            try:
                return llmc.train(program, self.threads, self.args.seconds)
            except (OSError, RuntimeError) as error:
                raise Missing(str(error)) from None
        result, _ = run([program, HERE / "peers" / config.program, *case.peer_arguments, *config.flags, "--threads", self.threads,
                         "--seconds", self.args.seconds], self.threads, folder=self.folder)
        self.raw["versions"][NAMES[config.peer]] = result.pop("version")
        return result

    def measure(self, case, who, number, work):
        entry = {"case": case.name, "who": who, "round": number}
        try:
            entry |= work()
            print(f"round {number}  {case.title:32} {who:32} {entry['rate']:9.2f} {case.unit}", file=sys.stderr)
        except Missing as why:
            entry["missing"] = str(why)
            print(f"round {number}  {case.title:32} {who:32} not measured: {why}", file=sys.stderr)
        self.raw["measurements"].append(entry)
        if self.args.json:
            new = pathlib.Path(f"{self.args.json}.new")
            new.write_text(json.dumps(self.raw, indent=1) + "\n")
            new.rename(self.args.json)

    def round(self, number, cases):
        for case in cases:
            results = Results(self.raw["measurements"])
            lost = {c.name for c in case.configs if not self.args.all_configurations and results.loses(case, c)}
            self.measure(case, OURS, number, lambda: self.ours(case))
            for config in case.configs:
                if config.name not in lost:
                    self.measure(case, config.name, number, lambda: self.peer(case, config))
            self.measure(case, LIMIT, number, lambda: self.limit(case))


def markdown(raw, cases):
    rounds = sorted({m["round"] for m in raw["measurements"]})
    busy = [m for m in raw["measurements"] if {"busy_host", "cpu_steal"} & set(m.get("flags", ()))]
    ours = [m for m in raw["measurements"] if m["who"] == OURS and "rate" in m]
    lines = [f"Machine: {raw.get('machine', 'unknown')}. {', '.join(raw['dates'])}, {len(rounds)} alternating rounds, windows of "
             f"{raw['seconds']:g} s. " + "; ".join(f"{name} {version}" for name, version in sorted(raw["versions"].items())) + ".", "",
             f"Made by `{raw['command']}`.", ""]
    if busy:
        lines += [f"Other work disturbed {len(busy)} of Ergometer's {len(ours)} runs (`busy_host` or `cpu_steal`).", ""]
    return "\n".join(lines + table(Results(raw["measurements"]), cases)) + "\n"


def write_between_markers(path, text):
    whole = pathlib.Path(path).read_text()
    if whole.count(BEGIN) != 1 or whole.count(END) != 1:
        sys.exit(f"peers.py: {path}: {BEGIN} and {END} must stand in it once each")
    before, after = whole.split(BEGIN)[0], whole.split(END)[1]
    pathlib.Path(path).write_text(f"{before}{BEGIN}\n{text}{END}{after}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the cases and end")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these cases; a beginning of a name is enough")
    parser.add_argument("--rounds", type=int, default=3, help="0 with --continue: only print")
    parser.add_argument("--seconds", type=float, default=25, help="of each measuring window")
    parser.add_argument("--json", metavar="FILE", help="keep the raw numbers")
    parser.add_argument("--continue", dest="resume", metavar="FILE", help="add rounds to the raw numbers in FILE")
    parser.add_argument("--write", metavar="FILE", help=f"put the table into FILE, between {BEGIN} and {END}")
    parser.add_argument("--all-configurations", action="store_true", help="measure losing configurations of a peer in every round")
    parser.add_argument("--build", default="build/release", metavar="DIR")
    parser.add_argument("--torch-python", type=pathlib.Path, metavar="PATH", help="a Python that has torch, instead of installing it")
    parser.add_argument("--tf-python", type=pathlib.Path, metavar="PATH", help="a Python that has tensorflow")
    parser.add_argument("--llmc", type=pathlib.Path, metavar="PATH", help="a checkout of llm.c")
    return parser.parse_args()


def main():
    args = parse()
    cases = [c for c in CASES if not args.only or any(c.name.startswith(name) for name in args.only)]
    if not cases:
        sys.exit(f"peers.py: --only: no case begins with {' or '.join(args.only)}\n  fix: bench/peers.py --list")
    if args.list:
        for case in cases:
            print(f"{case.name:20} {case.title:32} {', '.join(c.name for c in case.configs)}")
        return
    args.json = args.json or args.resume
    raw = {"command": "bench/peers.py", "seconds": args.seconds, "dates": [], "versions": {}, "measurements": []}
    if args.resume:
        raw = json.loads(pathlib.Path(args.resume).read_text())
        args.seconds = raw["seconds"]
    else:
        options = ([f"--only {' '.join(args.only)}"] if args.only else []) + [f"--rounds {args.rounds}", f"--seconds {args.seconds:g}"]
        raw["command"] += " " + " ".join(options)
    session = Session(args, raw)
    first = 1 + max((m["round"] for m in raw["measurements"]), default=0)
    today = datetime.date.today().isoformat()
    if args.rounds > 0 and today not in raw["dates"]:
        raw["dates"].append(today)
    for number in range(first, first + args.rounds):
        session.round(number, cases)
    measured = [c for c in CASES if any(m["case"] == c.name for m in raw["measurements"])]
    text = markdown(raw, measured)
    print(text, end="")
    if args.write:
        write_between_markers(args.write, text)


if __name__ == "__main__":
    main()
