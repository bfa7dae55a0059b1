#!/usr/bin/env python3
"""What Python's peers take for the operations that einkern's suites measure, on one NVIDIA GPU.

Prints a JSON array with the fields of `einkern bench --json`: `peer` and `peer_seconds` are the fastest peer's,
`peers` has all of them. Peers: torch (eager; conv2d is cuDNN's), torch.compile, and kernels in Triton.

  python3 bench/peers/peers.py --suite gemm --type bf16 --filter sq-
  python3 bench/peers/peers.py --suite rows --rounds 15
"""

import argparse
import json
import random
import re
import statistics
import sys
from pathlib import Path

SUITES = ("gemm", "rows", "linear_gelu", "conv2d")
FLUSHED_BYTES = 192 << 20
HELD_CYCLES = 50_000
MISSING = 3  # as `einkern`: a device or what it needs is not here

ROWS = [("4k", 4096, 4096), ("tall", 65536, 1024), ("wide", 512, 131072)]
LINEAR = [("linear-2k", 2048, 14336, 4096), ("linear-8k", 8192, 14336, 4096), ("linear-16", 16, 14336, 4096)]
CONVOLUTIONS = [("conv-56", 32, 56, 56, 64, 3, 64), ("conv-28", 32, 28, 28, 128, 3, 128), ("conv-14", 32, 14, 14, 256, 3, 256)]


def gemm_shapes():
    """The shapes of `einkern bench`, read from where they stand."""
    text = (Path(__file__).resolve().parent.parent / "suites.cpp").read_text(encoding="utf-8")
    suite = text[text.index("gemm_suite()") : text.index("cpu_gemm_suite()")]
    return [(name, int(m), int(n), int(k)) for name, m, n, k in re.findall(r'\{"([^"]+)", (\d+), (\d+), (\d+)\}', suite)]


class Clock:
    """Times contestants as the tuner does: L2 emptied by reading, the stream held, a new order each round."""

    def __init__(self, torch):
        self.torch = torch
        self.flushed = torch.zeros(FLUSHED_BYTES // 4, device="cuda")

    def once(self, run):
        begin, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.flushed.sum()
        self.torch.cuda._sleep(HELD_CYCLES)
        begin.record()
        run()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3

    def interleaved(self, contestants, rounds, seed=7):
        order, samples = list(contestants), {name: [] for name in contestants}
        shuffle = random.Random(seed).shuffle
        for round_number in range(-2, rounds):
            shuffle(order)
            for name in order:
                seconds = self.once(contestants[name])
                if round_number >= 0:
                    samples[name].append(seconds)
        return samples


def summary(samples):
    low, middle, high = statistics.quantiles(samples, n=4) if len(samples) > 1 else [samples[0]] * 3
    return middle, (high - low) / middle


def problems(suite, torch, dtype, kernels):
    """(name, (m, n, k), right result or None, {peer: function})."""
    import torch.nn.functional as F

    def tensor(*shape):
        return torch.rand(shape, device="cuda", dtype=torch.float32).mul_(2).sub_(1).to(dtype)

    def peers(function, *arguments):
        compiled = torch.compile(function, dynamic=False, mode="max-autotune-no-cudagraphs")
        return {"torch": lambda: function(*arguments), "torch.compile": lambda: compiled(*arguments)}

    if suite == "gemm":
        for name, m, n, k in gemm_shapes():
            x, w = tensor(m, k), tensor(n, k)
            contestants = {"torch": lambda: x @ w.t()}
            if kernels:
                contestants["triton"] = lambda: kernels.linear(x, w, None, False)
            yield name, (m, n, k), contestants
    elif suite == "rows":
        for name, rows, columns in ROWS:
            x, gain, bias = tensor(rows, columns), tensor(columns), tensor(columns)
            softmax = peers(lambda t: torch.softmax(t, -1), x)
            norm = peers(lambda t, g, b: F.layer_norm(t, (columns,), g, b), x, gain, bias)
            if kernels:
                softmax["triton"] = lambda: kernels.softmax(x)
                norm["triton"] = lambda: kernels.layernorm(x, gain, bias)
            yield f"softmax-{name}", (rows, columns, 1), softmax
            yield f"layernorm-{name}", (rows, columns, 1), norm
    elif suite == "linear_gelu":
        for name, m, n, k in LINEAR:
            x, w, bias = tensor(m, k), tensor(n, k), tensor(n)
            contestants = peers(lambda a, b, c: F.gelu(F.linear(a, b, c)), x, w, bias)
            if kernels:
                contestants["triton"] = lambda: kernels.linear(x, w, bias, True)
            yield name, (m, n, k), contestants
    else:
        for name, images, height, width, channels, window, filters in CONVOLUTIONS:
            x = tensor(images, channels, height, width).to(memory_format=torch.channels_last)
            f = tensor(filters, channels, window, window).to(memory_format=torch.channels_last)
            size = (images * height * width, filters, channels * window * window)
            yield name, size, {"cudnn": lambda: F.conv2d(x, f, padding=window // 2)}


def measure(suite, torch, dtype, kernels, name_filter, rounds):
    clock, rows = Clock(torch), []
    for name, (m, n, k), contestants in problems(suite, torch, dtype, kernels):
        if name_filter not in name:
            continue
        results = {peer: run() for peer, run in contestants.items()}  # compiles and tunes what does
        torch.cuda.synchronize()
        right = next(iter(results.values())).double()
        scale = max(right.abs().max().item(), 1e-30)
        error = max((result.double() - right).abs().max().item() / scale for result in results.values())
        del results, right
        times = {peer: summary(samples) for peer, samples in clock.interleaved(contestants, rounds).items()}
        best = min(times, key=lambda peer: times[peer][0])
        row = {"name": name, "m": m, "n": n, "k": k, "spread": times[best][1], "peer": best}
        row |= {"peer_seconds": times[best][0], "error": error}
        row["peers"] = {peer: seconds for peer, (seconds, _) in times.items()}
        rows.append(row)
        print(f"{name}: {best} {times[best][0] * 1e6:.1f} us", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", choices=SUITES, default="gemm")
    parser.add_argument("--type", choices=("f32", "f16", "bf16"), default="bf16")
    parser.add_argument("--filter", default="", help="only rows whose name holds this")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("peers.py: torch is not installed here, so nothing was measured (pip install torch)", file=sys.stderr)
        return MISSING
    if not torch.cuda.is_available():
        print("peers.py: torch sees no CUDA device, so nothing was measured", file=sys.stderr)
        return MISSING
    try:
        import triton_kernels as kernels
    except ImportError as error:
        print(f"peers.py: without Triton's kernels ({error}; pip install triton)", file=sys.stderr)
        kernels = None
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True  # cuDNN's fastest algorithm, not its first
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[options.type]
    rows = measure(options.suite, torch, dtype, kernels, options.filter, options.rounds)
    print(json.dumps(rows, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
