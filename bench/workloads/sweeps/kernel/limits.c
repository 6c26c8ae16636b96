#include "bench/workloads/sweeps/kernel/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An op is flagged if it takes more than SHARE_PCT per cent of the step and more than DISTANCE
 * times the lower bound of its time. */
#define SHARE_PCT 5.0
#define DISTANCE  1.5

static const char *const level_names[LEVELS] = {"l2", "l3", "memory"};

/* ---- Caches ---- */

enum status limits_read_caches(struct limits *l, const char *caches, struct error *e)
{
    const char *at = caches;
    char *end;
    for (int i = 0; i < 2 + LEVEL_MEMORY; i++, at = end + strcspn(end, " ")) {
        size_t kib = strtoul(at, &end, 10);
        if (i >= 2)
            l->cache_bytes[i - 2] = kib << (*end == 'M' ? 20 : 10);
    }
    return l->cache_bytes[LEVEL_L2] > 0
               ? OK
               : error_set(
                     e, ERR_UNAVAILABLE,
                     "--part limits: expected the sizes of at least 3 caches of this processor "
                     "(two of level 1, one of level 2), found '%s'. Use another --part",
                     caches);
}

/* ---- Bounds ---- */

static enum level level_of(const struct limits *l, double bytes)
{
    for (enum level level = LEVEL_L2; level < LEVEL_MEMORY; level++)
        if (bytes <= (double)l->cache_bytes[level])
            return level;
    return LEVEL_MEMORY;
}

static const char *reason_of(const struct limit_row *row)
{
    static const struct {
        const char *op, *pass, *reason;
    } reasons[] = {
#define REASON(op, pass, reason) {op, pass, reason},
#include "bench/workloads/sweeps/kernel/reasons.def"
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (strcmp(reasons[i].op, row->op) == 0 &&
            (reasons[i].pass[0] == '\0' || strcmp(reasons[i].pass, row->pass) == 0))
            return reasons[i].reason;
    return "no reason known";
}

static void judge(const struct limits *l, struct limit_row *row)
{
    enum level level = level_of(l, row->bytes);
    double compute_ms = row->flop_done > 0 ? 1e-6 * row->flop_done / row->unit_gflop_per_s : 0;
    double load_ms = 1e-6 * row->bytes / l->gbyte_per_s[level];
    row->bound = compute_ms > load_ms ? "compute" : level_names[level];
    row->bound_ms = fmax(compute_ms, load_ms);
}

static void fill_rates(const struct limits *l, struct limit_row *row)
{
    const double *rates = l->gbyte_per_s;
    row->l2_gbyte_per_s = rates[LEVEL_L2];
    row->l3_gbyte_per_s = l->x[LEVEL_L3] != NULL ? rates[LEVEL_L3] : NAN;
    row->memory_gbyte_per_s = rates[LEVEL_MEMORY];
}

static int longest_first(const void *a, const void *b)
{
    const struct limit_row *left = a, *right = b;
    return (left->time_ms < right->time_ms) - (left->time_ms > right->time_ms);
}

void limits_judge(const struct limits *l, struct limit_row *rows, size_t n)
{
    struct limit_row *step = &rows[n - 1];
    step->bound = NULL;
    step->bound_ms = 0;
    step->unit_gflop_per_s = NAN;
    for (size_t i = 0; i < n; i++) {
        struct limit_row *row = &rows[i];
        fill_rates(l, row);
        if (row != step) {
            judge(l, row);
            step->bound_ms += row->bound_ms;
        }
        row->share_pct = 100 * row->time_ms / step->time_ms;
        row->distance = row->time_ms / row->bound_ms;
        bool marked = row != step && row->share_pct > SHARE_PCT && row->distance > DISTANCE;
        row->note = marked ? reason_of(row) : NULL;
    }
    qsort(rows, n - 1, sizeof *rows, longest_first);
}

/* ---- limits.csv ---- */

void limits_write(FILE *out, const struct limit_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        csv_write_row(out, &sweep_files[SWEEP_LIMITS], &rows[i]);
}
