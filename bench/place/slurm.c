#include "bench/place/slurm.h"

#include <limits.h>
#include <stdlib.h>

/* Parses a whole number of at least 1. Returns the first character after it; NULL if there is no
 * such number. */
static const char *parse_count(const char *text, int *count)
{
    char *end;
    if (*text < '0' || *text > '9')
        return NULL;
    long value = strtol(text, &end, 10);
    if (value < 1 || value > INT_MAX)
        return NULL;
    *count = (int)value;
    return end;
}

/* Returns entry `node` of a list such as "72(x2),36", in which Slurm writes equal neighbours once
 * with a repeat count. 0 if the list is malformed or too short. */
static int entry_of(const char *list, long node)
{
    while (list != NULL && *list) {
        int cpus, times = 1;
        list = parse_count(list, &cpus);
        if (list != NULL && list[0] == '(' && list[1] == 'x') {
            list = parse_count(list + 2, &times);
            list = list != NULL && *list == ')' ? list + 1 : NULL;
        }
        if (list == NULL || (*list != ',' && *list != '\0'))
            return 0;
        if (node < times)
            return cpus;
        node -= times;
        list += *list == ',';
    }
    return 0;
}

int place_slurm_tasks(void)
{
    const char *node = getenv("SLURM_NODEID");
    return node != NULL ? entry_of(getenv("SLURM_STEP_TASKS_PER_NODE"), strtol(node, NULL, 10)) : 0;
}

/* Sets *count to the number (at least 1) in an environment variable, 0 if the variable is not set.
 * ERR_ARGUMENT if the value is not such a number. */
static enum status read_count(const char *name, int *count, struct error *e)
{
    const char *text = getenv(name);
    *count = 0;
    if (text == NULL)
        return OK;
    const char *end = parse_count(text, count);
    if (end != NULL && *end == '\0')
        return OK;
    return error_set(e, ERR_ARGUMENT, "%s must be a number such as 16, found '%s'", name, text);
}

static enum status read_own_entry(int *cpus, struct error *e)
{
    const char *list = getenv("SLURM_JOB_CPUS_PER_NODE");
    const char *node = getenv("SLURM_NODEID");
    char *end = "";
    if (list == NULL)
        return OK;
    long number = node != NULL ? strtol(node, &end, 10) : 0;
    if (number >= 0 && *end == '\0')
        *cpus = entry_of(list, number);
    if (*cpus > 0)
        return OK;
    return error_set(
        e, ERR_ARGUMENT,
        "SLURM_JOB_CPUS_PER_NODE must have an entry for each node, as in '72(x2),36'; found '%s', "
        "which has none for node %s",
        list, node != NULL ? node : "0");
}

enum status slurm_share_read(struct slurm_share *share, struct error *e)
{
    *share = (struct slurm_share){0};
    TRY(read_count("SLURM_CPUS_ON_NODE", &share->cpus, e));
    if (share->cpus == 0)
        TRY(read_own_entry(&share->cpus, e));
    TRY(read_count("SLURM_JOB_NUM_NODES", &share->nodes, e));
    return read_count("SLURM_THREADS_PER_CORE", &share->threads_per_core, e);
}
