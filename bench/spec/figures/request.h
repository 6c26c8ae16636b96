/* A figure that a spec asks for: an entry of `figures`, a name or a map of the options in
 * figure_options.def. */
#pragma once

#include "bench/spec/spec.h"

struct node;

enum figure_option_id {
#define FIGURE_OPTION(id, ...) FIGURE_##id,
#include "bench/spec/figures/figure_options.def"
    FIGURE_OPTIONS
};

enum published_option_id {
#define PUBLISHED_OPTION(id, ...) PUBLISHED_##id,
#include "bench/spec/figures/figure_options.def"
    PUBLISHED_OPTIONS
};

/* Published values that a figure shows of a file of its own. */
struct figure_source {
    struct value options[PUBLISHED_OPTIONS];
};

struct figure_request {
    struct mark mark;
    struct value options[FIGURE_OPTIONS]; /* `set` where the spec itself says so */
    bool published, published_set;        /* the spec's published.* are shown */
    struct figure_source *sources;
    size_t n_sources;
};

/* Reads a name or a map; ERR_SPEC with its place. Freed with figure_request_free in any case. */
enum status figure_request_read(struct figure_request *request, const struct node *node,
                                struct error *e);
enum status figure_request_copy(struct figure_request *to, const struct figure_request *from,
                                struct error *e);
void figure_request_free(struct figure_request *request);

/* As YAML in flow style, which figure_request_read reads back: a name where there is no more to say.
 * Files of sources are named by what `path_of` makes of their text; NULL: by that. */
void figure_request_write(FILE *out, const struct figure_request *request,
                          const char *(*path_of)(const void *arg, const char *text),
                          const void *arg);

/* Whether both show the same, under whatever name and title. */
bool figure_request_same(const struct figure_request *a, const struct figure_request *b);

/* The name of its files. */
const char *figure_request_name(const struct figure_request *request);

/* Every option, those of `published` behind the others, by their index; NULL beyond the last. Keys
 * begin with "figures.", as `explain` and messages name them. */
const struct spec_option *figure_option_at(size_t i);
const struct spec_option *figure_option_find(const char *key);

/* What a row of figures.def says of the kind. */
struct figure_kind {
    const char *name, *script, *preset;
    int wants; /* enum option_id that some point must have set otherwise than its preset; OPTION_COUNT: none */
};
const struct figure_kind *figure_kind_get(const struct figure_request *request);
