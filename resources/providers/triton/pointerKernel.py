"""C = alpha (A * SA) (B * SB)^T with tl.dot_scaled: operands and linear scales read through pointers, on any GPU."""

import triton
import triton.language as tl


@triton.jit
def block_scaled_matmul(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, alpha,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr, SCALE_BLOCK: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
    FAST_MATH: tl.constexpr,
):
    # fp4 holds two elements in a byte along K.
    A_PER_BYTE: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    B_PER_BYTE: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    BLOCK_S: tl.constexpr = BLOCK_K // SCALE_BLOCK
    # Tiles in groups of GROUP_M rows, so that neighbours share operands in L2.
    rows = tl.cdiv(M, BLOCK_M)
    columns = tl.cdiv(N, BLOCK_N)
    tile = tl.program_id(0)
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
    b_at = b_ptr + n_in.to(tl.int64)[None, :] * (K // B_PER_BYTE) + k_b[:, None]
    a_scale_at = a_scale_ptr + m_in[:, None] * (K // SCALE_BLOCK) + s[None, :]
    b_scale_at = b_scale_ptr + n_in[:, None] * (K // SCALE_BLOCK) + s[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K // BLOCK_K):
        a = tl.load(a_at)
        b = tl.load(b_at)
        a_scale = tl.load(a_scale_at)
        b_scale = tl.load(b_scale_at)
        total = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, total, fast_math=FAST_MATH)
        a_at += BLOCK_K // A_PER_BYTE
        b_at += BLOCK_K // B_PER_BYTE
        a_scale_at += BLOCK_S
        b_scale_at += BLOCK_S
    c_at = c_ptr + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(c_at, (total * alpha).to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))
