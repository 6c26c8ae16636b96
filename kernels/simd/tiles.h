/* AMX tiles: eight registers of up to 16 rows of 64 bytes. One instruction multiplies two tiles.
 * Tile operations are macros because tile numbers are part of the instruction (Intel, "Architecture
 * instruction set extensions programming reference", chapter on AMX). Each thread configures its
 * tiles before use and releases them afterwards, which keeps context switches cheap. */
#pragma once

#include <stdint.h>

enum { TILES = 8, TILE_ROWS = 16, TILE_BYTES = 64 };

/* Operand of LDTILECFG: bytes per row and number of rows of each tile. */
struct tile_shapes {
    uint8_t palette, first_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

/* Returns shapes that give all tiles their full size: 16 rows of 64 bytes. */
static inline struct tile_shapes tiles_whole(void)
{
    struct tile_shapes shapes = {.palette = 1};
    for (int t = 0; t < TILES; t++) {
        shapes.bytes[t] = TILE_BYTES;
        shapes.rows[t] = TILE_ROWS;
    }
    return shapes;
}

/* Macros on AMX tiles, or on their emulation in the header MODEL_OF_TILES. TILE_SHAPE(shapes)
 * configures and zeroes all tiles. TILE_LOAD and TILE_STORE(tile, address, stride) transfer rows
 * that are `stride` bytes apart. TILE_ADD_PRODUCT(sum, a, b) adds the matrix product of tiles a
 * [rows, pairs] and b [pairs, columns], with pairs of bf16, to the floats of tile `sum`. Products
 * are exact, sums are rounded to nearest, denormals are zero. */
#ifdef MODEL_OF_TILES
#include MODEL_OF_TILES
#else
#include <immintrin.h>

/* Makes the compiler store all pending writes, because it does not know which memory the tile
 * intrinsics read. */
#define ALL_IS_WRITTEN(address) __asm__ volatile("" ::"r"(address) : "memory")

#define TILE_SHAPE(shapes)                                                                         \
    do {                                                                                           \
        ALL_IS_WRITTEN(shapes);                                                                    \
        _tile_loadconfig(shapes);                                                                  \
    } while (0)
#define TILE_RELEASE()  _tile_release()
#define TILE_ZERO(tile) _tile_zero(tile)
#define TILE_LOAD(tile, address, stride)                                                           \
    do {                                                                                           \
        ALL_IS_WRITTEN(address);                                                                   \
        _tile_loadd(tile, address, stride);                                                        \
    } while (0)
#define TILE_STORE(tile, address, stride) _tile_stored(tile, address, stride)
#define TILE_ADD_PRODUCT(sum, a, b)       _tile_dpbf16ps(sum, a, b)
#endif
