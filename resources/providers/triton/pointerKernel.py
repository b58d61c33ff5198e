"""C = alpha (A * SA) (B * SB)^T + accumulator with tl.dot_scaled: operands and linear scales read through pointers, on any GPU.

Matrices of a batch are tiles behind those of the first one; a_matrices and b_matrices say which of A and of B each is made of. So are
groups, of which they say where the rows of each begin and how many it has, M being those of the largest: smaller ones have programs
that end at once.
"""

import triton
import triton.language as tl

from epilogue import finished


@triton.jit
def block_scaled_matmul(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, accumulator_ptr, a_matrices, b_matrices, M, N, K, alpha, output_scale,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr, SCALE_BLOCK: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    FAST_MATH: tl.constexpr, B_KN: tl.constexpr, BATCHED: tl.constexpr, GROUPED: tl.constexpr, ACCUMULATE: tl.constexpr,
    MOST: tl.constexpr,
):
    # fp4 holds two elements in a byte along K.
    A_PER_BYTE: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    B_PER_BYTE: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    BLOCK_S: tl.constexpr = BLOCK_K // SCALE_BLOCK
    # Tiles in groups of GROUP_M rows, so that neighbours share operands in L2.
    rows = tl.cdiv(M, BLOCK_M)
    columns = tl.cdiv(N, BLOCK_N)
    tile = tl.program_id(0)
    at_c = tl.zeros((), dtype=tl.int64)
    if BATCHED or GROUPED:
        matrix = tile // (rows * columns)
        tile = tile % (rows * columns)
        if GROUPED:
            of_a = tl.load(a_matrices + matrix).to(tl.int64)
            of_b = matrix.to(tl.int64) * N
            at_c = of_a * N
            M = tl.load(b_matrices + matrix)
            rows = tl.cdiv(M, BLOCK_M)
        else:
            of_a = tl.load(a_matrices + matrix).to(tl.int64) * M
            of_b = tl.load(b_matrices + matrix).to(tl.int64) * N
            at_c = matrix.to(tl.int64) * M * N
        a_ptr += of_a * (K // A_PER_BYTE)
        b_ptr += of_b * K // B_PER_BYTE
        a_scale_ptr += of_a * (K // SCALE_BLOCK)
        b_scale_ptr += of_b * (K // SCALE_BLOCK)
    if GROUPED:
        if tile >= rows * columns:
            return
    group = tile // (GROUP_M * columns)
    group_rows = min(rows - group * GROUP_M, GROUP_M)
    within = tile % (GROUP_M * columns)
    row = group * GROUP_M + within % group_rows
    column = within // group_rows

    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    # Rows beyond the end wrap around and are dropped when C is stored.
    m_in = m % M
    n_in = n % N
    k_a = tl.arange(0, BLOCK_K // A_PER_BYTE)
    k_b = tl.arange(0, BLOCK_K // B_PER_BYTE)
    s = tl.arange(0, BLOCK_S)
    a_at = a_ptr + m_in.to(tl.int64)[:, None] * (K // A_PER_BYTE) + k_a[None, :]
    if B_KN:
        # Rows of N: codes are packed along it, and a step along K is one of whole rows.
        n_b = (column * (BLOCK_N // B_PER_BYTE) + tl.arange(0, BLOCK_N // B_PER_BYTE)) % (N // B_PER_BYTE)
        b_at = b_ptr + tl.arange(0, BLOCK_K).to(tl.int64)[:, None] * (N // B_PER_BYTE) + n_b[None, :]
        b_scale_at = b_scale_ptr + s[None, :] * N + n_in[:, None]
        b_step = BLOCK_K * (N // B_PER_BYTE)
        b_scale_step = BLOCK_S * N
    else:
        b_at = b_ptr + n_in.to(tl.int64)[None, :] * (K // B_PER_BYTE) + k_b[:, None]
        b_scale_at = b_scale_ptr + n_in[:, None] * (K // SCALE_BLOCK) + s[None, :]
        b_step = BLOCK_K // B_PER_BYTE
        b_scale_step = BLOCK_S
    a_scale_at = a_scale_ptr + m_in[:, None] * (K // SCALE_BLOCK) + s[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K // BLOCK_K):
        a = tl.load(a_at)
        b = tl.load(b_at)
        a_scale = tl.load(a_scale_at)
        b_scale = tl.load(b_scale_at)
        total = tl.dot_scaled(
            a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, total, fast_math=FAST_MATH, rhs_k_pack=not B_KN or B_FORMAT != "e2m1"
        )
        a_at += BLOCK_K // A_PER_BYTE
        b_at += b_step
        a_scale_at += BLOCK_S
        b_scale_at += b_scale_step
    at = at_c + m.to(tl.int64)[:, None] * N + n[None, :]
    inside = (m[:, None] < M) & (n[None, :] < N)
    c = finished(total, alpha, accumulator_ptr, at, inside, output_scale, ACCUMULATE, MOST)
    tl.store(c_ptr + at, c.to(c_ptr.dtype.element_ty), mask=inside)
