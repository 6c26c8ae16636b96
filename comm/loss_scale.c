#include "comm/loss_scale.h"

/* Upper limit of the scale. Without this limit, gradients that stay 0 would double the scale beyond
 * the range of float. */
#define SCALE_MOST 0x1p64

void loss_scale_open(struct loss_scale *s, const struct loss_scale_options *options)
{
    const double begin = options->fixed > 0 ? options->fixed : options->initial;
    *s = (struct loss_scale){
        .options = *options,
        .value = begin > 0 ? begin : 1,
        .hysteresis = options->hysteresis,
    };
}

static void lower_scale(struct loss_scale *s)
{
    s->clean = 0;
    if (s->hysteresis > 1)
        s->hysteresis--;
    else
        s->value = s->value / 2 > s->options.least ? s->value / 2 : s->options.least;
}

static void raise_scale(struct loss_scale *s)
{
    if (s->clean++ == 0 || (s->clean - 1) % s->options.window > 0)
        return;
    s->hysteresis = s->options.hysteresis;
    if (s->value < SCALE_MOST)
        s->value *= 2;
}

void loss_scale_update(struct loss_scale *s, bool overflow)
{
    bool dynamic = s->options.fixed == 0 && s->options.initial > 0;
    s->skipped += overflow;
    if (dynamic && overflow)
        lower_scale(s);
    else if (dynamic)
        raise_scale(s);
}
