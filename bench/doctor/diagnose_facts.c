/* Checks the facts that the nodes' systems report: settings that disturb measurements, and nodes
 * that differ from the others. */
#include <string.h>

#include "bench/doctor/diagnosis.h"

/* Memory per rank below which a finding is reported. A rank that trains a small network needs a few
 * hundred MiB. */
#define MEMORY_A_RANK_GIB 1.0
/* Duration of a clock reading (ns) above which a finding is reported. Such a reading must be a
 * system call; other readings take about 20 ns. */
#define CLOCK_READ_NS 200.0

/* ---- Settings ---- */

/* Writes to `text` the names of the nodes for which `is` returns true: "node1 node3" or "all 4
 * nodes". Returns the first such node; NULL if there is none. */
static const struct doctor_node *name_nodes(char text[DOCTOR_TEXT], const struct examination *x,
                                            bool (*is)(const struct doctor_node *node))
{
    const struct doctor_node *first = NULL;
    size_t used = 0, n = 0;
    for (size_t i = 0; i < x->n_nodes; i++) {
        if (!is(&x->nodes[i]))
            continue;
        if (n++ == 0)
            first = &x->nodes[i];
        if (used < DOCTOR_TEXT / 2)
            used += (size_t)snprintf(text + used, DOCTOR_TEXT - used, "%s%.60s",
                                     used > 0 ? " " : "", x->nodes[i].name);
    }
    if (n > 1 && n == x->n_nodes)
        snprintf(text, DOCTOR_TEXT, "all %zu nodes", n);
    return first;
}

static bool governor_varies(const struct doctor_node *n)
{
    return n->governor[0] != '\0' && strcmp(n->governor, "performance") != 0;
}

static bool has_turbo(const struct doctor_node *n)
{
    return strcmp(n->turbo, "on") == 0;
}

static bool is_limited(const struct doctor_node *n)
{
    return n->quota_cores < n->ranks;
}

static bool reads_slowly(const struct doctor_node *n)
{
    return n->clock_read_ns > CLOCK_READ_NS;
}

static bool has_little_memory(const struct doctor_node *n)
{
    return n->memory_gib < n->ranks * MEMORY_A_RANK_GIB;
}

static enum status judge_settings(struct diagnosis *d, const struct examination *x, struct error *e)
{
    char names[DOCTOR_TEXT];
    const struct doctor_node *n;
    if ((n = name_nodes(names, x, governor_varies)) != NULL)
        TRY(diagnosis_add(d, FINDING_governor, names, e,
                          "%.150s: the CPU frequency governor is %.60s", names, n->governor));
    if ((n = name_nodes(names, x, is_limited)) != NULL)
        TRY(diagnosis_add(d, FINDING_cpu_limit, names, e,
                          "%.150s: a cgroup allows %g cores for %g ranks", names, n->quota_cores,
                          n->ranks));
    if ((n = name_nodes(names, x, reads_slowly)) != NULL)
        TRY(diagnosis_add(d, FINDING_clock, names, e,
                          "%.150s: reading the clock takes %.0f ns, its source is %.40s", names,
                          n->clock_read_ns, n->clock_source));
    if (name_nodes(names, x, has_turbo) != NULL)
        TRY(diagnosis_add(d, FINDING_turbo, names, e, "%.150s: turbo is on", names));
    if ((n = name_nodes(names, x, has_little_memory)) != NULL)
        TRY(diagnosis_add(d, FINDING_little_memory, names, e, "%.150s: %.2g GiB for %g ranks",
                          names, n->memory_gib, n->ranks));
    return OK;
}

/* ---- Differences ---- */

static const struct fact {
    const char *name;
    size_t offset;
    enum finding_kind kind;
} facts[] = {
    {"program", offsetof(struct doctor_node, program), FINDING_other_programs},
    {"set of libraries", offsetof(struct doctor_node, libraries), FINDING_other_programs},
    {"MPI", offsetof(struct doctor_node, mpi), FINDING_other_programs},
    {"processor", offsetof(struct doctor_node, cpu), FINDING_nodes_differ},
    {"kernel", offsetof(struct doctor_node, kernel), FINDING_nodes_differ},
    {"governor", offsetof(struct doctor_node, governor), FINDING_nodes_differ},
    {"turbo", offsetof(struct doctor_node, turbo), FINDING_nodes_differ},
    {"clock source", offsetof(struct doctor_node, clock_source), FINDING_nodes_differ},
    {"setting of huge pages", offsetof(struct doctor_node, huge_pages), FINDING_nodes_differ},
    {"fast network", offsetof(struct doctor_node, fabric), FINDING_nodes_differ},
};

static const char *value_of(const struct examination *x, size_t node, const struct fact *f)
{
    return (const char *)&x->nodes[node] + f->offset;
}

/* Returns the index of the first node that has the most frequent value of a fact. */
static size_t find_typical(const struct examination *x, const struct fact *f)
{
    size_t usual = 0, most = 0;
    for (size_t i = 0; i < x->n_nodes; i++) {
        size_t n = 0;
        for (size_t k = 0; k < x->n_nodes; k++)
            n += strcmp(value_of(x, i, f), value_of(x, k, f)) == 0;
        if (n > most) {
            most = n;
            usual = i;
        }
    }
    return usual;
}

static const char *shown(const char *value)
{
    return value[0] != '\0' ? value : "none";
}

static enum status judge_fact(struct diagnosis *d, const struct examination *x,
                              const struct fact *f, struct error *e)
{
    size_t typical = find_typical(x, f);
    for (size_t i = 0; i < x->n_nodes; i++)
        if (strcmp(value_of(x, i, f), value_of(x, typical, f)) != 0)
            TRY(diagnosis_add(d, f->kind, x->nodes[i].name, e,
                              "%.60s has another %s than %.60s: %.50s instead of %.50s",
                              x->nodes[i].name, f->name, x->nodes[typical].name,
                              shown(value_of(x, i, f)), shown(value_of(x, typical, f))));
    return OK;
}

enum status diagnose_facts(struct diagnosis *d, const struct examination *x, struct error *e)
{
    TRY(judge_settings(d, x, e));
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        TRY(judge_fact(d, x, &facts[i], e));
    return OK;
}
