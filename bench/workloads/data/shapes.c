/* Generates images of coloured shapes for machines without CIFAR-10, with CIFAR-10's image size and
 * numbers of images and classes. Each image is a pure function of (seed, index).
 *
 * An image shows one of ten shapes, turned, stretched and moved, with a background, blots and
 * noise. Colours are random, so that only the form identifies the class.
 *
 * Only + - * / and comparisons are used, in a fixed order. Every machine therefore makes the same
 * bytes; a test checks this. */
#include <stdbool.h>

#include "bench/workloads/data/random_words.h"
#include "bench/workloads/data/readers.h"

#define SIDE     32
#define PIXELS   (SIDE * SIDE)
#define CHANNELS 3
#define IMAGE    (CHANNELS * PIXELS)
#define CLASSES  10

/* ---- The ten shapes ---- */

static float magnitude(float x)
{
    return x < 0 ? -x : x;
}

/* Returns whether point (u, v) is inside the shape. The v axis points downwards, and all shapes fit
 * into [-1, 1]^2. */
static bool is_inside(int shape, float u, float v)
{
    float r2 = u * u + v * v, a = magnitude(u), b = magnitude(v), larger = a > b ? a : b;
    switch (shape) {
    case 0: /* disc */
        return r2 < 0.81f;
    case 1: /* ring */
        return r2 < 0.9f && r2 > 0.3f;
    case 2: /* square */
        return larger < 0.8f;
    case 3: /* square frame: a square with a square hole */
        return larger < 0.85f && larger > 0.45f;
    case 4: /* triangle */
        return v < 0.75f && a < 0.55f * (v + 0.95f);
    case 5: /* cross */
        return (a < 0.28f || b < 0.28f) && larger < 0.95f;
    case 6: /* diagonal cross */
        return magnitude(a - b) < 0.3f && larger < 0.9f;
    case 7: /* half a disc */
        return r2 < 0.9f && v > -0.1f;
    case 8: /* crescent */
        return r2 < 0.9f && (u - 0.5f) * (u - 0.5f) + v * v > 0.6f;
    default: /* two bars */
        return b < 0.9f && a > 0.25f && a < 0.8f;
    }
}

/* ---- Drawing ---- */

struct colour {
    float c[CHANNELS];
};

/* Affine map from a pixel to the shape's coordinates: u = ux x + uy y + u0, v = vx x + vy y +
 * v0. */
struct placement {
    float ux, uy, u0, vx, vy, v0;
};

/* Chooses a random rotation, size, stretch and position. `t` is the tangent of half the rotation
 * angle, so the sine function is not needed. */
static struct placement placement_draw(struct random_words *w)
{
    float t = random_spread(w, 0.22f), half = random_uniform(w, 7, 13);
    float stretch = random_uniform(w, 0.75f, 1.3f);
    float x0 = 0.5f * SIDE + random_spread(w, 6), y0 = 0.5f * SIDE + random_spread(w, 6);
    float cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
    struct placement p = {.ux = cosine / half,
                          .uy = sine / half,
                          .vx = -sine * stretch / half,
                          .vy = cosine * stretch / half};
    p.u0 = -(p.ux * x0 + p.uy * y0);
    p.v0 = -(p.vx * x0 + p.vy * y0);
    return p;
}

static struct colour colour_draw(struct random_words *w)
{
    struct colour colour;
    for (int k = 0; k < CHANNELS; k++)
        colour.c[k] = random_uniform(w, 0, 1);
    return colour;
}

/* Returns a random colour that contrasts with `other` in every channel. */
static struct colour colour_against(struct random_words *w, struct colour other)
{
    for (int k = 0; k < CHANNELS; k++) {
        float step = random_uniform(w, 0.12f, 0.55f);
        other.c[k] += other.c[k] < 0.5f ? step : -step;
    }
    return other;
}

typedef float canvas[CHANNELS][PIXELS];

static void paint(canvas level, int pixel, struct colour colour, float share)
{
    for (int k = 0; k < CHANNELS; k++)
        level[k][pixel] += (colour.c[k] - level[k][pixel]) * share;
}

/* Fills the image with a colour gradient in a random direction: `from` mixed with a second, random
 * colour, whose share is at most about half. */
static void background_draw(canvas level, struct random_words *w, struct colour from)
{
    struct colour to = colour_draw(w);
    float across = random_uniform(w, -1, 1), down = random_uniform(w, -1, 1);
    for (int i = 0; i < PIXELS; i++) {
        float x = (float)(i % SIDE) / SIDE - 0.5f, y = (float)(i / SIDE) / SIDE - 0.5f;
        float share = 0.35f * (0.5f + 0.5f * (across * x + down * y) * 2);
        for (int k = 0; k < CHANNELS; k++)
            level[k][i] = from.c[k];
        paint(level, i, to, share);
    }
}

/* Draws the shape, antialiased with four samples per pixel. */
static void shape_draw(canvas level, int shape, const struct placement *p, struct colour colour)
{
    for (int i = 0; i < PIXELS; i++) {
        int hits = 0;
        for (int k = 0; k < 4; k++) {
            float x = (float)(i % SIDE) + 0.25f + 0.5f * (float)(k % 2);
            float y = (float)(i / SIDE) + 0.25f + 0.5f * (float)(k / 2);
            hits += is_inside(shape, p->ux * x + p->uy * y + p->u0, p->vx * x + p->vy * y + p->v0);
        }
        paint(level, i, colour, 0.25f * (float)hits);
    }
}

/* Draws a blot of random colour, so that no single region of an image identifies the shape. */
static void blot_draw(canvas level, struct random_words *w)
{
    struct colour colour = colour_draw(w);
    float x0 = random_uniform(w, 0, SIDE), y0 = random_uniform(w, 0, SIDE);
    float radius = random_uniform(w, 1.5f, 4.5f);
    for (int i = 0; i < PIXELS; i++) {
        float x = (float)(i % SIDE) + 0.5f - x0, y = (float)(i / SIDE) + 0.5f - y0;
        if (x * x + y * y < radius * radius)
            paint(level, i, colour, 0.85f);
    }
}

void shapes_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label)
{
    struct random_words w = random_start(seed, RNG_STREAM(RNG_DIGITS, 2), index);
    canvas level;
    *label = (uint8_t)(random_next(&w) % CLASSES);
    struct colour background = colour_draw(&w), colour = colour_against(&w, background);
    struct placement placement = placement_draw(&w);
    background_draw(level, &w, background);
    shape_draw(level, *label, &placement, colour);
    for (int blots = (int)random_uniform(&w, 0, 4); blots > 0; blots--)
        blot_draw(level, &w);
    random_store(image, &level[0][0], IMAGE, random_uniform(&w, 0.05f, 0.4f), &w);
}

const struct data_reader data_reader_shapes = {.draw = shapes_draw, .version = 1};
