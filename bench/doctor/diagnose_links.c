/* Compares links with each other by bandwidth and latency, each direction separately. Finds nodes
 * that make links slow, and the network interface that carried each link's messages. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/doctor/diagnosis.h"
#include "kernels/base/mem.h"

struct links {
    struct measured rate, latency; /* measurements, one per direction and round */
    int *kinds;                    /* [directions] 1: between nodes; 0: between ranks of a node */
    /* [directions] number of rounds in which the byte counters of a network interface showed the
     * message */
    int *carried;
};

static void links_free(struct links *l)
{
    measured_free(&l->rate);
    measured_free(&l->latency);
    free(l->kinds);
    free(l->carried);
}

/* ---- Rows ---- */

static bool share_machine(const struct examination *x, int a, int b)
{
    return strcmp(x->nodes[a].machine, x->nodes[b].machine) == 0;
}

static size_t find_direction(const struct diagnosis *d, const struct doctor_message *m)
{
    size_t i = 0;
    while (i < d->n_links &&
           (d->directions[i].from != (int)m->from_node || d->directions[i].to != (int)m->to_node))
        i++;
    return i;
}

/* Lists each direction (sending and receiving node) once, in the order of measurement. */
static enum status list_directions(struct diagnosis *d, const struct examination *x,
                                   struct error *e)
{
    for (size_t i = 0; i < x->n_messages; i++) {
        const struct doctor_message *m = &x->messages[i];
        if (find_direction(d, m) < d->n_links)
            continue;
        TRY(MEM_GROW(d->directions, d->n_links, "links", e));
        d->directions[d->n_links++] =
            (struct direction){(int)m->from_node, (int)m->to_node, false, BLAME_NOTHING};
    }
    TRY(MEM_NEW(d->links, d->n_links, "links", e));
    for (size_t i = 0; i < d->n_links; i++)
        doctor_clear(&doctor_links, &d->links[i]);
    return OK;
}

static void take_message(struct links *l, struct diagnosis *d, const struct doctor_message *m)
{
    size_t i = find_direction(d, m), at = i * l->rate.rounds + (size_t)m->round;
    l->rate.x[at] = m->gbyte_per_s;
    l->latency.x[at] = m->latency_us;
    l->carried[i] += m->interface[0] != '\0';
    if (m->interface[0] != '\0')
        snprintf(d->links[i].interface, DOCTOR_TEXT, "%s", m->interface);
}

static enum status links_fill(struct links *l, struct diagnosis *d, const struct examination *x,
                              struct error *e)
{
    double rounds = 0;
    for (size_t i = 0; i < x->n_messages; i++)
        rounds = fmax(rounds, x->messages[i].round + 1);
    TRY(measured_open(&l->rate, d->n_links, (size_t)rounds, e));
    TRY(measured_open(&l->latency, d->n_links, (size_t)rounds, e));
    TRY(MEM_NEW(l->kinds, d->n_links, "links", e));
    TRY(MEM_NEW(l->carried, d->n_links, "links", e));
    for (size_t i = 0; i < x->n_messages; i++)
        take_message(l, d, &x->messages[i]);
    for (size_t i = 0; i < d->n_links; i++)
        l->kinds[i] = d->directions[i].from != d->directions[i].to;
    TRY(measured_compare(&l->rate, l->kinds, e));
    return measured_compare(&l->latency, l->kinds, e);
}

static void set_link(struct doctor_link *row, const struct links *l, size_t i)
{
    struct interval latency = measured_interval(&l->latency, i);
    row->gbyte_per_s = measured_interval(&l->rate, i).mid;
    row->latency_us = latency.mid;
    CSV_SET_INTERVAL(row, gbyte_per_s_ratio, l->rate.ratios[i], 1);
    CSV_SET_INTERVAL(row, latency_us_ratio, l->latency.ratios[i], 1);
    row->level = latency.level;
    /* report an interface only if the message's bytes were counted in more than half of the rounds:
     * counters may be late, and other programs use interfaces too */
    if (2 * (size_t)l->carried[i] <= l->rate.rounds)
        row->interface[0] = '\0';
}

/* ---- Verdicts ---- */

static enum status report_pair(struct diagnosis *d, enum finding_kind kind, size_t i,
                               const char *what, const struct interval *ratio, struct error *e)
{
    char text[96], subject[DOCTOR_TEXT];
    snprintf(subject, sizeof subject, "%.100s -> %.100s", d->links[i].from, d->links[i].to);
    return diagnosis_add(d, kind, subject, e, "%s: %s %s of the others'", subject, what,
                         diagnosis_ratio(text, ratio));
}

/* Adds a finding if `node` causes slow links in the role `blame` (sender or receiver). The finding
 * gives the median of these links' rates, each relative to other links of the same kind. */
static enum status report_node(struct diagnosis *d, const struct links *l,
                               const struct examination *x, int node, enum blame blame,
                               struct error *e)
{
    double ratios[d->n_links + 1], worst = 1;
    size_t n = 0;
    bool sends = blame == BLAME_SENDER;
    for (size_t i = 0; i < d->n_links; i++) {
        const struct direction *way = &d->directions[i];
        if (way->blame != blame || (sends ? way->from : way->to) != node)
            continue;
        ratios[n++] = l->rate.ratios[i].mid;
        worst = fmin(worst, l->rate.ratios[i].mid);
    }
    if (n == 0)
        return OK;
    const char *name = examination_node(x, node);
    return diagnosis_add(
        d, sends ? FINDING_sends_slow : FINDING_receives_slow, name, e,
        "%s %s at %.3f of the others' rate (median of %zu links, the slowest %.3f)", name,
        sends ? "sends" : "receives", stats_median(ratios, n), n, worst);
}

