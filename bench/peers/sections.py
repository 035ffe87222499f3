"""What compare.py measures, and how."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import platform
import random
import shlex
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime as ort
import torch
from peers import (
    ROOT,
    VARIANTS,
    WINDOW,
    Heed,
    HeedInLoop,
    Onnx,
    Prepared,
    Problem,
    Read,
    Torch,
    best_product,
    heed_library,
)
from report import Markdown, chart, geometric_mean, median_and_best

# Heads, queries and keys, head size.
GRID = [(12, 128, 64), (12, 512, 64), (12, 1024, 64), (12, 2048, 64), (8, 4096, 64), (8, 2048, 128), (16, 64, 32),
        (32, 197, 64), (4, 1000, 80)]  # fmt: skip
INPUT_SETS = 3
SHORTEST = 0.02  # s, of the calls timed at once
REST = 0.05  # s, in which the threads of one library that wait for its next call fall asleep, before that of another


@dataclasses.dataclass
class Ratio:
    """Of two numbers taken in the same rounds: the median of the rounds' ratios, and the ratio of the bests."""

    median: float
    best: float

    @staticmethod
    def of_rounds(above: list[float], below: list[float], best: Callable[[list[float]], float]) -> Ratio:
        return Ratio(statistics.median(a / b for a, b in zip(above, below)), best(above) / best(below))

    def __mul__(self, factor: float) -> Ratio:
        return Ratio(self.median * factor, self.best * factor)

    def __truediv__(self, other: Ratio) -> Ratio:
        return Ratio(self.median / other.median, self.best / other.best)

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.best:.2f})"


@dataclasses.dataclass
class Cell:
    """Seconds per call of each library, and GFLOP/s or the like of each gauge, by round."""

    problem: Problem
    seconds: dict[str, list[float]]
    gauges: dict[str, list[float]]

    def rates(self, name: str, amount: float) -> list[float]:
        """Amounts per second, in units of 1e9."""
        return [1e-9 * amount / taken for taken in self.seconds[name]]

    def speed(self, of: str, over: str) -> Ratio:
        """Of one library over another's."""
        return Ratio.of_rounds(self.seconds[over], self.seconds[of], best=min)

    def over_best_peer(self) -> Ratio | None:
        """heed's speed over that of the fastest peer, which the median tells, and the best the one of bests."""
        peers = [name for name in self.seconds if name.startswith(("PyTorch", "ONNX"))]
        if not peers:
            return None
        typical, best = (min(peers, key=lambda name: of(self.seconds[name])) for of in (statistics.median, min))
        return Ratio(self.speed("heed", typical).median, self.speed("heed", best).best)

    def share(self, name: str, gauge: str) -> Ratio:
        return Ratio.of_rounds(self.rates(name, self.problem.flop), self.gauges[gauge], best=max)


def measure(
    problem: Problem, peers: Sequence, rounds: int, rest: float, gauges: dict[str, Callable[[], float]]
) -> Cell:
    rng = np.random.default_rng(1)
    sets = [problem.inputs(rng) for _ in range(INPUT_SETS)]
    prepared = {peer.name: [peer.prepare(problem, inputs) for inputs in sets] for peer in peers}
    prepared = {name: of_sets for name, of_sets in prepared.items() if of_sets[0] is not None}
    check(problem, prepared)
    repeats = {name: repeats_of(of_sets) for name, of_sets in prepared.items()}
    cell = Cell(problem, {name: [] for name in prepared}, {name: [] for name in gauges})
    for n in range(rounds):
        for name, gauge in gauges.items():
            time.sleep(rest)
            cell.gauges[name].append(gauge())
        for name in random.sample(list(prepared), len(prepared)):
            time.sleep(rest)
            cell.seconds[name].append(time_calls(prepared[name], repeats[name], n))
    return cell


def repeats_of(of_sets: list[Prepared]) -> int:
    """How many calls take the shortest time that is measured."""
    return max(1, round(SHORTEST / of_sets[0].calls / time_calls(of_sets, 2, 0)))


def time_calls(of_sets: list[Prepared], repeats: int, first: int) -> float:
    """Seconds per call, each on the next inputs; where one is short, after one that warms."""
    calls = [of_sets[(first + n) % len(of_sets)].call for n in range(repeats + 1)]
    with of_sets[0].context():
        if repeats > 1:
            calls[-1]()
        start = time.perf_counter()
        for call in calls[:repeats]:
            call()
        return (time.perf_counter() - start) / repeats / of_sets[0].calls


