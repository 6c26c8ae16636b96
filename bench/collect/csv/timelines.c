/* Writes the timeline of a launch: spans of all ranks on rank 0's clock, concurrent messages in
 * separate lanes. timeline.json has the Trace Event Format (Chromium's catapult project, 2016). */
#include "bench/collect/csv/timelines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/json.h"
#include "bench/collect/stage.h"
#include "kernels/base/mem.h"

#define TRACE_FILE "timeline.json"

/* A span of a rank, such as a message or the computation of one op. `phase` and `name` are borrowed
 * from the rank's record, or the literal "wait". */
struct placed {
    int rank, lane;
    const char *phase, *name;
    int64_t begin_ns, end_ns; /* start and end on rank 0's clock */
};

struct placed_list {
    struct placed *items;
    size_t n;
    int64_t origin_ns;            /* time at which the first rank began the step */
    int64_t first_ns;             /* earliest start of any span; before origin_ns if a gradient sum
                                     started in the previous step */
    const struct record_span *of; /* any span of the recorded step; gives the epoch and the step
                                     number */
};

static bool is_phase(const char *text, enum phase phase)
{
    return strcmp(text, phase_names()[phase]) == 0;
}

/* ---- Spans ---- */

static int by_begin(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order = (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
    return order ? order : (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

/* Assigns each message the lowest lane that is free when the message begins. */
static void take_lanes(struct placed *spans, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_phase(spans[i].phase, PHASE_flight))
            continue;
        bool taken = true;
        for (spans[i].lane = 0; taken;) {
            spans[i].lane++;
            taken = false;
            for (size_t k = 0; k < i; k++)
                taken |= spans[k].lane == spans[i].lane && spans[k].end_ns > spans[i].begin_ns;
        }
    }
}

static bool find_step(const struct rank_record *r, const struct record_span *span, size_t *k)
{
    for (*k = 0; *k < r->steps.n; (*k)++) {
        const struct record_step *step = records_step(r, true, *k);
        if (step->epoch == span->epoch && step->step == span->step)
            return true;
    }
    return false;
}

/* Appends a "wait" span to `spans` [n] of a rank: the part of the rank's communication span before
 * the last rank arrived. Appends none if arrival times are unknown, or if they differ by less than
 * the clocks' error. Returns the new n. */
static size_t add_wait(struct placed *spans, size_t n, const struct rank_record *records, int ranks,
                       int rank, const struct record_span *of)
{
    size_t k;
    if (!find_step(&records[rank], of, &k))
        return n;
    const struct arrivals a = records_arrivals(records, ranks, true, k);
    int64_t arrive_ns =
        records_on_first_clock_ns(&records[rank], records_step(&records[rank], true, k)->arrive_ns);
    if (!a.known || (double)(a.last_ns - a.first_ns) < records_clock_error_ns(records, ranks))
        return n;
    for (size_t i = 0; i < n; i++) {
        int64_t end_ns = a.last_ns < spans[i].end_ns ? a.last_ns : spans[i].end_ns;
        if (!is_phase(spans[i].phase, PHASE_comm) || spans[i].begin_ns != arrive_ns ||
            end_ns <= arrive_ns)
            continue;
        spans[n] = spans[i];
        spans[n].phase = spans[n].name = "wait";
        spans[n].end_ns = end_ns;
        return n + 1;
    }
    return n;
}

static void place_rank(struct placed_list *list, const struct rank_record *records, int ranks,
                       int rank)
{
    const struct rank_record *r = &records[rank];
    const struct record_span *spans = r->spans.items;
    struct placed *own = list->items + list->n;
    size_t n = 0;
    for (size_t i = 0; i < r->spans.n; i++) {
        const struct record_span *span = &spans[i];
        if (span->epoch != list->of->epoch || span->step != list->of->step)
            continue;
        own[n] = (struct placed){.rank = rank,
                                 .phase = span->phase,
                                 .name = span->name,
                                 .begin_ns = records_on_first_clock_ns(r, span->begin_ns),
                                 .end_ns = records_on_first_clock_ns(r, span->end_ns)};
        if (is_phase(span->phase, PHASE_step) && own[n].begin_ns < list->origin_ns)
            list->origin_ns = own[n].begin_ns;
        if (own[n].begin_ns < list->first_ns)
            list->first_ns = own[n].begin_ns;
        n++;
    }
    n = add_wait(own, n, records, ranks, rank, list->of);
    qsort(own, n, sizeof *own, by_begin);
    take_lanes(own, n);
    list->n += n;
}

/* Lists the spans of all ranks in the recorded step. Lists none if the ranks' clocks cannot be
 * compared, or if no rank has a span of the whole step. Free list->items. */
static enum status place_all(struct placed_list *list, const struct rank_record *records, int ranks,
                             struct error *e)
{
    size_t room = 0;
    *list = (struct placed_list){.origin_ns = INT64_MAX, .first_ns = INT64_MAX};
    for (int i = ranks - 1; i >= 0; i--) {
        room += records[i].spans.n + 1;
        if (records[i].spans.n > 0)
            list->of = records[i].spans.items;
    }
    TRY(MEM_NEW(list->items, room, "a timeline", e));
    if (list->of == NULL || isnan(records_clock_error_ns(records, ranks)))
        return OK;
    for (int i = 0; i < ranks; i++)
        place_rank(list, records, ranks, i);
    if (list->origin_ns == INT64_MAX)
        list->n = 0; /* no rank recorded a span for the whole step */
    return OK;
}

/* ---- Trace file ---- */

static json_t *metadata(const char *what, int rank, int lane, const char *name)
{
    return json_pack("{s:s, s:s, s:i, s:i, s:{s:s}}", "name", what, "ph", "M", "pid", rank, "tid",
                     lane, "args", "name", name);
}

/* Returns a span as a trace event. Times are in microseconds since the start of the earliest span,
 * because viewers expect no negative times. */
static json_t *event(const struct placed_list *list, const struct placed *p)
{
    return json_pack("{s:s, s:s, s:s, s:f, s:f, s:i, s:i}", "name", p->name, "cat", p->phase, "ph",
                     "X", "ts", (double)(p->begin_ns - list->first_ns) / 1e3, "dur",
                     (double)(p->end_ns - p->begin_ns) / 1e3, "pid", p->rank, "tid", p->lane);
}

static void name_rank(json_t *events, const struct placed_list *list,
                      const struct rank_record *records, int rank)
{
    char name[128], lane_name[32];
    int lanes = 0;
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i].rank == rank && list->items[i].lane > lanes)
            lanes = list->items[i].lane;
    snprintf(name, sizeof name, "rank %d on %s", rank, records[rank].hello.host);
    json_array_append_new(events, metadata("process_name", rank, 0, name));
    for (int lane = 0; lane <= lanes; lane++) {
        snprintf(lane_name, sizeof lane_name, lane == 0 ? "rank" : "in transit %d", lane);
        json_array_append_new(events, metadata("thread_name", rank, lane, lane_name));
    }
}

