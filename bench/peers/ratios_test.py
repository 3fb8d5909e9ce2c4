"""The arithmetic of the ratio table, on rates made up here."""
import unittest

from cases import CASES
from ratios import LIMIT, OURS, Results, table

CASE = next(c for c in CASES if c.name == "resnet50-32-fp32")
EAGER, COMPILE = "PyTorch eager, channels_last", "PyTorch compile, channels_last"


def measured(who, *rates, peak=1e9, first=1):
    return [{"case": CASE.name, "who": who, "round": first + i, "rate": r, "peak_rss_bytes": peak} for i, r in enumerate(rates)]


def line_of(measurements, label):
    return next(line for line in table(Results(measurements), [CASE]) if f"| {label}" in line)


class Ratios(unittest.TestCase):
    def test_the_ratio_is_the_median_of_each_rounds_own(self):
        # ratios 2, 1.5 and 1: their median is 1.5, while the medians' ratio would be 10 / 6
        line = line_of(measured(OURS, 8, 12, 10) + measured(EAGER, 4, 8, 10), EAGER)
        self.assertIn("**1.50** (1.00–2.00)", line)

    def test_rounds_that_only_one_of_them_has_give_no_ratio(self):
        self.assertEqual(Results(measured(OURS, 8, 12) + measured(EAGER, 4, first=2)).ratios(CASE, EAGER), [3.0])

    def test_the_fastest_configuration_decides(self):
        all_of_it = measured(OURS, 10) + measured(EAGER, 5) + measured(COMPILE, 9)
        self.assertIn("≥ 1.2: **missed** by 7%", line_of(all_of_it, COMPILE))  # 10 / 9 = 1.11 of 1.2
        self.assertNotIn("≥", line_of(all_of_it, EAGER).split("|")[6])

    def test_a_configuration_of_one_fast_round_does_not_decide(self):
        # the machine was twice as fast in round 1, the only one that eager has: 20 / 10 there, compile 20 / 12, 10 / 6, 10 / 6
        all_of_it = measured(OURS, 20, 10, 10) + measured(EAGER, 10) + measured(COMPILE, 12, 6, 6)
        self.assertEqual(Results(all_of_it).fastest(CASE, "PyTorch"), COMPILE)

    def test_the_limit_may_stand_in_for_a_ratio(self):
        all_of_it = measured(OURS, 10) + measured(COMPILE, 9)
        self.assertIn("met by the latter", line_of(all_of_it + measured(LIMIT, 11), COMPILE))  # 91 % of it
        self.assertIn("missed", line_of(all_of_it + measured(LIMIT, 12), COMPILE))  # 83 %

    def test_memory_is_held_against_the_configuration_that_needs_least(self):
        all_of_it = measured(OURS, 10, peak=1.7e9) + measured(EAGER, 5, peak=2e9) + measured(COMPILE, 9, peak=3e9)
        self.assertIn("1.70 / 2.00 GB = 0.85, ≤ 0.8: **missed** by 6%", line_of(all_of_it, EAGER))
        self.assertIn("1.70 / 3.00 GB = 0.57 |", line_of(all_of_it, COMPILE))

    def test_what_loses_the_first_round_is_not_measured_again(self):
        results = Results(measured(OURS, 10) + measured(EAGER, 9) + measured(COMPILE, 9.5))  # 5.6 % apart
        eager, compiled = CASE.configs[:2]
        self.assertTrue(results.loses(CASE, eager))
        self.assertFalse(results.loses(CASE, compiled))
        self.assertFalse(results.loses(CASE, CASE.configs[2]))  # not measured yet

    def test_near_ties_and_configurations_with_a_reach_of_their_own_stay(self):
        results = Results(measured(OURS, 10) + measured(EAGER, 9.1) + measured(COMPILE, 9.5))  # 4.4 % apart
        self.assertFalse(results.loses(CASE, CASE.configs[0]))
        gpt = next(c for c in CASES if c.name == "gpt-4x512-bf16")
        rates = [{"case": gpt.name, "who": c.name, "round": 1, "rate": r} for c, r in zip(gpt.configs, (300, 390))]
        self.assertFalse(Results(rates).loses(gpt, gpt.configs[0]))

    def test_what_is_missing_says_why(self):
        lines = table(Results(measured(OURS, 10) + [{"case": CASE.name, "who": EAGER, "round": 1, "missing": "no network"}]), [CASE])
        self.assertIn(f"- {CASE.title}, {EAGER}: not measured: no network", lines)


if __name__ == "__main__":
    unittest.main()
