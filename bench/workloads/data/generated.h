/* Data sets that are drawn: what those of digits.c and shapes.c have in common. */
#pragma once

#include "bench/workloads/data/data_set.h"

struct generated_set {
    const char *name;
    int version; /* part of the cache's key: raised with every change of what is drawn */
    uint64_t seed;
    uint32_t n_train, n_test;
    struct shape shape;
    int classes;
    /* Draws image `index`, bytes [C,H,W], and its label: a pure function of (seed, index). */
    void (*draw)(uint64_t seed, uint32_t index, uint8_t *image, uint8_t *label);
};

/* Draws all images into the cache, or maps those of an earlier run. path: only "auto". */
enum status data_open_generated(struct data_set *data, const struct generated_set *set,
                                const char *path, struct error *e);
