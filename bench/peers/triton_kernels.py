"""Softmax, layer norm and linear (+ bias, gelu) as one would write them in Triton, tuned by triton.autotune."""

import torch
import triton
import triton.language as tl

_WARPS = [triton.Config({}, num_warps=warps) for warps in (4, 8, 16, 32)]
_TILES = [
    triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in (
        (128, 256, 64, 8, 3),
        (128, 256, 64, 8, 4),
        (256, 128, 64, 8, 3),
        (128, 128, 64, 4, 4),
        (128, 128, 64, 8, 4),
        (64, 256, 64, 4, 4),
        (64, 128, 64, 4, 4),
        (64, 64, 64, 4, 4),
        (16, 128, 128, 4, 4),
        (16, 64, 128, 4, 5),
        (128, 128, 32, 8, 3),
        (64, 64, 32, 4, 3),
    )
]


@triton.autotune(_WARPS, key=["columns"])
@triton.jit
def _softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=-float("inf")).to(tl.float32)
    values = tl.exp(values - tl.max(values, 0))
    tl.store(y + row + at, (values / tl.sum(values, 0)).to(y.dtype.element_ty), mask=inside)


@triton.autotune(_WARPS, key=["columns"])
@triton.jit
def _layernorm(x, gain, bias, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    inside = at < columns
    values = tl.load(x + row + at, mask=inside, other=0).to(tl.float32)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(inside, values - mean, 0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / columns + 1e-5)
    g = tl.load(gain + at, mask=inside, other=0).to(tl.float32)
    b = tl.load(bias + at, mask=inside, other=0).to(tl.float32)
    tl.store(y + row + at, (centred * scale * g + b).to(y.dtype.element_ty), mask=inside)


@triton.autotune(_TILES, key=["M", "N", "K"])
@triton.jit
def _linear(x, w, bias, y, M, N, K, HAS_BIAS: tl.constexpr, GELU: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr, GROUP: tl.constexpr):
    rows, columns = tl.cdiv(M, BM), tl.cdiv(N, BN)
    tile = tl.program_id(0)
    band = tile // (GROUP * columns) * GROUP
    height = tl.minimum(rows - band, GROUP)
    inner = tile % (GROUP * columns)
    m = (band + inner % height) * BM + tl.arange(0, BM)
    n = (inner // height) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = x + (m % M).to(tl.int64)[:, None] * K + k[None, :]
    b = w + (n % N).to(tl.int64)[None, :] * K + k[:, None]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for begin in range(0, K, BK):
        left = tl.load(a, mask=k[None, :] < K - begin, other=0)
        right = tl.load(b, mask=k[:, None] < K - begin, other=0)
        sums = tl.dot(left, right, sums, input_precision="ieee")
        a += BK
        b += BK
    if HAS_BIAS:
        sums += tl.load(bias + n, mask=n < N, other=0).to(tl.float32)[None, :]
    if GELU:
        sums = 0.5 * sums * (1 + tl.erf(sums * 0.7071067811865476))
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(y + m.to(tl.int64)[:, None] * N + n[None, :], sums.to(y.dtype.element_ty), mask=inside)


def softmax(x):
    y = torch.empty_like(x)
    _softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def layernorm(x, gain, bias):
    y = torch.empty_like(x)
    _layernorm[(x.shape[0],)](x, gain, bias, y, x.shape[1], BLOCK=triton.next_power_of_2(x.shape[1]))
    return y


def linear(x, w, bias, gelu):
    (m, k), n = x.shape, w.shape[0]
    y = torch.empty((m, n), device=x.device, dtype=x.dtype)
    grid = lambda tile: (triton.cdiv(m, tile["BM"]) * triton.cdiv(n, tile["BN"]),)
    _linear[grid](x, w, bias if bias is not None else x, y, m, n, k, HAS_BIAS=bias is not None, GELU=gelu)
    return y
