/* Generates images of digits for machines without MNIST, with MNIST's image shape and number of
 * images. Each image is a pure function of (seed, index). A convolutional network is more accurate
 * on them than a linear model.
 *
 * A digit is a skeleton of strokes, bent by a smooth random field (elastic distortion of Simard,
 * Steinkraus, Platt, "Best practices for convolutional neural networks", ICDAR 2003). A random
 * affine map, pen, specks and noise follow.
 *
 * Only + - * / and sqrt are used, in a fixed order. IEEE 754 rounds them the same way everywhere,
 * so every machine makes the same bytes; a test checks this. */
#include <math.h>

#include "bench/workloads/data/random_words.h"
#include "bench/workloads/data/readers.h"

#define SIDE   28
#define PIXELS (SIDE * SIDE)

/* ---- Skeletons ---- */

/* A glyph is a list of points in a box of 100 x 100, y downwards, joined by smooth curves. UP ends
 * a curve. A corner repeats its point after UP. {0, 0} ends the list. */
#define UP                                                                                         \
    {                                                                                              \
        -1, -1                                                                                     \
    }
#define GLYPH_POINTS 20
#define VARIANTS     3

struct glyph {
    struct {
        signed char x, y;
    } at[GLYPH_POINTS];
};

/* clang-format off */
static const struct glyph glyphs[10][VARIANTS] = {
    {{{{50,3},{27,13},{16,42},{20,77},{46,97},{72,85},{84,54},{78,20},{50,3}}},
     {{{62,8},{40,6},{24,30},{22,66},{40,95},{62,88},{76,58},{72,24},{56,5},{42,11}}}},
    {{{{54,2},{51,50},{48,98}}},
     {{{32,24},{54,3},UP,{54,3},{53,50},{52,98}}},
     {{{34,20},{52,4},UP,{52,4},{52,50},{52,96},UP,{32,97},{72,96}}}},
    {{{{20,26},{36,6},{62,6},{73,26},{58,56},{22,94},UP,{22,94},{52,93},{82,92}}},
     {{{22,24},{42,4},{68,14},{67,42},{42,76},{20,92},{24,78},{48,84},{84,94}}}},
    {{{{22,14},{48,3},{72,18},{64,40},{42,48},UP,{42,48},{70,58},{75,82},{48,98},{20,87}}},
     {{{22,6},{50,6},{75,5},UP,{75,5},{44,42},UP,{44,42},{71,54},{75,82},{48,97},{20,88}}}},
    {{{{30,4},{27,28},{20,54},UP,{20,54},{50,53},{82,50},UP,{68,14},{64,56},{60,98}}},
     {{{62,98},{62,50},{62,3},UP,{62,3},{38,36},{15,66},UP,{15,66},{50,65},{84,64}}},
     {{{26,6},{20,42},{40,57},{70,44},UP,{74,5},{68,48},{60,98}}}},
    {{{{76,5},{52,5},{30,7},UP,{30,7},{26,45},UP,{26,45},{56,40},{76,60},{66,89},{40,98},{19,86}}},
     {{{32,7},{27,44},UP,{27,44},{58,44},{74,68},{58,94},{20,93},UP,{33,8},{78,4}}}},
    {{{{68,4},{40,22},{22,58},{28,88},{52,98},{74,80},{68,58},{44,54},{26,72}}},
     {{{54,3},{33,36},{24,72},{40,96},{66,92},{74,70},{56,56},{30,72}}}},
    {{{{20,8},{50,8},{80,7},UP,{80,7},{54,50},{40,98}}},
     {{{20,8},{50,8},{79,7},UP,{79,7},{54,50},{42,98},UP,{34,51},{74,48}}},
     {{{19,24},{22,9},UP,{22,9},{50,8},{77,8},UP,{77,8},{60,44},{54,97}}}},
    {{{{70,18},{48,4},{28,18},{40,42},{66,62},{72,84},{48,98},{26,84},{38,60},{64,38},{70,18}}},
     {{{50,47},{30,34},{30,14},{50,3},{70,14},{70,34},{50,47},{27,64},{26,87},{50,98},{74,87},
       {73,64},{50,47}}}},
    {{{{73,26},{56,6},{31,11},{24,36},{44,52},{66,42},{73,24},UP,{73,24},{70,60},{62,98}}},
     {{{74,22},{50,4},{27,20},{32,46},{58,48},{74,24},{77,60},{62,92},{30,94}}}},
};
/* clang-format on */

