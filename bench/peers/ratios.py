"""The ratio table, from raw measurements: medians over rounds, ratios within a round, their spread, met or missed. Only arithmetic here."""
import statistics

from cases import MEMORY

OURS, LIMIT = "Ergometer", "limit"
NOT_AGAIN = " ¹"
LOSES_BY = 1.05  # a configuration this much slower than its peer's fastest in the first round is not measured again


class Results:
    """Measurements are dicts: case, who (OURS, LIMIT or a configuration's name), round, and rate and peak_rss_bytes, or missing: why."""

    def __init__(self, measurements):
        self.measurements = measurements

    def of(self, case, who):
        return {m["round"]: m for m in self.measurements if m["case"] == case.name and m["who"] == who and "rate" in m}

    def why_missing(self, case, who):
        return next((m["missing"] for m in self.measurements if m["case"] == case.name and m["who"] == who and "missing" in m), None)

    def rate(self, case, who):
        rates = [m["rate"] for m in self.of(case, who).values()]
        return statistics.median(rates) if rates else None

    def peak(self, case, who):
        peaks = [m["peak_rss_bytes"] for m in self.of(case, who).values() if "peak_rss_bytes" in m]
        return statistics.median(peaks) if peaks else None

    def ratios(self, case, who):
        """Ours / theirs, of every round that has both."""
        ours, theirs = self.of(case, OURS), self.of(case, who)
        return [ours[r]["rate"] / theirs[r]["rate"] for r in sorted(ours.keys() & theirs.keys())]

    def fastest(self, case, against):
        """The name of the configuration of a peer that comes nearest to us, by its ratios: rates of different rounds do not compare."""
        ratios = {c.name: self.ratios(case, c.name) for c in case.configs if c.name.startswith(against)}
        ratios = {name: statistics.median(r) for name, r in ratios.items() if r}
        return min(ratios, key=ratios.get, default=None)

    def loses(self, case, config):
        """Whether a configuration need not be measured again: slower in its first round than another that every reach allows instead."""
        first = min(self.of(case, config.name), default=None)
        if first is None:
            return False
        reaches = [r for r in case.reaches if config.name.startswith(r.against)]
        for reach in reaches:
            rivals = [self.of(case, c.name).get(first) for c in case.configs if c.name.startswith(reach.against)]
            best = max(m["rate"] for m in rivals if m)
            if best < LOSES_BY * self.of(case, config.name)[first]["rate"]:
                return False
        return bool(reaches)


def number(x):
    return f"{x:.0f}" if x >= 1000 else f"{x:.1f}" if x >= 100 else f"{x:.2f}"


def spread(ratios):
    return f"**{statistics.median(ratios):.2f}** ({min(ratios):.2f}–{max(ratios):.2f})"


def judged(reached, wanted, above=True):
    met = reached >= wanted if above else reached <= wanted
    return f"{'≥' if above else '≤'} {wanted:g}: " + ("met" if met else f"**missed** by {abs(reached / wanted - 1):.0%}")


def reach_of(results, case, name):
    """What this row decides: the reach whose fastest configuration it is."""
    words = []
    for reach in case.reaches:
        if not name.startswith(reach.against) or results.fastest(case, reach.against) != name:
            continue
        ratio = statistics.median(results.ratios(case, name))
        shares = results.ratios(case, LIMIT)
        if reach.or_limit and ratio < reach.ratio and shares and statistics.median(shares) >= reach.or_limit:
            words.append(f"≥ {reach.ratio:g} or {reach.or_limit:.0%} of the limit: met by the latter")
        else:
            words.append(judged(ratio, reach.ratio))
    return ", ".join(words)


def memory_of(results, case, config):
    ours, theirs = results.peak(case, OURS), results.peak(case, config.name)
    if not ours or not theirs:
        return ""
    text = f"{ours / 1e9:.2f} / {theirs / 1e9:.2f} GB = {ours / theirs:.2f}"
    peaks = {c.name: results.peak(case, c.name) for c in case.configs if c.peer == "torch"}
    peaks = {name: peak for name, peak in peaks.items() if peak}
    if config.name in peaks and min(peaks, key=peaks.get) == config.name:
        text += ", " + judged(ours / theirs, MEMORY, above=False)
    return text


def row(results, case, name, ratios, reach, memory=""):
    label = name
    if name == LIMIT:
        label = "limit: " + ("convolutions" if case.workload == "resnet50" else "products") + " alone"
    elif len(results.of(case, name)) < len(results.of(case, OURS)):
        label += NOT_AGAIN
    ours, theirs = number(results.rate(case, OURS)), number(results.rate(case, name))
    return f"| {case.title} | {label} | {ours} | {theirs} {case.unit} | {spread(ratios)} | {reach} | {memory} |"


def table(results, cases):
    """Lines of Markdown."""
    lines = ["| workload | against | our rate | its rate | ratio, median (range) | reach | peak memory, ours / its |", "|---|---|---|---|---|---|---|"]
    missing = []
    for case in cases:
        for name in (OURS, LIMIT, *(c.name for c in case.configs)):
            if not results.of(case, name) and (why := results.why_missing(case, name)):
                missing.append(f"- {case.title}, {name}: not measured: {why}")
        if not results.of(case, OURS):
            continue
        for config in case.configs:
            if ratios := results.ratios(case, config.name):
                reach, memory = reach_of(results, case, config.name), memory_of(results, case, config)
                lines.append(row(results, case, config.name, ratios, reach, memory))
        if ratios := results.ratios(case, LIMIT):
            lines.append(row(results, case, LIMIT, ratios, judged(statistics.median(ratios), case.limit) if case.limit else ""))
    if any(NOT_AGAIN in line for line in lines):
        lines += ["", f"{NOT_AGAIN.strip()} not in every round: over {LOSES_BY - 1:.0%} slower in the first round than another configuration of its peer, so not measured again, or it failed."]
    return lines + ([""] + missing if missing else [])
