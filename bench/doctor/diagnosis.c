#include "bench/doctor/diagnosis.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/mem.h"

/* ---- Rows ---- */

static bool is_below(double number, size_t n)
{
    return number >= 0 && number < (double)n && number == floor(number);
}

static enum status check_rows(const struct examination *x, const char *folder, struct error *e)
{
    bool fine = x->n_nodes > 0 && x->n_bursts > 0;
    for (size_t i = 0; i < x->n_nodes; i++)
        fine = fine && x->nodes[i].node == (double)i;
    for (size_t i = 0; i < x->n_bursts; i++)
        fine = fine && is_below(x->bursts[i].node, x->n_nodes) &&
               is_below(x->bursts[i].rank, x->n_bursts) &&
               is_below(x->bursts[i].round, x->n_bursts);
    for (size_t i = 0; i < x->n_messages; i++)
        fine = fine && is_below(x->messages[i].from_node, x->n_nodes) &&
               is_below(x->messages[i].to_node, x->n_nodes) &&
               is_below(x->messages[i].round, x->n_messages);
    return fine ? OK
                : error_at(e, ERR_DATA, folder, 0, 0,
                           "rows of nodes.csv, bursts.csv and messages.csv contradict each other. "
                           "Run `scalebench doctor` again");
}

enum status examination_read(struct examination *x, const char *folder, struct error *e)
{
    *x = (struct examination){0};
    TRY(doctor_read(&doctor_nodes, folder, &x->nodes, &x->n_nodes, e));
    TRY(doctor_read(&doctor_bursts, folder, &x->bursts, &x->n_bursts, e));
    TRY(doctor_read(&doctor_messages, folder, &x->messages, &x->n_messages, e));
    return check_rows(x, folder, e);
}

void examination_free(struct examination *x)
{
    free(x->nodes);
    free(x->bursts);
    free(x->messages);
    *x = (struct examination){0};
}

/* ---- Findings ---- */

/* Moves findings that are problems to the front. The order is otherwise kept. */
static enum status order_findings(struct diagnosis *d, struct error *e)
{
    struct doctor_finding *ordered;
    size_t n = 0;
    TRY(MEM_NEW(ordered, d->n_findings, "findings", e));
    for (int counts = 1; counts >= 0; counts--)
        for (size_t i = 0; i < d->n_findings; i++)
            if ((d->findings[i].counts > 0) == counts)
                ordered[n++] = d->findings[i];
    free(d->findings);
    d->findings = ordered;
    return OK;
}

enum status diagnosis_make(struct diagnosis *d, const struct examination *x, const char *stale,
                           struct error *e)
{
    *d = (struct diagnosis){0};
    TRY(diagnose_cores(d, x, e));
    TRY(diagnose_links(d, x, e));
    TRY(diagnose_facts(d, x, e));
    if (stale != NULL)
        TRY(diagnosis_add(d, FINDING_stale_build, "build", e, "%s", stale));
    return order_findings(d, e);
}

void diagnosis_free(struct diagnosis *d)
{
    free(d->cores);
    free(d->links);
    free(d->directions);
    free(d->findings);
    *d = (struct diagnosis){0};
}