/* ---- Shape ---- */

struct point {
    float x, y;
};

/* Random displacements at the GRID x GRID points of a grid over the glyph's box. Between grid
 * points, displacements are interpolated bilinearly. */
#define GRID 4
struct field {
    struct point at[GRID][GRID];
};

static struct field field_draw(struct random_words *s, float width)
{
    struct field f;
    for (int r = 0; r < GRID; r++)
        for (int c = 0; c < GRID; c++)
            f.at[r][c] = (struct point){random_spread(s, width), random_spread(s, width)};
    return f;
}

static float mix(float a, float b, float t)
{
    return a + (b - a) * t;
}

/* Returns p, a point in [0, 1)^2, plus the field's interpolated displacement there. */
static struct point field_move(const struct field *f, struct point p)
{
    float x = p.x * (GRID - 1), y = p.y * (GRID - 1);
    int c = (int)x, r = (int)y;
    float u = x - (float)c, v = y - (float)r;
    const struct point *a = &f->at[r][c], *b = &f->at[r + 1][c];
    return (struct point){p.x + mix(mix(a[0].x, a[1].x, u), mix(b[0].x, b[1].x, u), v),
                          p.y + mix(mix(a[0].y, a[1].y, u), mix(b[0].y, b[1].y, u), v)};
}

/* Affine map from the glyph's box to pixels: x' = xx x + xy y + x0, y' = yx x + yy y + y0. */
struct affine {
    float xx, xy, x0, yx, yy, y0;
};

/* Chooses a random rotation, shear, scale and shift. `t` is the tangent of half the rotation angle,
 * so the sine function is not needed. */
static struct affine affine_draw(struct random_words *s)
{
    float t = random_spread(s, 0.2f), shear = random_spread(s, 0.4f);
    float width = random_uniform(s, 14, 24), height = random_uniform(s, 15, 22);
    float cosine = (1 - t * t) / (1 + t * t), sine = 2 * t / (1 + t * t);
    float centre_x = 0.5f * SIDE + random_spread(s, 4.5f),
          centre_y = 0.5f * SIDE + random_spread(s, 4);
    struct affine a = {.xx = cosine * width,
                       .xy = (cosine * shear - sine) * height,
                       .yx = sine * width,
                       .yy = (sine * shear + cosine) * height};
    a.x0 = centre_x - 0.5f * (a.xx + a.xy);
    a.y0 = centre_y - 0.5f * (a.yx + a.yy);
    return a;
}

static struct point affine_move(const struct affine *a, struct point p)
{
    return (struct point){a->xx * p.x + a->xy * p.y + a->x0, a->yx * p.x + a->yy * p.y + a->y0};
}

/* ---- Drawing ---- */

/* Large initial value of canvas.distance2, the squared distance (pixels^2) from a pixel to the
 * nearest stroke. */
#define FAR 1e6f
struct canvas {
    float distance2[PIXELS];
    float reach;
};

static int clamp_pixel(float x)
{
    return x < 0 ? 0 : x > SIDE - 1 ? SIDE - 1 : (int)x;
}

static void canvas_segment(struct canvas *canvas, struct point a, struct point b)
{
    float dx = b.x - a.x, dy = b.y - a.y, length2 = dx * dx + dy * dy;
    float inverse = length2 > 0 ? 1 / length2 : 0, reach = canvas->reach;
    int left = clamp_pixel(fminf(a.x, b.x) - reach), right = clamp_pixel(fmaxf(a.x, b.x) + reach);
    int top = clamp_pixel(fminf(a.y, b.y) - reach), bottom = clamp_pixel(fmaxf(a.y, b.y) + reach);
    for (int y = top; y <= bottom; y++)
        for (int x = left; x <= right; x++) {
            float px = (float)x - a.x, py = (float)y - a.y;
            float t = (px * dx + py * dy) * inverse;
            t = t < 0 ? 0 : t > 1 ? 1 : t;
            px -= t * dx;
            py -= t * dy;
            float *nearest = &canvas->distance2[y * SIDE + x], d = px * px + py * py;
            *nearest = d < *nearest ? d : *nearest;
        }
}

/* Returns point t of the Catmull-Rom spline from q[1] (t = 0) to q[2] (t = 1). Catmull, Rom, "A
 * class of local interpolating splines", 1974. */
