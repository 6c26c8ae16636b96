/* What a run says of published numbers: the ratio measured over published of each point with its
 * interval, judged as `scalebench compare published RUN` judges it. Internal to bench/page. */
#pragma once

#include "bench/compare/comparison.h"
#include "bench/spec/figures/request.h"

struct verdicts {
    struct comparison *items; /* a quantity each */
    size_t n;
};

/* Of each quantity that can be compared and was published for a point of the run in the folder `path`.
 * Freed with verdicts_free in any case. */
enum status verdicts_make(struct verdicts *verdicts, const struct summary *s, const char *path,
                          const char *out, const char *home, struct error *e);
void verdicts_free(struct verdicts *verdicts);

/* That of the i-th quantity that the figure shows; NULL: there is none. */
const struct comparison *verdicts_of(const struct verdicts *verdicts,
                                     const struct figure_request *figure, const char *bars,
                                     size_t i);

/* Whether a figure among these shows what is compared. */
bool verdict_is_shown(const struct comparison *c, const struct value *figures, const char *bars);

/* "1 faster, 2 same of 3 points" */
void verdict_write_counts(FILE *out, const struct comparison *c);
/* A sentence, and a row a point. Ids begin with `id`. */
enum status verdict_write(FILE *out, const struct comparison *c, const char *id, struct error *e);
