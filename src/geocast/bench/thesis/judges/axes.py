"""Claims on jobs, publications, cores, subscriptions, memory, points, predicates and rivals."""

from __future__ import annotations

from geocast.bench.thesis.door import REPRESENTATIVES
from geocast.bench.thesis.evidence import Evidence, MissingError, mean
from geocast.bench.thesis.figures import JOINS, OVERHEAD
from geocast.bench.thesis.judges.words import (
    Judgement,
    alike,
    first_factor,
    growth,
    last,
    last_factor,
    told,
)
from geocast.bench.thesis.rivals import CENTRAL, JOINED, MATCH, UNIQUE
from geocast.bench.thesis.setting import NotMeasurableError
from geocast.bench.thesis.sizes import family

__all__ = [
    "central_alike",
    "dynamic_bounded",
    "dynamic_sublinear",
    "four_jobs",
    "jobs_raise_both",
    "kafka",
    "linear",
    "overhead",
    "points",
    "predicates",
    "publications",
    "rihps_last_on_points",
    "ris_leads_streams",
    "sedona",
    "static_memory",
    "subscriptions",
]

_FOUR = 4
_FEW_PARTITIONS, _MANY_PARTITIONS = 32, 128


def jobs_raise_both(evidence: Evidence) -> Judgement:
    """Throughput and latency, from one job to the most."""
    factors = {
        word: {name: growth(evidence.line(figure, name)) for name in evidence.series(figure)}
        for word, figure in (("throughput", "8.20"), ("latency", "8.21"))
    }
    holds = all(min(by_name.values()) > 1 for by_name in factors.values())
    return holds, "; ".join(f"{word} by {told(found)}" for word, found in factors.items())


def four_jobs(evidence: Evidence) -> Judgement:
    """What four jobs give up of throughput and save in latency."""
    shares = []
    for name in evidence.series("8.20"):
        rate, latency = evidence.line("8.20", name), evidence.line("8.21", name)
        if _FOUR not in rate or max(rate) <= _FOUR:
            raise MissingError("at this scale there are no more than four jobs")
        shares.append((rate[_FOUR] / max(rate.values()), latency[_FOUR] / max(latency.values())))
    speed, delay = mean(share for share, _ in shares), mean(share for _, share in shares)
    found = f"{speed:.2f} of the best throughput at {delay:.2f} of the worst latency"
    return speed >= 0.8 and delay <= 0.7, found


def ris_leads_streams(evidence: Evidence) -> Judgement:
    """Throughput and latency of streams, on average over the numbers of jobs."""
    names = evidence.series("8.20")
    rates = {name: mean(evidence.curve("8.20", name).values()) for name in names}
    delays = {name: mean(evidence.curve("8.21", name).values()) for name in names}
    fastest, soonest = max(rates, key=lambda n: rates[n]), min(delays, key=lambda n: delays[n])
    found = (
        f"fastest {fastest} ({rates[fastest]:,.0f}/s), soonest {soonest} ({delays[soonest]:.2f} s)"
    )
    return family(fastest) == family(soonest) == "RIS", found


def kafka(evidence: Evidence) -> Judgement:
    """With how many Kafka partitions each is best."""
    rows = [row for row in evidence.rows if row["figure"] == "8.22"]
    impossible = [row["reason"] for row in rows if row["reason"]]
    if impossible and not impossible[0].startswith("failed"):
        raise NotMeasurableError(impossible[0])
    names = evidence.series("8.22")
    best = {}
    for name in names:
        curve = evidence.curve("8.22", name)
        if not {_FEW_PARTITIONS, _MANY_PARTITIONS} <= set(curve):
            raise MissingError(f"{name} was not measured with 32 and 128 Kafka partitions")
        best[name] = max(curve, key=lambda x: curve[x])
    holds = all(
        place == (_MANY_PARTITIONS if family(name) == "RIS" else _FEW_PARTITIONS)
        for name, place in best.items()
    )
    return holds, "best with: " + ", ".join(f"{name} {at:.0f}" for name, at in best.items())


def publications(evidence: Evidence) -> Judgement:
    """Growth with publications, and whether it fades."""
    curves = {name: evidence.line("8.23", name, 3) for name in evidence.series("8.23")}
    factors = {name: growth(curve) for name, curve in curves.items()}
    fades = all(first_factor(curve) > last_factor(curve) for curve in curves.values())
    return min(factors.values()) > 1 and fades, f"from fewest to most by {told(factors)}"


def linear(evidence: Evidence) -> Judgement:
    """Growth with cores."""
    curves = {name: evidence.line("8.24", name) for name in evidence.series("8.24")}
    shares = {name: growth(curve) / (max(curve) / min(curve)) for name, curve in curves.items()}
    holds = all((share >= 0.8) == (family(name) != "RIhPS") for name, share in shares.items())
    return holds, f"of the factor of cores: {told(shares)}"


def subscriptions(evidence: Evidence) -> Judgement:
    """How throughput falls with subscriptions."""
    curves = {name: evidence.line("8.25", name) for name in evidence.series("8.25")}
    falls = {name: 1 / growth(curve) for name, curve in curves.items()}
    holds = all(falls[name] < max(curve) / min(curve) for name, curve in curves.items())
    most = max(max(curve) / min(curve) for curve in curves.values())
    return holds, f"subscriptions grow {most:,.0f} times; throughput falls by {told(falls)}"


