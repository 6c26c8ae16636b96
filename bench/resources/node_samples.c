#include "bench/resources/node_samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/base/json.h"
#include "kernels/base/mem.h"

/* ---- Read a sample file ---- */

/* State of a reader of one sample file. */
struct reader {
    struct node_samples *samples;
    const char *path;
    int line;   /* number of the current line */
    bool begun; /* whether the first line, which describes the node, was read */
    struct interface_counts before[INTERFACES_MAX]; /* counters of the previous sample */
    int n_before;
    struct error *e;
};

static enum status wrong(const struct reader *r, const char *what)
{
    return error_at(r->e, ERR_DATA, r->path, r->line, 0, "%s", what);
}

static bool take_text(char *to, size_t size, const json_t *line, const char *name)
{
    const char *text = json_string_value(json_object_get(line, name));
    return text != NULL && snprintf(to, size, "%s", text) < (int)size;
}

/* Largest accepted sampling interval and, on the next line, largest accepted time stamp (ns). With
 * these limits, sums and differences of times do not overflow. */
#define INTERVAL_MAX_NS ((int64_t)1000000000000)
#define TIME_MAX_NS     (INT64_MAX / 4)

static enum status take_node(struct reader *r, const json_t *line)
{
    struct node_samples *s = r->samples;
    if (json_integer_value(json_object_get(line, "schema")) != SAMPLE_SCHEMA)
        return wrong(r, "expected samples of schema 1, found another schema");
    s->interval_ns = json_integer_value(json_object_get(line, "interval_ns"));
    r->begun = true;
    return s->interval_ns > 0 && s->interval_ns <= INTERVAL_MAX_NS &&
                   take_text(s->host, sizeof s->host, line, "host") &&
                   take_text(s->nic, sizeof s->nic, line, "nic")
               ? OK
               : wrong(r, "node: 'host', 'nic' or 'interval_ns' is missing or not valid");
}

static enum status take_values(struct reader *r, struct sample *sample, const json_t *line)
{
    for (int i = 0; i < SAMPLE_VALUES; i++) {
        const json_t *value = json_object_get(line, sample_names()[i]);
        if (!json_is_number(value) && !json_is_null(value))
            return wrong(r, "sample: a value is missing or not a number");
        sample->values[i] = json_is_null(value) ? NAN : json_number_value(value);
    }
    return OK;
}

static enum status take_counts(struct reader *r, struct interface_counts *to, const char *name,
                               const json_t *counts)
{
    if (json_array_size(counts) != TRAFFIC_COUNTS ||
        snprintf(to->name, sizeof to->name, "%s", name) >= (int)sizeof to->name)
        return wrong(r, "sample: 'interfaces' must have four counts per interface");
    for (size_t i = 0; i < TRAFFIC_COUNTS; i++)
        if ((to->counts[i] = json_integer_value(json_array_get(counts, i))) < 0)
            return wrong(r, "sample: counts must not be negative");
    return OK;
}

static enum sample_link link_of(const struct node_samples *s, const char *name)
{
    return strcmp(name, s->nic) == 0 ? LINK_NIC
           : strcmp(name, "lo") == 0 ? LINK_LOOPBACK
                                     : LINK_OTHERS;
}

/* Adds an interface's traffic since the previous sample to `sample`. A new interface appears after
 * its first traffic, so its counters started at 0. */
static void add_advance(struct reader *r, struct sample *sample, const struct interface_counts *now)
{
    double *traffic = sample->traffic[link_of(r->samples, now->name)];
    const struct interface_counts *before = NULL;
    for (int i = 0; i < r->n_before && before == NULL; i++)
        if (strcmp(r->before[i].name, now->name) == 0)
            before = &r->before[i];
    for (int i = 0; i < TRAFFIC_COUNTS; i++)
        traffic[i] +=
            (double)counters_advance(before != NULL ? before->counts[i] : 0, now->counts[i]);
}

static enum status take_interfaces(struct reader *r, struct sample *sample, bool first,
                                   json_t *interfaces)
{
    struct interface_counts now[INTERFACES_MAX];
    const char *name;
    json_t *counts;
    int n = 0;
    json_object_foreach(interfaces, name, counts) if (n < INTERFACES_MAX)
        TRY(take_counts(r, &now[n++], name, counts));
    for (int i = 0; i < n && !first; i++)
        add_advance(r, sample, &now[i]);
    memcpy(r->before, now, (size_t)n * sizeof *now);
    r->n_before = n;
    return OK;
}

static enum status take_sample(struct reader *r, const json_t *line)
{
    struct node_samples *s = r->samples;
    struct sample *last, *sample;
    TRY(MEM_GROW(s->items, s->n, "samples", r->e));
    sample = &s->items[s->n];
    last = s->n > 0 ? sample - 1 : NULL;
    *sample = (struct sample){.t_ns = json_integer_value(json_object_get(line, "t_ns"))};
    if (sample->t_ns <= (last != NULL ? last->t_ns : 0) || sample->t_ns > TIME_MAX_NS)
        return wrong(r, "sample: 't_ns' must be later than in the line before");
    if (last != NULL)
        memcpy(sample->traffic, last->traffic, sizeof sample->traffic);
    TRY(take_values(r, sample, line));
    TRY(take_interfaces(r, sample, last == NULL, json_object_get(line, "interfaces")));
    s->n++;
    return OK;
}

static enum status take_line(void *arg, const json_t *line, int number, struct error *e)
{
    struct reader *r = arg;
    const char *type = json_text_of(line, "type");
    r->line = number;
    if (strcmp(type, "node") == 0 && !r->begun)
        return take_node(r, line);
    if (strcmp(type, "sample") == 0 && r->begun)
        return take_sample(r, line);
    return wrong(r, "expected one line of type 'node', then lines of type 'sample'");
}

enum status node_samples_read(struct node_samples *samples, const char *path, struct error *e)
{
    const char *why;
    int lines;
    struct reader r = {.samples = samples, .path = path, .e = e};
    *samples = (struct node_samples){.items = NULL};
    FILE *file = file_open_stream(path, &why);
    if (file == NULL)
        return error_at(e, ERR_DATA, path, 0, 0, "%s", why);
    enum status status = json_read_lines(file, path, take_line, &r, &lines, e);
    fclose(file);
    return status;
}

void node_samples_free(struct node_samples *samples)
{
    free(samples->items);
    *samples = (struct node_samples){.items = NULL};
}

/* ---- Interpolate between samples ---- */

static double between(double a, double b, double share)
{
    return a + share * (b - a);
}

static void interpolate(struct sample *to, const struct sample *a, const struct sample *b,
                        int64_t t_ns)
{
    double share = (double)(t_ns - a->t_ns) / (double)(b->t_ns - a->t_ns);
    to->t_ns = t_ns;
    for (int i = 0; i < SAMPLE_VALUES; i++)
        to->values[i] = between(a->values[i], b->values[i], share);
    for (int k = 0; k < SAMPLE_LINKS; k++)
        for (int i = 0; i < TRAFFIC_COUNTS; i++)
            to->traffic[k][i] = between(a->traffic[k][i], b->traffic[k][i], share);
}

bool node_samples_at(struct sample *sample, const struct node_samples *s, int64_t t_ns)
{
    size_t low = 0, high = s->n;
    if (s->n < 2 || t_ns < s->items[0].t_ns || t_ns > s->items[s->n - 1].t_ns)
        return false;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (s->items[middle].t_ns <= t_ns)
            low = middle;
        else
            high = middle;
    }
    low -= low == s->n - 1;
    interpolate(sample, &s->items[low], &s->items[low + 1], t_ns);
    return true;
}