/* Adds one finding for all links whose verdict is undecided, with the relative rate of the link
 * that has the widest interval. */
static enum status report_open(struct diagnosis *d, const struct links *l, struct error *e)
{
    const struct interval *rates = l->rate.ratios;
    size_t n = 0, widest = 0;
    char text[96];
    for (size_t i = 0; i < d->n_links; i++) {
        if (outlier_judge(&rates[i], DOCTOR_RATE_MARGIN, false) != OUTLIER_OPEN)
            continue;
        if (n++ == 0 || rates[i].hi - rates[i].lo > rates[widest].hi - rates[widest].lo)
            widest = i;
    }
    if (n == 0)
        return OK;
    return diagnosis_add(d, FINDING_undecided, "links", e,
                         "%zu of %zu links are undecided; long messages from %.60s to %.60s go at "
                         "%s of the others' rate",
                         n, d->n_links, d->links[widest].from, d->links[widest].to,
                         diagnosis_ratio(text, &rates[widest]));
}

static enum status judge_rates(struct diagnosis *d, const struct links *l,
                               const struct examination *x, struct error *e)
{
    for (size_t i = 0; i < d->n_links; i++)
        d->directions[i].slow =
            outlier_judge(&l->rate.ratios[i], DOCTOR_RATE_MARGIN, false) == OUTLIER_SLOW;
    TRY(outlier_blame(d->directions, d->n_links, (int)x->n_nodes, e));
    for (int node = 0; node < (int)x->n_nodes; node++) {
        TRY(report_node(d, l, x, node, BLAME_SENDER, e));
        TRY(report_node(d, l, x, node, BLAME_RECEIVER, e));
    }
    for (size_t i = 0; i < d->n_links; i++)
        if (d->directions[i].blame == BLAME_PAIR)
            TRY(report_pair(d, FINDING_link_slow, i, "long messages go at", &l->rate.ratios[i], e));
    return report_open(d, l, e);
}

/* Adds a finding for each link between machines that has a higher latency than other links. Within
 * one machine, latency depends on the scheduler more than on the link. */
static enum status judge_latencies(struct diagnosis *d, const struct links *l,
                                   const struct examination *x, struct error *e)
{
    for (size_t i = 0; i < d->n_links; i++)
        if (!share_machine(x, d->directions[i].from, d->directions[i].to) &&
            outlier_judge(&l->latency.ratios[i], DOCTOR_MESSAGE_MARGIN, true) == OUTLIER_SLOW)
            TRY(report_pair(d, FINDING_link_late, i, "short messages take", &l->latency.ratios[i],
                            e));
    return OK;
}

/* Returns whether a name is a port of a fast network: "device:port". */
static bool is_port(const char *interface)
{
    return strchr(interface, ':') != NULL;
}

static enum status judge_transport(struct diagnosis *d, const struct examination *x,
                                   struct error *e)
{
    size_t fallen = 0, between = 0, first = 0;
    for (size_t i = 0; i < d->n_links; i++) {
        const struct direction *way = &d->directions[i];
        const char *interface = d->links[i].interface;
        bool fabric = x->nodes[way->from].fabric[0] != '\0' && x->nodes[way->to].fabric[0] != '\0';
        between += way->from != way->to;
        if (way->from == way->to && interface[0] != '\0')
            TRY(diagnosis_add(
                d, FINDING_no_shared_memory, d->links[i].from, e,
                "ranks of %.100s exchange messages over %.40s instead of shared memory",
                d->links[i].from, interface));
        if (way->from == way->to || !fabric || interface[0] == '\0' || is_port(interface))
            continue;
        if (fallen++ == 0)
            first = i;
    }
    if (fallen == 0)
        return OK;
    return diagnosis_add(
        d, FINDING_fell_back, "MPI", e,
        "MPI fell back to TCP: %zu of %zu links go over %.40s although their nodes have %.100s",
        fallen, between, d->links[first].interface, x->nodes[d->directions[first].from].fabric);
}

static enum status diagnose(struct diagnosis *d, struct links *l, const struct examination *x,
                            struct error *e)
{
    TRY(list_directions(d, x, e));
    TRY(links_fill(l, d, x, e));
    for (size_t i = 0; i < d->n_links; i++) {
        set_link(&d->links[i], l, i);
        snprintf(d->links[i].from, DOCTOR_TEXT, "%s", x->nodes[d->directions[i].from].name);
        snprintf(d->links[i].to, DOCTOR_TEXT, "%s", x->nodes[d->directions[i].to].name);
    }
    TRY(judge_rates(d, l, x, e));
    TRY(judge_latencies(d, l, x, e));
    return judge_transport(d, x, e);
}

enum status diagnose_links(struct diagnosis *d, const struct examination *x, struct error *e)
{
    struct links l = {0};
    enum status status = diagnose(d, &l, x, e);
    links_free(&l);
    return status;
}
