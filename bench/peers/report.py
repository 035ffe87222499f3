"""What compare.py writes: Markdown tables and a chart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


class Markdown:
    """Lines that are printed as they come, and kept."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def line(self, text: str = "") -> None:
        self.lines.append(text)
        print(text, flush=True)

    def table(self, *columns: str) -> None:
        self.line()
        self.line(f"| {' | '.join(columns)} |")
        self.line("|" + " --- |" * len(columns))

    def row(self, *cells: str) -> None:
        self.line(f"| {' | '.join(cells)} |")

    def write(self, file: Path) -> None:
        file.write_text("\n".join(self.lines) + "\n")


def geometric_mean(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def chart(file: Path, panels: dict[str, list[tuple[str, dict[str, float]]]], caption: str) -> None:
    """Bars per cell and library, in one panel above the other: shares of the FMA peak."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "heed", "font.family": "sans-serif"})
    from matplotlib import pyplot

    size = (10, 2.8 * len(panels))
    figure, all_axes = pyplot.subplots(len(panels), 1, figsize=size, sharey=True, layout="constrained")
    figure.patch.set_facecolor("white")
    for axes, (title, cells) in zip(all_axes, panels.items()):
        names = list(dict.fromkeys(name for _, shares in cells for name in shares))
        width = 0.84 / len(names)
        for n, name in enumerate(names):
            places = [cell - 0.42 + (n + 0.5) * width for cell in range(len(cells))]
            heights = [100 * shares.get(name, math.nan) for _, shares in cells]
            axes.bar(places, heights, width, label=name, color=colour(n))
        axes.set_xticks(range(len(cells)), [label for label, _ in cells], fontsize="small")
        axes.margins(x=0.01)
        axes.set_ylabel("% of the FMA peak")
        axes.set_title(title, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.yaxis.grid(True, color="#dddddd")
        axes.set_axisbelow(True)
    handles, labels = all_axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), frameon=False)
    figure.supxlabel(caption, fontsize="small", color="#555555")
    figure.savefig(file, metadata={"Date": None})


def colour(n: int) -> str:
    """Told apart by the colour-blind too (Okabe and Ito, 2008)."""
    return ("#0072b2", "#e69f00", "#999999", "#56b4e9", "#009e73")[n % 5]


def median_and_best(values: Iterable[float], best: Callable = max, digits: int = 1) -> str:
    values = list(values)
    return f"{statistics.median(values):.{digits}f} ({best(values):.{digits}f})"
