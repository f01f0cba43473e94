"""How often intervals of simulated matches hold the true mean: at set numbers of deals, and where matches stop.

Matches are drawn from a formula with a known mean, or from the deals of stored matches, with replacement, where the
mean of all deals of a table is the truth. The same deals are tried by chips and, where known, by AIVAT.
"""

import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.evaluation.matches.results import Results, chip_value
from poker.play.lineup import LineUp
from poker.report.estimates import FEW_UNITS, estimate, t_quantile
from tests.games import load_rules
from tests.report.skewed import SKEWED_MEAN, SKEWED_SD, skewed_results

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]

DEALS = (50, 100, 200, FEW_UNITS, 1000)
LONGEST = 1500
WANTED_STOP = 550
LEAST, MOST = 0.93, 0.97
LEAST_WARNED = 0.85
"""Share of matches that reports must warn about where fewer than `LEAST` of the intervals hold the mean."""
LEAST_SERIES = 0.9
"""Share of stored series that must hold `LEAST` from `FEW_UNITS` deals on."""


def coverage(draw: Draw, mean: float, sd: float, matches: int, seed: int) -> dict[str, Any]:
    """Shares of matches whose interval holds the mean: ours, that of Student's t, and ours where matches stop.

    They stop at a half-width that `WANTED_STOP` normal deals would have, at the latest after `LONGEST` deals.
    """
    rng = np.random.default_rng(seed)
    inside, of_t = dict.fromkeys(map(str, DEALS), 0), dict.fromkeys(map(str, DEALS), 0)
    stopped, lengths = 0, []
    rules = load_rules("leduc")
    wanted = t_quantile(WANTED_STOP) * sd / WANTED_STOP**0.5
    for _ in range(matches):
        deals = draw(rng, LONGEST)
        for n in DEALS:
            result = estimate(deals[:n])
            inside[str(n)] += bool(result.low <= mean <= result.high)
            of_t[str(n)] += bool(abs(result.mean - mean) <= t_quantile(n - 1) * result.sd / n**0.5)
        table = Results(rules, LineUp(("a", "b")), [(0, 1)], 1, log=Path())
        table.fill(np.stack([deals, -deals], axis=1)[:, None, None] / chip_value(rules, "mbb"))
        table.check_stop(wanted)
        lengths.append(table.stopped_at or LONGEST)
        result = estimate(deals[: lengths[-1]])
        stopped += bool(result.low <= mean <= result.high)
    return {
        "by_deals": {n: count / matches for n, count in inside.items()},
        "by_deals_of_student_t": {n: count / matches for n, count in of_t.items()},
        "stopped": stopped / matches,
        "median_stop": float(np.median(lengths)),
    }


def of_formula(matches: int) -> dict[str, Any]:
    result = coverage(skewed_results, SKEWED_MEAN, SKEWED_SD, matches, 1)
    shares = [*result["by_deals"].values(), result["stopped"]]
    return {"coverage": "formula", "matches": matches, **result, "ok": LEAST <= min(shares) <= max(shares) <= MOST}


def of_tails(matches: int) -> dict[str, Any]:
    """Shares of matches with heavy and light tails whose interval holds the mean, and that reports warn about."""
    rng = np.random.default_rng(2)
    rows: list[dict[str, Any]] = []
    tails: dict[str, tuple[Draw, float]] = {
        "a loss of 400 in one deal of 300": (lambda rng, n: np.where(rng.random(n) < 1 / 300, -400.0, 0.0), -4 / 3),
        **{f"lognormal, sigma {s}": (partial(_lognormal, s), math.exp(s**2 / 2)) for s in (1.0, 2.0, 2.5)},
        "as our agents'": (skewed_results, SKEWED_MEAN),
        "exponential": (lambda rng, n: rng.exponential(size=n), 1.0),
        "normal": (lambda rng, n: rng.normal(size=n), 0.0),
    }
    for (name, (draw, mean)), n in product(tails.items(), (FEW_UNITS, 1000)):
        results = [estimate(draw(rng, n)) for _ in range(matches)]
        inside = sum(one.has_interval and one.low <= mean <= one.high for one in results)
        warned = sum(one.has_few_large for one in results)
        rows.append({"results": name, "deals": n, "held": inside / matches, "warned": warned / matches})
    ok = all(row["held"] >= LEAST or row["warned"] >= LEAST_WARNED for row in rows)
    return {"coverage": "tails", "matches": matches, "rows": rows, "ok": ok}


