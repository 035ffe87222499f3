#!/usr/bin/env python3
"""Compares heed's attention with PyTorch's and ONNX Runtime's, on the same inputs, in one run.

    python3 -m venv venv && venv/bin/pip install -r bench/peers/requirements.txt
    venv/bin/python bench/peers/compare.py [--what all] [--threads 1] [--rounds 15] [--markdown FILE] [--svg FILE]

    --what grid       full and causal attention of nine sizes, with the share of the FMA peak; --svg draws it
           few        one query against 4096 keys, with the share of the read bandwidth
           modifiers  masks, biases and score modifiers, as share of plain attention; a window
           small      calls that compute next to nothing
           threads    heed with --threads (at least 2) over one
           all        all of these

In each round every library computes the cell for at least 20 ms, in an order drawn anew, on inputs that change from
call to call and lie as the library likes them; the FMA peak is measured before. A number is the median over the rounds,
the best in brackets; a ratio is the median of the rounds' ratios, and of the bests in brackets. Operations are counted
over visible pairs, causal as half of full. All results must agree to 1e-4.
heed is compiled here with g++ -O2 and no other flag (-fopenmp where there are threads); g++ and Eigen must be there.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=["grid", "few", "modifiers", "small", "threads", "all"], default="grid")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--cells", type=int, default=None, help="only the first cells of each table")
    parser.add_argument("--markdown", type=Path, help="write what is printed to this file")
    parser.add_argument("--svg", type=Path, help="draw the grid into this file")
    arguments = parser.parse_args()
    # The libraries read these when they are loaded.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(arguments.threads)
    import sections

    sections.run(arguments)


if __name__ == "__main__":
    main()
