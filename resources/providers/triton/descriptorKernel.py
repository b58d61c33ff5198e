"""C = alpha (A * SA) (B * SB)^T + accumulator on tcgen05: operands and scales through TMA descriptors, as Triton's tutorial 10 lays them out.

Scales lie in the 32x4x4 layout, a tile of 128 rows and 4 scales in 512 bytes, which TMA reads as (1, rows / 128,
columns / 4, 2, 256): the last axis is the most that a box may have of bytes. What lies outside a tensor is read as 0, so
that no extent has to be a multiple of the tile. Matrices of a batch are tiles behind those of the first one; a_matrices and
b_matrices say which of A and of B each is made of.
"""

import triton
import triton.language as tl

from epilogue import finished


@triton.jit
def scale_tile(descriptor, row_tile, column_tile, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """(ROWS, COLUMNS) scales in tl.dot_scaled's order from the tile of the packed ones."""
    packed = descriptor.load([0, row_tile, column_tile, 0, 0])
    # Memory order: row tile, column tile, row in group of 32, group, column.
    split = packed.reshape(ROWS // 128, COLUMNS // 4, 32, 4, 4)
    return split.trans(0, 3, 2, 1, 4).reshape(ROWS, COLUMNS)


@triton.jit
def scale_descriptor(pointer, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row_tiles = tl.cdiv(rows, 128)
    column_tiles = tl.cdiv(columns, 4)
    return tl.make_tensor_descriptor(
        pointer,
        shape=[1, row_tiles, column_tiles, 2, 256],
        strides=[row_tiles.to(tl.int64) * column_tiles * 512, column_tiles.to(tl.int64) * 512, 512, 256, 1],
        block_shape=[1, ROWS // 128, COLUMNS // 4, 2, 256],
    )


@triton.jit
def block_scaled_matmul_tma(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, c_ptr, accumulator_ptr, a_matrices, b_matrices, M, N, K, alpha, output_scale,
    A_FORMAT: tl.constexpr, B_FORMAT: tl.constexpr, SCALE_BLOCK: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, STAGES: tl.constexpr,
    B_KN: tl.constexpr, BATCHED: tl.constexpr, ACCUMULATE: tl.constexpr, MOST: tl.constexpr,
):
    # fp4 holds two elements in a byte along K.
    A_PER_BYTE: tl.constexpr = 2 if A_FORMAT == "e2m1" else 1
    B_PER_BYTE: tl.constexpr = 2 if B_FORMAT == "e2m1" else 1
    BLOCK_S: tl.constexpr = BLOCK_K // SCALE_BLOCK
    rows = tl.cdiv(M, BLOCK_M)
    tile = tl.program_id(0)
    at_c = tl.zeros((), dtype=tl.int64)
    if BATCHED:
        tiles = rows * tl.cdiv(N, BLOCK_N)
        matrix = tile // tiles
        tile = tile % tiles
        at_c = matrix.to(tl.int64) * M * N
        of_a = tl.load(a_matrices + matrix).to(tl.int64)
        of_b = tl.load(b_matrices + matrix).to(tl.int64)
        scale_bytes = tl.cdiv(K // SCALE_BLOCK, 4) * 512
        a_ptr += of_a * M * (K // A_PER_BYTE)
        b_ptr += of_b * N * K // B_PER_BYTE
        a_scale_ptr += of_a * tl.cdiv(M, 128) * scale_bytes
        b_scale_ptr += of_b * tl.cdiv(N, 128) * scale_bytes
    row, column = tile % rows, tile // rows

    a_desc = tl.make_tensor_descriptor(
        a_ptr, shape=[M, K // A_PER_BYTE], strides=[(K // A_PER_BYTE).to(tl.int64), 1],
        block_shape=[BLOCK_M, BLOCK_K // A_PER_BYTE],
    )
    if B_KN:
        b_desc = tl.make_tensor_descriptor(
            b_ptr, shape=[K, N // B_PER_BYTE], strides=[(N // B_PER_BYTE).to(tl.int64), 1],
            block_shape=[BLOCK_K, BLOCK_N // B_PER_BYTE],
        )
    else:
        b_desc = tl.make_tensor_descriptor(
            b_ptr, shape=[N, K // B_PER_BYTE], strides=[(K // B_PER_BYTE).to(tl.int64), 1],
            block_shape=[BLOCK_N, BLOCK_K // B_PER_BYTE],
        )
    c_desc = tl.make_tensor_descriptor(
        c_ptr + at_c, shape=[M, N], strides=[N.to(tl.int64), 1], block_shape=[BLOCK_M, BLOCK_N]
    )
    a_scale_desc = scale_descriptor(a_scale_ptr, M, K // SCALE_BLOCK, BLOCK_M, BLOCK_S)
    b_scale_desc = scale_descriptor(b_scale_ptr, N, K // SCALE_BLOCK, BLOCK_N, BLOCK_S)

    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in tl.range(0, tl.cdiv(K, BLOCK_K), num_stages=STAGES):
        a = a_desc.load([row * BLOCK_M, step * (BLOCK_K // A_PER_BYTE)])
        if B_KN:
            b = b_desc.load([step * BLOCK_K, column * (BLOCK_N // B_PER_BYTE)])
        else:
            b = b_desc.load([column * BLOCK_N, step * (BLOCK_K // B_PER_BYTE)]).T
        a_scale = scale_tile(a_scale_desc, row * (BLOCK_M // 128), step * (BLOCK_S // 4), BLOCK_M, BLOCK_S)
        b_scale = scale_tile(b_scale_desc, column * (BLOCK_N // 128), step * (BLOCK_S // 4), BLOCK_N, BLOCK_S)
        total = tl.dot_scaled(
            a, a_scale, A_FORMAT, b, b_scale, B_FORMAT, total, rhs_k_pack=not B_KN or B_FORMAT != "e2m1"
        )
    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    at = at_c + m.to(tl.int64)[:, None] * N + n[None, :]
    inside = (m[:, None] < M) & (n[None, :] < N)
    c = finished(total, alpha, accumulator_ptr, at, inside, output_scale, ACCUMULATE, MOST)
    c_desc.store([row * BLOCK_M, column * BLOCK_N], c.to(c_ptr.dtype.element_ty))
