/* Tiles of AMX: eight registers of 16 rows of 64 bytes at most, which one instruction multiplies. A tile's number is
 * part of its instruction, hence macros (Intel, "Architecture instruction set extensions programming reference",
 * chapter on AMX). Every thread says what shapes its tiles have before it uses them, and releases them, which makes
 * them cheap to switch from. */
#pragma once

#include <stdint.h>

enum { TILES = 8, TILE_ROWS = 16, TILE_BYTES = 64 };

/* As LDTILECFG takes it: bytes of a row and rows of each tile. */
struct tile_shapes {
    uint8_t palette, first_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
};

/* TILE_SHAPE(shapes) gives all tiles their shapes, and zeros; TILE_RELEASE() takes them away; TILE_ZERO(tile). TILE_LOAD and
 * TILE_STORE(tile, address, stride) move rows that lie `stride` bytes apart; TILE_ADD_PRODUCT(sum, a, b) adds a b
 * to floats for a [rows, pairs] and b [pairs, columns] of pairs of bf16: exact products, sums rounded to the
 * nearest, denormals zero. */
#ifdef MODEL_OF_TILES
#include MODEL_OF_TILES
#else
#include <immintrin.h>

/* The compiler is not told what these read: all that there is at an address, and behind it. */
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
