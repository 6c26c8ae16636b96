/* Model of AMX tiles in plain C, from the operations in Intel's manual (see kernels/simd/tiles.h).
 * Operations that a processor would refuse end the program. */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool shaped;
    struct tile_shapes shapes;
    uint8_t data[TILES][TILE_ROWS][TILE_BYTES];
} model;

static inline void model_want(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "tiles: %s\n", what);
    abort();
}

static inline void model_shape(const struct tile_shapes *shapes)
{
    model_want(sizeof *shapes == 64 && shapes->palette == 1 && shapes->first_row == 0,
               "the shapes are not palette 1's");
    for (int t = 0; t < TILES; t++)
        model_want(shapes->rows[t] <= TILE_ROWS && shapes->bytes[t] <= TILE_BYTES,
                   "a tile is too large");
    model.shapes = *shapes;
    model.shaped = true;
    memset(model.data, 0, sizeof model.data);
}

static inline void model_release(void)
{
    model.shaped = false;
}

static inline void model_want_tile(int tile)
{
    model_want(model.shaped, "no shapes");
    model_want(model.shapes.rows[tile] > 0 && model.shapes.bytes[tile] > 0, "a tile has no rows");
}

static inline void model_zero(int tile)
{
    model_want_tile(tile);
    memset(model.data[tile], 0, sizeof model.data[tile]);
}

static inline void model_load(int tile, const void *from, size_t stride)
{
    model_zero(tile);
    for (int r = 0; r < model.shapes.rows[tile]; r++)
        memcpy(model.data[tile][r], (const char *)from + (size_t)r * stride,
               model.shapes.bytes[tile]);
}

static inline void model_store(int tile, void *to, size_t stride)
{
    model_want_tile(tile);
    for (int r = 0; r < model.shapes.rows[tile]; r++)
        memcpy((char *)to + (size_t)r * stride, model.data[tile][r], model.shapes.bytes[tile]);
}

/* Flushes denormals to zero. */
static inline float model_flush(double x)
{
    return fabs(x) < 0x1p-126 ? 0 : (float)x;
}

static inline float model_value(const uint8_t *code)
{
    uint32_t bits = (uint32_t)code[0] << 16 | (uint32_t)code[1] << 24;
    float x;
    memcpy(&x, &bits, sizeof x);
    return model_flush((double)x);
}

/* Computes one sum in the processor's order: first numbers of all pairs, second numbers of all
 * pairs, then both and the old sum. */
static inline void model_add_product_of(uint8_t *sum, const uint8_t *row, int b, int column)
{
    float parts[2] = {0, 0}, before;
    for (int k = 0; k < model.shapes.rows[b]; k++)
        for (int half = 0; half < 2; half++) {
            double x = (double)model_value(row + 4 * k + 2 * half);
            double y = (double)model_value(model.data[b][k] + 4 * column + 2 * half);
            parts[half] = model_flush((double)parts[half] + x * y);
        }
    memcpy(&before, sum, sizeof before);
    before = model_flush((double)before + (double)model_flush((double)parts[0] + (double)parts[1]));
    memcpy(sum, &before, sizeof before);
}

static inline void model_add_product(int sum, int a, int b)
{
    const int tiles[] = {sum, a, b};
    for (int i = 0; i < 3; i++)
        model_want_tile(tiles[i]);
    model_want(sum != a && sum != b && a != b, "a tile is there twice");
    model_want(model.shapes.rows[sum] == model.shapes.rows[a] &&
                   model.shapes.bytes[a] == 4 * model.shapes.rows[b] &&
                   model.shapes.bytes[sum] == model.shapes.bytes[b],
               "shapes do not fit");
    for (int r = 0; r < model.shapes.rows[sum]; r++)
        for (int column = 0; 4 * column < model.shapes.bytes[sum]; column++)
            model_add_product_of(model.data[sum][r] + 4 * column, model.data[a][r], b, column);
}

#define TILE_SHAPE(shapes)                model_shape(shapes)
#define TILE_RELEASE()                    model_release()
#define TILE_ZERO(tile)                   model_zero(tile)
#define TILE_LOAD(tile, address, stride)  model_load(tile, address, stride)
#define TILE_STORE(tile, address, stride) model_store(tile, address, stride)
#define TILE_ADD_PRODUCT(sum, a, b)       model_add_product(sum, a, b)
