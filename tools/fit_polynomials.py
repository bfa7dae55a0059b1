#!/usr/bin/env python3
"""Coefficients of codegen/cpu/approximations.cpp: near-minimax polynomials for f32, by least squares in Chebyshev nodes.

Functions are evaluated with 60 digits. Coefficients are rounded to f32 from the lowest order up, and after each rounding the
rest is fitted again to what is left, so that later coefficients make up for the rounding of earlier ones.
Needs nothing but Python's standard library; prints C++ arrays and each fit's largest error.
"""
import struct
from decimal import Decimal as D, getcontext

getcontext().prec = 60
PI = D("3.14159265358979323846264338327950288419716939937510582097494459")


def to_f32(value):
    return D(struct.unpack("f", struct.pack("f", float(value)))[0])


def series(term, ratio):
    """Sum of term * ratio(1) * ratio(2) * … until it no longer changes."""
    total, k = D(0), 0
    while abs(term) > D(10) ** -58:
        total += term
        k += 1
        term *= ratio(k)
    return total


def exp_tail(r):  # (exp(r) - 1 - r) / r^2
    return series(D(1) / 2, lambda k: r / (k + 2))


def exp2_tail(r):  # (2^r - 1) / r
    y = r * D(2).ln()
    return D(2).ln() * series(D(1), lambda k: y / (k + 1))


def log_tail(f):  # (log(1 + f) - f + f^2 / 2) / f^3
    if abs(f) < D("1e-12"):
        return D(1) / 3 - f / 4
    return ((1 + f).ln() - f + f * f / 2) / f**3


def log2_tail(f):  # log2(1 + f) / f - 1
    return (1 if f == 0 else (1 + f).ln() / f) / D(2).ln() - 1


def sin_tail(t):  # (sin(r) / r - 1) / r^2 of t = r^2
    return series(D(-1) / 6, lambda k: -t / ((2 * k + 2) * (2 * k + 3)))


def cos_tail(t):  # (cos(r) - 1 + r^2 / 2) / r^4 of t = r^2
    return series(D(1) / 24, lambda k: -t / ((2 * k + 3) * (2 * k + 4)))


def tanh_tail(t):  # (tanh(x) / x - 1) / x^2 of t = x^2
    if t < D("1e-20"):
        return D(-1) / 3
    x = t.sqrt()
    e = (2 * x).exp()
    return ((e - 1) / (e + 1) / x - 1) / t


def erf_over_x(t):  # erf(x) / x of t = x^2
    total, k, term = D(0), 0, D(1)
    while abs(term) > D(10) ** -58:
        total += term / (2 * k + 1)
        k += 1
        term *= -t / k
    return 2 / PI.sqrt() * total


def erfc_logarithm(x):  # -log(erfc(x))
    return -(1 - x * erf_over_x(x * x)).ln()


def hexadecimal(value):  # 0x1.5554dcp-3
    mantissa, exponent = float(value).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}"


def solve(matrix, right):
    n = len(right)
    rows = [matrix[i][:] + [right[i]] for i in range(n)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(rows[r][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for r in range(n):
            if r != i:
                factor = rows[r][i] / rows[i][i]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[i])]
    return [rows[i][n] / rows[i][i] for i in range(n)]


def cosine(x):
    return series(D(1), lambda k: -x * x / ((2 * k - 1) * (2 * k)))


def power(x, k):
    return x**k if k else D(1)  # Decimal refuses 0 ** 0


def fit(name, function, low, high, degree, shift=D(0)):
    """Coefficients in powers of x - shift, lowest first."""
    low, high, shift = D(low), D(high), D(shift)
    points = 4 * (degree + 2)
    nodes = [(low + high) / 2 + (high - low) / 2 * cosine(PI * (2 * i + 1) / (2 * points)) for i in range(points)]
    values = [function(x) for x in nodes]
    fixed = []
    for first in range(degree + 1):
        rest = [v - sum(c * power(x - shift, k) for k, c in enumerate(fixed)) for x, v in zip(nodes, values)]
        powers = [[power(x - shift, k) for x in nodes] for k in range(first, degree + 1)]
        matrix = [[sum(a * b for a, b in zip(p, q)) for q in powers] for p in powers]
        fixed.append(to_f32(solve(matrix, [sum(a * b for a, b in zip(p, rest)) for p in powers])[0]))
    samples = [low + (high - low) * i / 400 for i in range(401)]
    error = max(abs(function(x) - sum(c * power(x - shift, k) for k, c in enumerate(fixed))) for x in samples)
    print(f"// {name}: largest error {float(error):.2e}")
    print(f"constexpr double {name}[] = {{{', '.join(hexadecimal(c) for c in fixed)}}};")


if __name__ == "__main__":
    half_ln2 = D(2).ln() / 2 * D("1.0001")
    fit("exp_coefficients", exp_tail, -half_ln2, half_ln2, 4)
    fit("exp2_coefficients", exp2_tail, D("-0.5"), D("0.5"), 5)
    fit("log_coefficients", log_tail, D("-0.2929"), D("0.4143"), 7)
    fit("log2_coefficients", log2_tail, D("-0.2929"), D("0.4143"), 10)
    fit("sin_coefficients", sin_tail, D(0), (PI / 4) ** 2, 3)
    fit("cos_coefficients", cos_tail, D(0), (PI / 4) ** 2, 3)
    fit("tanh_coefficients", tanh_tail, D(0), D("0.3025"), 5)
    fit("erf_coefficients", lambda t: erf_over_x(t) - 1, D(0), D("0.81"), 7)
    fit("erfc_coefficients", erfc_logarithm, D("0.9"), D(4), 9, D("2.25"))