def check(problem: Problem, prepared: dict[str, list[Prepared]]) -> None:
    for n in range(INPUT_SETS):
        results = {}
        for name, of_sets in prepared.items():
            if of_sets[n].result is not None:
                with of_sets[n].context():
                    results[name] = of_sets[n].result(of_sets[n].call()).copy()
        first = next(iter(results))
        for name, result in results.items():
            error = float(np.abs(result - results[first]).max())
            if not error < 1e-4:
                sys.exit(f"{name} and {first} differ by {error} at {problem}")


class Sections:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.markdown = Markdown()
        self.rest = REST if arguments.threads > 1 else 0
        self.library = heed_library(openmp=arguments.threads > 1)
        self.library.heed_set_threads(arguments.threads)
        self.onnx = [Onnx(operator, arguments.threads) for operator in ("Attention", "MultiHeadAttention")]

    def measure(self, problem: Problem, peers: Sequence, **gauges: Callable[[], float]) -> Cell:
        return measure(problem, peers, self.arguments.rounds, self.rest, gauges)

    def peers(self) -> list:
        return [Heed(self.library), Torch(self.arguments.threads), *self.onnx]

    def machine(self) -> str:
        info = dict(
            line.split(":", 1)
            for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
            if ":" in line
        )
        info = {key.strip(): value.strip() for key, value in info.items()}
        name = info.get("model name", platform.processor())
        family = f"family {info.get('cpu family', '?')}, model {info.get('model', '?')}"
        return f"{name} ({family}), {self.arguments.threads} thread{'s' * (self.arguments.threads > 1)}"

    def heading(self) -> None:
        version = subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
        commit = subprocess.run(
            ["git", "-C", str(ROOT), "describe", "--always", "--dirty"], check=False, capture_output=True, text=True
        ).stdout.strip()
        self.markdown.line(f"    python bench/peers/compare.py {shlex.join(sys.argv[1:])}")
        self.markdown.line()
        self.markdown.line(
            f"{self.machine()}, {datetime.date.today()}; heed {commit or '?'} by g++ {version} -O2, which chose "
            f"{self.library.heed_instruction_set().decode()}; PyTorch {torch.__version__}; ONNX Runtime "
            f"{ort.__version__}."
        )
        peak = 0.0
        products: dict[str, float] = {}
        for _ in range(3):
            peak = max(peak, self.library.heed_fma_peak())
            for name, rate in best_product(self.arguments.threads).items():
                products[name] = max(products.get(name, 0), rate)
        text = ", ".join(f"{name} {rate:.1f} ({rate / peak:.2f})" for name, rate in products.items())
        self.markdown.line(f"FMA peak {peak:.1f} GFLOP/s; square matrix products reach, as share of it: {text}.")

    def grid(self) -> None:
        peers = self.peers()
        names = [peer.name for peer in peers]
        self.markdown.table("GFLOP/s of b·h × t × d", "", *names, "heed of FMA peak", "heed / best peer")
        cells = []
        for h, t, d in GRID[: self.arguments.cells]:
            for variant in ("full", "causal"):
                problem = Problem(1, h, h, t, t, d, variant)
                cell = self.measure(problem, peers, peak=self.library.heed_fma_peak)
                cells.append(cell)
                self.markdown.row(
                    f"{h} × {t} × {d}",
                    variant,
                    *(median_and_best(cell.rates(name, problem.flop)) for name in names),
                    str(cell.share("heed", "peak")),
                    str(cell.over_best_peer()),
                )
        self.markdown.line()
        for variants in (("full",), ("causal",), ("full", "causal")):
            some = [cell for cell in cells if cell.problem.variant in variants]
            ratios = [cell.over_best_peer() for cell in some]
            medians, bests = [ratio.median for ratio in ratios], [ratio.best for ratio in ratios]
            mean, least = Ratio(geometric_mean(medians), geometric_mean(bests)), Ratio(min(medians), min(bests))
            self.markdown.line(f"- heed / best peer, {' and '.join(variants)}: geometric mean {mean}, least {least}")
        if self.arguments.svg:
            panels = {
                variant: [
                    (
                        f"{cell.problem.h}×{cell.problem.t}×{cell.problem.d}",
                        {name: cell.share(name, "peak").best for name in names},
                    )
                    for cell in cells
                    if cell.problem.variant == variant
                ]
                for variant in ("full", "causal")
            }
            chart(
                self.arguments.svg,
                panels,
                f"heads × tokens × head size, best of {self.arguments.rounds} rounds; {self.machine()}, {datetime.date.today()}",
            )

    def few(self) -> None:
        read = Read(self.library)
        peers = [*self.peers(), read]
        names = [peer.name for peer in peers]
        self.markdown.table(
            "GB/s of keys and values, heads on key heads", *names, "heed of read loop", "heed / best peer"
        )
        for g in (32, 8)[: self.arguments.cells]:
            problem = Problem(1, 32, g, 1, 4096, 128)
            cell = self.measure(problem, peers)
            self.markdown.row(
                f"32 on {g}",
                *(self.rate_or_dash(cell, name, problem.key_value_bytes) for name in names),
                str(cell.speed("heed", read.name)),
                str(cell.over_best_peer()),
            )

    @staticmethod
    def rate_or_dash(cell: Cell, name: str, amount: float) -> str:
        return median_and_best(cell.rates(name, amount)) if name in cell.seconds else "—"

    def modifiers(self) -> None:
        plain = Heed(self.library, "plain", variant="full")
        peers = self.peers()[:-1]  # MultiHeadAttention has none of these
        names = [peer.name for peer in peers]
        self.markdown.table(
            "GFLOP/s with", *names, "heed of plain, GFLOP/s", "heed of plain, calls", "heed / best peer"
        )
        problems = [Problem(2, 6, 6, 2048, 2048, 64, variant) for variant in VARIANTS[2:-1]]
        for problem in [*problems, Problem(1, 8, 8, 4096, 4096, 64, "window")][: self.arguments.cells]:
            cell = self.measure(problem, [*peers, plain])
            calls = cell.speed("heed", "plain")
            work = problem.flop / dataclasses.replace(problem, variant="full").flop
            self.markdown.row(
                f"window {WINDOW} of {problem.s}" if problem.variant == "window" else problem.variant,
                *(self.rate_or_dash(cell, name, problem.flop) for name in names),
                str(calls * work),
                str(calls),
                str(cell.over_best_peer() or "—"),
            )

    def small(self) -> None:
        self.markdown.table("µs of sizes", "heed in C++", "PyTorch", *(o.name for o in self.onnx), "best peer / heed")
        for rank, b in ((3, 1), (4, 2))[: self.arguments.cells]:
            problem = Problem(b, 2, 2, 6, 6, 3)
            peers = [HeedInLoop(self.library, rank), Torch(self.arguments.threads, rank), *self.onnx]
            cell = self.measure(problem, peers)
            sizes = "2 × 6 × 3" if rank == 3 else "2 × 2 × 6 × 3"
            times = (median_and_best([1e6 * x for x in cell.seconds[p.name]], min) for p in peers)
            self.markdown.row(sizes, *times, f"{cell.over_best_peer().median:.1f}")
        self.markdown.line()
        self.markdown.line("The peers are called from Python, whose share of a call is in their times.")

    def threads(self) -> None:
        count = max(2, self.arguments.threads)
        library = heed_library(openmp=True)

        def peak(threads: int) -> Callable[[], float]:
            def gauge() -> float:
                library.heed_set_threads(threads)
                return library.heed_fma_peak()

            return gauge

        one, all_of_them = Heed(library, "heed", threads=1), Heed(library, "heed, threads", threads=count)
        self.markdown.table(
            "b·h × t × d",
            "",
            "1 thread, GFLOP/s",
            f"{count} threads, GFLOP/s",
            "gain",
            "gain of FMA loop",
            "share of it",
        )
        for h, t, d in [size for size in GRID if size[1] >= 512][: self.arguments.cells]:
            for variant in ("full", "causal"):
                problem = Problem(1, h, h, t, t, d, variant)
                cell = self.measure(problem, [one, all_of_them], one=peak(1), all_of_them=peak(count))
                gain = cell.speed(all_of_them.name, one.name)
                possible = Ratio.of_rounds(cell.gauges["all_of_them"], cell.gauges["one"], best=max)
                self.markdown.row(
                    f"{h} × {t} × {d}",
                    variant,
                    *(median_and_best(cell.rates(p.name, problem.flop)) for p in (one, all_of_them)),
                    str(gain),
                    str(possible),
                    str(gain / possible),
                )


def run(arguments: argparse.Namespace) -> None:
    sections = Sections(arguments)
    names = ["grid", "few", "modifiers", "small", "threads"] if arguments.what == "all" else [arguments.what]
    sections.heading()
    for name in names:
        getattr(sections, name)()
    if arguments.markdown:
        sections.markdown.write(arguments.markdown)