static json_t *trace_of(const struct placed_list *list, const struct rank_record *records,
                        int ranks, const struct timeline_row *of)
{
    json_t *events = json_array();
    for (int i = 0; i < ranks; i++)
        name_rank(events, list, records, i);
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(events, event(list, &list->items[i]));
    return json_pack("{s:o, s:s, s:{s:s, s:s, s:i, s:i, s:f}}", "traceEvents", events,
                     "displayTimeUnit", "ms", "otherData", "point", of->label, "launch", of->launch,
                     "epoch", (int)list->of->epoch + 1, "step", (int)list->of->step + 1,
                     "clock_error_us", records_clock_error_ns(records, ranks) / 1e3);
}

static enum status dump_trace(FILE *out, void *trace, struct error *e)
{
    return json_put(out, trace, JSON_INDENT(1))
               ? OK
               : error_set(e, ERR_SYSTEM, TRACE_FILE ": cannot be written");
}

static enum status write_trace(const char *dir, const struct placed_list *list,
                               const struct rank_record *records, int ranks,
                               const struct timeline_row *of, struct error *e)
{
    struct stage stage;
    json_t *trace = trace_of(list, records, ranks, of);
    enum status status = stage_open(&stage, dir, e);
    THEN(status, stage_write(&stage, TRACE_FILE, dump_trace, trace, e));
    THEN(status, stage_keep(&stage, TRACE_FILE, e));
    stage_close(&stage);
    json_decref(trace);
    return status;
}

/* ---- Rows ---- */

static void write_rows(const struct placed_list *list, const struct rank_record *records,
                       const struct timeline_row *of, row_writer *write, struct csv *csv)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct placed *p = &list->items[i];
        struct timeline_row row = *of;
        row.epoch = (double)list->of->epoch + 1;
        row.step = (double)list->of->step + 1;
        row.rank = p->rank;
        row.host = records[p->rank].hello.host;
        row.lane = p->lane;
        row.phase = p->phase;
        row.name = p->name;
        row.begin_ms = (double)(p->begin_ns - list->origin_ns) / 1e6;
        row.end_ms = (double)(p->end_ns - list->origin_ns) / 1e6;
        write(csv, &row);
    }
}

enum status timeline_write(const char *dir, const struct rank_record *records, int ranks,
                           const struct timeline_row *of, row_writer *write, struct csv *csv,
                           struct error *e)
{
    struct placed_list list;
    enum status status = place_all(&list, records, ranks, e);
    if (status == OK && list.n > 0) {
        write_rows(&list, records, of, write, csv);
        status = write_trace(dir, &list, records, ranks, of, e);
    }
    free(list.items);
    return status;
}
