"""The libraries that compare.py compares: how each is built and called."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import functools
import math
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import torch

ROOT = Path(__file__).resolve().parents[2]
# Variant and constants of bench/variants.hpp.
VARIANTS = ["full", "causal", "mask", "bias", "alibi", "soft_cap", "key_lengths", "score_mod", "window"]
WINDOW = 256
SOFT_CAP = 20.0


@dataclasses.dataclass(frozen=True)
class Problem:
    """Attention of q ℝ^{b×h×t×d} to k, v ℝ^{b×g×s×d}."""

    b: int
    h: int
    g: int
    t: int
    s: int
    d: int
    variant: str = "full"

    @property
    def flop(self) -> float:
        """Of visible pairs only; causal is half of full, and of a mask all pairs count."""
        pairs = self.b * self.h * self.t * self.s
        if self.variant == "causal":
            pairs /= 2
        elif self.variant == "key_lengths":
            pairs = self.h * self.t * sum(map(int, self.lengths))
        elif self.variant == "window":
            pairs = self.b * self.h * (WINDOW * self.t - WINDOW * (WINDOW - 1) // 2)
        return 4 * pairs * self.d

    @property
    def key_value_bytes(self) -> int:
        return 2 * 4 * self.b * self.g * self.s * self.d

    @property
    def lengths(self) -> np.ndarray:
        return np.array([self.s if b % 2 == 0 else self.s // 2 for b in range(self.b)], dtype=np.int64)

    @property
    def slopes(self) -> np.ndarray:
        return np.exp2(-8 * np.arange(1, self.h + 1) / self.h).astype(np.float32)

    @functools.cached_property
    def random_mask(self) -> np.ndarray:
        return np.random.default_rng(2).random((self.t, self.s)) < 0.5

    @functools.cached_property
    def random_bias(self) -> np.ndarray:
        return np.random.default_rng(3).standard_normal((self.t, self.s), dtype=np.float32)

    @functools.cached_property
    def dense(self) -> np.ndarray | None:
        """The variant as a mask (bool) or a bias (float) for libraries that have it as nothing else."""
        i, j = np.arange(self.t)[:, None], np.arange(self.s)[None, :]
        if self.variant == "mask":
            return self.random_mask
        if self.variant == "bias":
            return self.random_bias
        if self.variant == "alibi":
            return (-self.slopes[:, None, None] * np.abs(i - j)).astype(np.float32)[None]
        if self.variant == "key_lengths":
            return np.broadcast_to(j < self.lengths[:, None, None, None], (self.b, 1, self.t, self.s)).copy()
        if self.variant == "score_mod":
            return (-0.01 * (i - j)).astype(np.float32)
        if self.variant == "window":
            return (j <= i) & (i - j < WINDOW)
        return None

    @property
    def scale(self) -> float:
        return (0.5 if self.variant == "score_mod" else 1) / self.d**0.5

    def inputs(self, rng: np.random.Generator) -> list[np.ndarray]:
        shapes = [(self.b, self.h, self.t, self.d)] + 2 * [(self.b, self.g, self.s, self.d)]
        return [rng.standard_normal(dtype=np.float32, out=empty(shape)) for shape in shapes]


def empty(shape: tuple[int, ...]) -> np.ndarray:
    """At a multiple of 64 bytes, as heed, PyTorch and ONNX Runtime lay out their tensors, but NumPy does not."""
    size = 4 * math.prod(shape)
    memory = np.empty(size + 64, dtype=np.uint8)
    first = -memory.ctypes.data % 64
    return memory[first : first + size].view(np.float32).reshape(shape)


@dataclasses.dataclass
class Prepared:
    """One call, its inputs laid out as the library likes them."""

    call: Callable[[], Any]
    result: Callable[[Any], np.ndarray] | None  # what call() returns → ℝ^{b×h×t×d}; None if it is no attention
    context: Callable[[], AbstractContextManager] = contextlib.nullcontext  # around many calls
    calls: int = 1  # that one call() makes


class Sizes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ssize_t) for name in "bhgtsd"]


class Extras(ctypes.Structure):
    _fields_ = [(name, ctypes.c_void_p) for name in ("mask", "bias", "slopes", "lengths")]


@functools.cache
def heed_library(openmp: bool) -> ctypes.CDLL:
    """heed_c.cpp, compiled with g++ -O2 and no other flag, but OpenMP where there are threads."""
    eigen = next(p for p in ("/usr/include/eigen3", "/usr/local/include/eigen3") if Path(p).exists())
    command = ["g++", "-std=c++20", "-O2", "-shared", "-fPIC", f"-I{ROOT}/include", "-isystem", eigen]
    command += ["-fopenmp"] if openmp else []
    with tempfile.TemporaryDirectory(prefix="heed-compare-") as folder:
        library = Path(folder) / "heed_c.so"
        subprocess.run([*command, str(ROOT / "bench/peers/heed_c.cpp"), "-o", str(library)], check=True)
        heed = ctypes.CDLL(str(library))
    pointers = 4 * [ctypes.c_void_p] + [ctypes.POINTER(Sizes), ctypes.c_int]
    heed.heed_attention.argtypes = [*pointers, ctypes.POINTER(Extras)]
    heed.heed_many_calls.argtypes = [*pointers, ctypes.c_long]
    heed.heed_read_all.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    heed.heed_instruction_set.restype = ctypes.c_char_p
    heed.heed_fma_peak.restype = ctypes.c_double
    for name in ("heed_attention", "heed_many_calls", "heed_read_all", "heed_set_threads"):
        getattr(heed, name).restype = None
    return heed


def pointer(x: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)


class Heed:
    """heed in the `_into` form; `variant` instead of the problem's, `threads` instead of those of all."""

    def __init__(self, library: ctypes.CDLL, name: str = "heed", variant: str = "", threads: int = 0) -> None:
        self.library, self.name, self.variant, self.threads = library, name, variant, threads

    def prepare(self, problem: Problem, inputs: list[np.ndarray]) -> Prepared:
        variant = self.variant or problem.variant
        out = empty(inputs[0].shape)
        sizes = Sizes(problem.b, problem.h, problem.g, problem.t, problem.s, problem.d)
        read = {}  # keeps what the pointers point to
        if variant in ("mask", "bias", "alibi", "key_lengths"):
            read = {
                "mask": problem.random_mask,
                "bias": problem.random_bias,
                "slopes": problem.slopes,
                "lengths": problem.lengths,
            }
        extras = Extras(**{name: x.ctypes.data for name, x in read.items()})
        arguments = [*map(pointer, [*inputs, out]), ctypes.byref(sizes), VARIANTS.index(variant), ctypes.byref(extras)]
        attention = self.library.heed_attention

        def call(_kept=(inputs, sizes, extras, read)):
            attention(*arguments)
            return out

        is_other = variant != problem.variant
        return Prepared(call, None if is_other else lambda y: y, self.with_threads)

    @contextlib.contextmanager
    def with_threads(self):
        if self.threads:
            self.library.heed_set_threads(self.threads)
        yield