def _lognormal(sigma: float, rng: np.random.Generator, n: int) -> Floats:
    return rng.lognormal(0.0, sigma, n)


def of_stored(folders: Sequence[Path], matches: int) -> dict[str, Any]:
    """All heads-up tables with at least 1,000 deals and without memory among `hands` folders."""
    series: dict[str, dict[str, Any]] = {}
    for path in sorted(path for folder in folders for path in folder.glob("*.log")):
        for by, deals in stored_deals(path).items():
            if len(deals) >= max(DEALS):
                z = (deals - deals.mean()) / deals.std()
                series[f"{by}, {path.stem}"] = {
                    "deals": len(deals),
                    "skewness": round(float((z**3).mean()), 2),
                    "kurtosis": round(float((z**4).mean()), 1),
                    **coverage(_resampled(deals), deals.mean(), deals.std(), matches, len(series)),
                }
    columns = {f"{n} deals": [row["by_deals"][str(n)] for row in series.values()] for n in DEALS}
    of_t = {f"{n} deals, Student's t": [row["by_deals_of_student_t"][str(n)] for row in series.values()] for n in DEALS}
    columns |= {"stopped": [row["stopped"] for row in series.values()], **of_t}
    summary = {
        name: {
            "series": len(shares),
            f"at_least_{LEAST}": sum(share >= LEAST for share in shares),
            f"{LEAST}_to_{MOST}": sum(LEAST <= share <= MOST for share in shares),
            "lowest": min(shares),
            "median": float(np.median(shares)),
            "highest": max(shares),
        }
        for name, shares in columns.items()
        if shares
    }
    trusted = [summary[name][f"at_least_{LEAST}"] for name in (f"{FEW_UNITS} deals", "1000 deals", "stopped") if series]
    return {
        "coverage": "stored matches",
        "matches": matches,
        "summary": summary,
        "by_series": series,
        "ok": bool(series) and min(trusted) >= LEAST_SERIES * len(series),
    }


def _resampled(deals: Floats) -> Draw:
    return lambda rng, n: deals[rng.integers(0, len(deals), n)]


def stored_deals(log: Path) -> dict[str, Floats]:
    """Results [deals] of the first player in chips, means over both seatings, by `chips` and `AIVAT` (plus the mark of
    another value function)."""
    record = json.loads(log.with_suffix(".json").read_text())
    if len(record["table"]) != 2 or record["session"] != 1:
        return {}
    chips: dict[int, float] = {}
    for line in log.read_text().splitlines():
        if line.startswith("STATE:"):
            *_, payoffs, names = line.split(":")
            chips[int(line.split(":")[1])] = float(payoffs.split("|")[names.split("|").index(record["table"][0])])
    by = {"chips": chips}
    for estimates in sorted(log.parent.glob(f"{log.stem}*.aivat.jsonl")):
        rows = map(json.loads, estimates.read_text().splitlines())
        mark = estimates.name.removeprefix(log.stem).removesuffix(".aivat.jsonl")
        by[f"AIVAT{mark}"] = {number: values[0] for number, values, *_ in rows}
    return {
        name: np.array([(hands[i] + hands[i + 1]) / 2 for i in sorted(hands) if i % 2 == 0 and i + 1 in hands])
        for name, hands in by.items()
        if hands
    }
