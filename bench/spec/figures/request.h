/* Figure requested in a spec: an entry of `figures`, either a kind (a word) or a map of options
 * (figure_options.def). */
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

/* File with published values that only this figure draws. */
struct figure_source {
    struct value options[PUBLISHED_OPTIONS];
};

struct figure_request {
    struct mark mark;
    /* `set` is false for options that the spec leaves at their default */
    struct value options[FIGURE_OPTIONS];
    /* `published`: whether to draw the values of the spec's options published.*; `published_set`:
     * whether the spec sets the figure's option `published` */
    bool published, published_set;
    struct figure_source *sources;
    size_t n_sources;
};

/* Reads a figure from its kind (a word) or its map of options. ERR_SPEC with the position. Call
 * figure_request_free even after an error. */
enum status figure_request_read(struct figure_request *request, const struct node *node,
                                struct error *e);
enum status figure_request_copy(struct figure_request *to, const struct figure_request *from,
                                struct error *e);
void figure_request_free(struct figure_request *request);

/* Writes the request for figure_request_read: as one word if only its kind is set, otherwise as
 * flow-style YAML. `path_of`, unless NULL, returns the path to write for a source's file. */
void figure_request_write(FILE *out, const struct figure_request *request,
                          const char *(*path_of)(const void *arg, const char *text),
                          const void *arg);

/* Returns whether two requests draw the same figure, apart from name and title. */
bool figure_request_same(const struct figure_request *a, const struct figure_request *b);

/* Returns the name of the figure's files: its option `name`, by default its kind. */
const char *figure_request_name(const struct figure_request *request);

/* Returns option number `i`; NULL after the last. Options of a figure come first, then options of
 * its map `published`. All keys begin with "figures.". */
const struct spec_option *figure_option_at(size_t i);
const struct spec_option *figure_option_find(const char *key);

/* Kind of figure: a row of figures.def. */
struct figure_kind {
    const char *name, *script, *preset;
    /* Option (enum option_id). A spec with a figure of this kind must have at least one point at
     * which this option differs from its default. OPTION_COUNT: no such requirement. */
    int wants;
};
const struct figure_kind *figure_kind_get(const struct figure_request *request);