class HeedInLoop:
    """heed called from C++ as its users do, many times in a row: for calls that take no longer than Python's."""

    name = "heed"

    def __init__(self, library: ctypes.CDLL, rank: int) -> None:
        self.library, self.rank = library, rank

    def prepare(self, problem: Problem, inputs: list[np.ndarray], calls: int = 1000) -> Prepared:
        out = empty(inputs[0].shape)
        sizes = Sizes(problem.b, problem.h, problem.g, problem.t, problem.s, problem.d)
        arguments = [*map(pointer, [*inputs, out]), ctypes.byref(sizes), self.rank, calls]

        def call(_kept=(inputs, sizes)):
            self.library.heed_many_calls(*arguments)
            return out

        return Prepared(call, lambda y: y, calls=calls)


class Read:
    """The loop that sums memory, over the same keys and values."""

    name = "read loop"

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library

    def prepare(self, problem: Problem, inputs: list[np.ndarray]) -> Prepared:
        def call():
            for x in inputs[1:]:
                self.library.heed_read_all(pointer(x), x.size)

        return Prepared(call, None)


class Torch:
    """scaled_dot_product_attention by the fastest of its backends for the problem at hand."""

    name = "PyTorch"

    def __init__(self, threads: int, rank: int = 4) -> None:
        torch.set_num_threads(threads)
        self.rank = rank
        self.fastest: dict[Problem, Any] = {}

    def prepare(self, problem: Problem, inputs: list[np.ndarray]) -> Prepared | None:
        if problem.variant == "soft_cap":
            return None
        tensors = [torch.from_numpy(x[0] if self.rank == 3 else x) for x in inputs]
        dense = problem.dense
        options: dict[str, Any] = {"scale": problem.scale, "is_causal": problem.variant == "causal"}
        if dense is not None:
            options["attn_mask"] = torch.from_numpy(dense)
        if problem.g != problem.h:
            options["enable_gqa"] = True
        attention = torch.nn.functional.scaled_dot_product_attention

        def call():
            return attention(*tensors, **options)

        if problem not in self.fastest:
            self.fastest[problem] = self.fastest_backend(call)
        return Prepared(call, lambda y: y.numpy().reshape(inputs[0].shape), lambda: self.only(self.fastest[problem]))

    @staticmethod
    @contextlib.contextmanager
    def only(backend):
        with torch.inference_mode(), torch.nn.attention.sdpa_kernel(backend):
            yield

    def fastest_backend(self, call: Callable[[], Any]) -> Any:
        taken = {}
        backend = torch.nn.attention.SDPBackend
        for candidate in (backend.FLASH_ATTENTION, backend.EFFICIENT_ATTENTION, backend.MATH):
            with contextlib.suppress(RuntimeError), warnings.catch_warnings(), self.only(candidate):
                warnings.simplefilter("ignore")  # of a backend that cannot
                call()
                start = time.perf_counter()
                for _ in range(2):
                    call()
                taken[candidate] = time.perf_counter() - start
        return min(taken, key=taken.__getitem__)