def static_memory(evidence: Evidence) -> Judgement:
    """RIS's static memory a worker, as a multiple of the others'."""
    ris = last(evidence.curve("8.26", evidence.of("8.26", "RIS")))
    others = [name for name in evidence.series("8.26") if family(name) != "RIS"]
    times = {name: ris / max(last(evidence.curve("8.26", name)), 1) for name in others}
    if not times:
        raise MissingError("only RIS was measured")
    return min(times.values()) >= 1.5, f"RIS takes, compared with each: {told(times)}"


def dynamic_sublinear(evidence: Evidence) -> Judgement:
    """Growth of dynamic memory with subscriptions."""
    curves = {name: evidence.line("8.27", name) for name in evidence.series("8.27")}
    factors = {name: last(c) / max(next(iter(c.values())), 1) for name, c in curves.items()}
    holds = all(factors[name] < max(curve) / min(curve) for name, curve in curves.items())
    most = max(max(curve) / min(curve) for curve in curves.values())
    return holds, f"subscriptions grow {most:,.0f} times; dynamic memory by {told(factors)}"


def dynamic_bounded(evidence: Evidence) -> Judgement:
    """The most dynamic memory of any but RIhPS."""
    most = {
        name: max(evidence.curve("8.27", name).values())
        for name in evidence.series("8.27")
        if family(name) != "RIhPS"
    }
    worst = max(most, key=lambda name: most[name])
    return most[worst] < 10e9, f"at most {most[worst] / 1e6:,.0f} MB a worker ({worst})"


def points(evidence: Evidence) -> Judgement:
    """Growth from no points to points only."""
    factors = {name: growth(evidence.line("8.28", name)) for name in evidence.series("8.28")}
    return min(factors.values()) >= 2, f"by {told(factors)}"


def rihps_last_on_points(evidence: Evidence) -> Judgement:
    """Who is last where all are points."""
    rates = {name: evidence.value("8.28", name, 1.0) for name in evidence.series("8.28")}
    if len(rates) < len(REPRESENTATIVES):
        raise MissingError("not all representatives were measured with points only")
    last = min(rates, key=lambda name: rates[name])
    return family(last) == "RIhPS", f"slowest: {last} ({rates[last]:,.0f}/s)"


def predicates(evidence: Evidence) -> Judgement:
    """Groups of predicates, publication first, by throughput relative to mixed predicates."""
    groups = {
        "cheap": ("covers", "equals", "contains"),
        "middle": ("coveredby", "within"),
        "dear": ("crosses", "intersects", "overlaps", "touches"),
    }
    rates: dict[str, list[float]] = {}
    for row in evidence.rows:
        if row["figure"] == "8.29" and row["rate"] is not None:
            rates.setdefault(row["label"], []).append(row["rate"])
    lacking = [name for group in groups.values() for name in group if name not in rates]
    if lacking:
        raise MissingError(f"not measured: {', '.join(lacking)}")
    means = {word: mean(mean(rates[name]) for name in group) for word, group in groups.items()}
    found = ", ".join(f"{word} {value:,.0f}/s" for word, value in means.items())
    return means["cheap"] > means["middle"] > means["dear"], found


def overhead(evidence: Evidence) -> Judgement:
    """RIS on Spark against the same core in threads."""
    pairs = {"RIS[HT]": "CEN[HT]", "RIS": "CEN"}
    shares = {
        f"{name} of {other}": last(evidence.curve("8.30", name))
        / last(evidence.curve("8.30", other))
        for name, other in pairs.items()
    }
    holds = shares["RIS[HT] of CEN[HT]"] >= 0.9
    return holds, told(shares) + _by_publications(evidence)


def _by_publications(evidence: Evidence) -> str:
    """Say how RIS does with more publications; nothing where that was not measured."""
    words = []
    for kind, series in (("recurring", ""), ("unique", UNIQUE)):
        for name in ("RIS", MATCH):
            try:
                spark = evidence.curve(OVERHEAD, f"{name}{series}")
                alone = evidence.curve(OVERHEAD, f"CEN{series}")
            except MissingError:
                continue
            shares = {f"{x:,.0f}": spark[x] / alone[x] for x in spark if x in alone}
            words.append(f"; {name} of CEN by publications, {kind} polygons: {told(shares)}")
    return "".join(words)


def central_alike(evidence: Evidence) -> Judgement:
    """The four indexes of CEN."""
    names = [name for name in CENTRAL if name != "CEN"]
    return alike({name: last(evidence.curve("8.30", name)) for name in names})


def sedona(evidence: Evidence) -> Judgement:
    """SPS and sPIS against Sedona."""
    reasons = [
        row["reason"] for row in evidence.rows if row.get("way") == "sedona" and row["reason"]
    ]
    if reasons:
        raise NotMeasurableError(reasons[0])
    times = {
        name: evidence.value(JOINS, name) / evidence.value(JOINS, f"Sedona {name}")
        for name in JOINED
    }
    return min(times.values()) >= 1.5, f"faster than by Sedona: {told(times)}"
