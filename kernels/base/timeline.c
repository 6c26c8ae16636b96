#include "kernels/base/timeline.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* Smallest number of spans that are reserved for each step. */
enum { ROOM_LEAST = 4096 };

struct timeline {
    struct timeline_span *spans;
    size_t n, room;
    size_t largest; /* number of spans in the largest step so far */
    size_t lost;
    size_t *begins; /* [steps_most + 1] index of the first span of each kept step, then of the
                     * current step */
    size_t steps, steps_most;
    size_t room_most; /* largest number of spans that may be stored */
    /* whether the limit of steps or memory is reached, after which no step is kept */
    bool full;
};

const char *const *phase_names(void)
{
#define NAME(name, meaning) #name,
    static const char *const names[] = {TIMELINE_PHASES(NAME)};
#undef NAME
    return names;
}

enum status timeline_open(struct timeline **timeline, size_t steps_most, size_t bytes_most,
                          struct error *e)
{
    TRY(MEM_NEW(*timeline, 1, "a timeline", e));
    (*timeline)->steps_most = steps_most;
    (*timeline)->room_most = bytes_most / sizeof(struct timeline_span);
    enum status status = MEM_NEW((*timeline)->begins, steps_most + 1, "a timeline", e);
    if (status != OK) {
        free(*timeline);
        *timeline = NULL;
    }
    return status;
}

void timeline_close(struct timeline *t)
{
    if (t == NULL)
        return;
    free(t->spans);
    free(t->begins);
    free(t);
}

static size_t least_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Enlarges the array of spans to `room` spans. memset touches the new pages here, so that no page
 * fault occurs within a step. */
static enum status make_room(struct timeline *t, size_t room, struct error *e)
{
    struct timeline_span *spans = reallocarray(t->spans, room, sizeof *spans);
    if (spans == NULL)
        return error_no_memory(e, "a timeline");
    memset(spans + t->room, 0, (room - t->room) * sizeof *spans);
    t->spans = spans;
    t->room = room;
    return OK;
}

enum status timeline_begin(struct timeline *t, struct error *e)
{
    if (t == NULL || t->full)
        return OK;
    t->n = t->begins[t->steps];
    size_t wanted = t->n + (2 * t->largest > ROOM_LEAST ? 2 * t->largest : ROOM_LEAST);
    t->full = t->steps == t->steps_most || (t->steps > 0 && wanted > t->room_most);
    if (t->full || wanted <= t->room)
        return OK;
    size_t room = least_of(2 * wanted, t->room_most);
    return room > t->room ? make_room(t, room, e) : OK;
}

void timeline_keep(struct timeline *t)
{
    if (t != NULL && !t->full)
        t->begins[++t->steps] = t->n;
}

int64_t timeline_now(const struct timeline *t)
{
    return t != NULL ? clock_ns() : 0;
}

void timeline_add(struct timeline *t, enum phase phase, const char *name, int64_t begin_ns,
                  int64_t end_ns)
{
    if (t == NULL || t->full)
        return;
    if (t->n == t->room) {
        t->lost++;
        return;
    }
    t->spans[t->n++] = (struct timeline_span){phase, name, begin_ns, end_ns};
    size_t own = t->n - t->begins[t->steps];
    t->largest = own > t->largest ? own : t->largest;
}

void timeline_end(struct timeline *t, enum phase phase, const char *name, int64_t begin_ns)
{
    if (t != NULL)
        timeline_add(t, phase, name, begin_ns, clock_ns());
}

size_t timeline_steps(const struct timeline *t)
{
    return t != NULL ? t->steps : 0;
}

size_t timeline_lost(const struct timeline *t)
{
    return t != NULL ? t->lost : 0;
}

const struct timeline_span *timeline_step(const struct timeline *t, size_t i, size_t *n)
{
    *n = t->begins[i + 1] - t->begins[i];
    return t->spans + t->begins[i];
}