class Onnx:
    """One operator of ONNX Runtime, inputs and output bound once."""

    def __init__(self, operator: str, threads: int) -> None:
        self.operator, self.threads = operator, threads
        self.name = f"ONNX Runtime {operator}"
        self.sessions: dict[Problem, ort.InferenceSession] = {}

    def prepare(self, problem: Problem, inputs: list[np.ndarray]) -> Prepared | None:
        packed = self.operator == "MultiHeadAttention"
        if packed and (problem.variant not in ("full", "causal") or problem.g != problem.h):
            return None
        arrays = [to_packed(x) if packed else x for x in inputs]
        dense = problem.dense
        arrays += [] if dense is None else [dense]
        if problem not in self.sessions:
            self.sessions[problem] = self.session(problem, arrays, packed)
        session = self.sessions[problem]
        binding = session.io_binding()
        out = ort.OrtValue.ortvalue_from_numpy(np.zeros_like(arrays[0]))
        for name, x in zip("QKVM", arrays):
            binding.bind_ortvalue_input(name, ort.OrtValue.ortvalue_from_numpy(x))
        binding.bind_ortvalue_output("Y", out)

        def call(_kept=arrays):
            session.run_with_iobinding(binding)
            return out

        def result(y):
            return from_packed(y.numpy(), problem.h) if packed else y.numpy()

        return Prepared(call, result)

    def session(self, problem: Problem, arrays: list[np.ndarray], packed: bool) -> ort.InferenceSession:
        causal = int(problem.variant == "causal")
        if packed:
            attributes = {"domain": "com.microsoft", "num_heads": problem.h, "unidirectional": causal}
        else:
            attributes = {"is_causal": causal, "scale": problem.scale}
            if problem.variant == "soft_cap":
                attributes["softcap"] = SOFT_CAP
        names = list("QKVM")[: len(arrays)]
        infos = [
            onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
            for n, x in zip([*names, "Y"], [*arrays, arrays[0]])
        ]
        node = onnx.helper.make_node(self.operator, names, ["Y"], **attributes)
        graph = onnx.helper.make_graph([node], "attention", infos[:-1], infos[-1:])
        opsets = [onnx.helper.make_opsetid("", 23), onnx.helper.make_opsetid("com.microsoft", 1)]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        options = ort.SessionOptions()
        options.intra_op_num_threads = self.threads
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def to_packed(x: np.ndarray) -> np.ndarray:
    """ℝ^{b×h×t×d} → ℝ^{b×t×(h·d)}."""
    b, h, t, d = x.shape
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(b, t, h * d)


def from_packed(x: np.ndarray, h: int) -> np.ndarray:
    b, t, width = x.shape
    return x.reshape(b, t, h, width // h).transpose(0, 2, 1, 3)


def best_product(threads: int) -> dict[str, float]:
    """GFLOP/s of the best of some square products, by PyTorch's and by NumPy's BLAS."""
    torch.set_num_threads(threads)
    rates = {"torch.mm": 0.0, "numpy.matmul": 0.0}
    for n in (512, 1024, 2048):
        for name, call in products(n).items():
            for _ in range(6):
                start = time.perf_counter()
                call()
                rates[name] = max(rates[name], 2e-9 * n**3 / (time.perf_counter() - start))
    return rates


def products(n: int) -> dict[str, Callable[[], Any]]:
    a = np.random.default_rng(4).standard_normal((n, n), dtype=np.float32)
    b, out, torch_out = torch.from_numpy(a), np.empty_like(a), torch.empty(n, n)
    return {"torch.mm": lambda: torch.mm(b, b, out=torch_out), "numpy.matmul": lambda: np.matmul(a, a, out=out)}