static struct point spline(const struct point q[4], float t)
{
    float t2 = t * t, t3 = t2 * t;
    float a = -t3 + 2 * t2 - t, b = 3 * t3 - 5 * t2 + 2, c = -3 * t3 + 4 * t2 + t, d = t3 - t2;
    return (struct point){0.5f * (a * q[0].x + b * q[1].x + c * q[2].x + d * q[3].x),
                          0.5f * (a * q[0].y + b * q[1].y + c * q[2].y + d * q[3].y)};
}

#define SPAN_SEGMENTS 4

static void canvas_stroke(struct canvas *canvas, const struct point *p, int n)
{
    struct point last = p[0];
    for (int i = 0; i + 1 < n; i++) {
        const struct point q[4] = {p[i ? i - 1 : 0], p[i], p[i + 1], p[i + 2 < n ? i + 2 : n - 1]};
        for (int k = 1; k <= SPAN_SEGMENTS; k++) {
            struct point next = spline(q, (float)k / SPAN_SEGMENTS);
            canvas_segment(canvas, last, next);
            last = next;
        }
    }
}

/* Draws the strokes of a glyph, bent by displacement field `f` and then transformed by `a`. */
static void canvas_glyph(struct canvas *canvas, const struct glyph *glyph, const struct field *f,
                         const struct affine *a)
{
    struct point p[GLYPH_POINTS];
    int n = 0;
    for (int i = 0; i < GLYPH_POINTS && glyph->at[i].x != 0; i++) {
        if (glyph->at[i].x < 0) {
            canvas_stroke(canvas, p, n);
            n = 0;
            continue;
        }
        struct point at = {(float)glyph->at[i].x * 0.01f, (float)glyph->at[i].y * 0.01f};
        p[n++] = affine_move(a, field_move(f, at));
    }
    canvas_stroke(canvas, p, n);
}

/* Returns the fraction of a pixel that a stroke covers. distance2: squared distance from the pixel
 * to the stroke's centre line. */
static float coverage(float distance2, float radius, float blur)
{
    float c = 0.5f + (radius - sqrtf(distance2)) / blur;
    return c < 0 ? 0 : c > 1 ? 1 : c;
}

/* Draws a random dark or light speck, so that no single pixel identifies a digit. */
static void speck_draw(float level[PIXELS], struct random_words *s)
{
    struct point at = {random_uniform(s, 0, SIDE), random_uniform(s, 0, SIDE)};
    float radius = random_uniform(s, 0.6f, 2.2f),
          colour = random_uniform(s, 0, 1) < 0.5f ? 0 : random_uniform(s, 0.3f, 1);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            float dx = (float)x - at.x, dy = (float)y - at.y, *l = &level[y * SIDE + x];
            *l = mix(*l, colour, coverage(dx * dx + dy * dy, radius, 1));
        }
}

static const struct glyph *glyph_choose(struct random_words *s, int digit)
{
    int n = 0;
    while (n < VARIANTS && glyphs[digit][n].at[0].x != 0)
        n++;
    return &glyphs[digit][(int)random_uniform(s, 0, (float)n)];
}

void digits_draw(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label)
{
    struct random_words s = random_start(seed, RNG_STREAM(RNG_DIGITS, 0), index);
    struct canvas canvas;
    float level[PIXELS];
    *label = (uint8_t)(random_next(&s) % 10);
    const struct glyph *glyph = glyph_choose(&s, *label);
    struct field field = field_draw(&s, 0.13f);
    struct affine affine = affine_draw(&s);
    float radius = random_uniform(&s, 0.7f, 1.7f), blur = random_uniform(&s, 0.8f, 2),
          colour = random_uniform(&s, 0.6f, 1);

    canvas.reach = radius + blur;
    for (int i = 0; i < PIXELS; i++)
        canvas.distance2[i] = FAR;
    canvas_glyph(&canvas, glyph, &field, &affine);
    for (int i = 0; i < PIXELS; i++)
        level[i] = colour * coverage(canvas.distance2[i], radius, blur);
    for (int specks = (int)random_uniform(&s, 0, 4); specks > 0; specks--)
        speck_draw(level, &s);
    random_store(image, level, PIXELS, random_uniform(&s, 0, 0.25f), &s);
}

const struct data_reader data_reader_digits = {.draw = digits_draw, .version = 1};
