"""C = alpha (A * SA) (B * SB)^T on CDNA4: tl.dot_scaled over scales shuffled so that a lane's lie side by side.

A tile of 32 rows and 8 scales is 256 bytes (layouts cdna4_mfma32 and cdna4_mfma16); rows are padded to 32, scales to 8.
"""

import triton
import triton.language as tl


@triton.jit
def scale_tile(packed, ROWS: tl.constexpr, COLUMNS: tl.constexpr, MFMA: tl.constexpr):
    """(ROWS, COLUMNS) scales in tl.dot_scaled's order from (ROWS / 32, COLUMNS * 32) shuffled ones."""
    if MFMA == 32:
        # Memory order: row tile, column tile, half, row, pair.
        split = packed.reshape(ROWS // 32, COLUMNS // 8, 2, 32, 4)
        return split.permute(0, 3, 1, 4, 2).reshape(ROWS, COLUMNS)
    # Memory order: row tile, column tile, quarter, row, column half, row half.
    split = packed.reshape(ROWS // 32, COLUMNS // 8, 4, 16, 2, 2)
    return split.permute(0, 5, 3, 1, 4, 2).reshape(ROWS, COLUMNS)


@triton.jit
def block_scaled_matmul_cdna4(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, M, N, K, alpha,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr, MFMA: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr,
):
    A_PER_BYTE: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    B_PER_BYTE: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    BLOCK_S: tl.constexpr = BLOCK_K // 32
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
    k_a = tl.arange(0, BLOCK_K // A_PER_BYTE)
    k_b = tl.arange(0, BLOCK_K // B_PER_BYTE)
    a_at = a_ptr + (m % M).to(tl.int64)[:, None] * (K // A_PER_BYTE) + k_a[None, :]
    b_at = b_ptr + (n % N).to(tl.int64)[None, :] * (K // B_PER_BYTE) + k_b[:, None]
    # Of 32 rows all scales lie behind one another, 8 columns in 256 bytes.
    row_bytes = tl.cdiv(K // 32, 8) * 256
    s = tl.arange(0, BLOCK_S * 32)
    m_tile = row * (BLOCK_M // 32) + tl.arange(0, BLOCK_M // 32)
    n_tile = column * (BLOCK_N // 32) + tl.arange(0, BLOCK_N // 32)
    a_scale_at = a_scale_ptr + (m_tile % tl.cdiv(M, 32))[:, None] * row_bytes + s[None, :]
    b_scale_at = b_scale_ptr + (n_tile % tl.cdiv(N, 32))[:, None] * row_bytes + s[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        a = tl.load(a_at, mask=k_a[None, :] < K // A_PER_BYTE - step * (BLOCK_K // A_PER_BYTE), other=0)
        b = tl.load(b_at, mask=k_b[:, None] < K // B_PER_BYTE - step * (BLOCK_K // B_PER_BYTE), other=0)
        inside = s[None, :] < row_bytes - step * (BLOCK_S * 32)
        a_scale = scale_tile(tl.load(a_scale_at, mask=inside, other=0), BLOCK_M, BLOCK_S, MFMA)
        b_scale = scale_tile(tl.load(b_scale_at, mask=inside, other=0), BLOCK_N, BLOCK_S, MFMA)
        total = tl.dot_scaled(a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, total)
        a_at += BLOCK_K // A_PER_BYTE
        b_at += BLOCK_K // B_PER_BYTE
        a_scale_at += BLOCK_S * 32
        b_scale_at += BLOCK_S * 32
    c_at = c_ptr + m.to(tl.int64)[:, None] * N + n[None, :]
    tl.store(c_at, (total * alpha).to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))
