/* Gathers the measured rows of all ranks on rank 0 and writes them to CSV files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define XXH_INLINE_ALL /* makes xxhash.h include its code, so that no library is linked */
#include <xxhash.h>

#include "bench/doctor/facts.h"
#include "bench/place/place.h"
#include "bench/workloads/doctor/doctor.h"
#include "bench/workloads/libraries.h"
#include "kernels/base/clock.h"
#include "kernels/base/mem.h"

/* ---- This node ---- */

static void hash_program(char *text)
{
    char buffer[65536];
    size_t n;
    XXH3_state_t state;
    FILE *in = fopen("/proc/self/exe", "re");
    if (in == NULL)
        return;
    XXH3_64bits_reset(&state);
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        XXH3_64bits_update(&state, buffer, n);
    fclose(in);
    snprintf(text, DOCTOR_TEXT, "%016" PRIx64, XXH3_64bits_digest(&state));
}

/* Writes the MPI library's name and version to `text`, such as "MPICH 4.0.2". */
static void name_library(char *text)
{
    char said[MPI_MAX_LIBRARY_VERSION_STRING] = "", name[64] = "", version[64] = "";
    int length;
    MPI_Get_library_version(said, &length);
    if (sscanf(said, "%63s Version: %63s", name, version) == 2)
        snprintf(text, DOCTOR_TEXT, "%s %s", name, version);
    else
        snprintf(text, DOCTOR_TEXT, "%.*s", (int)strcspn(said, ",\n"), said);
}

static enum status describe_node(struct doctor_node *n, const struct doctor *d, struct error *e)
{
    struct place *place;
    int64_t resolution_ns, read_ns;
    doctor_clear(&doctor_nodes, n);
    facts_read(n, "");
    TRY(place_open(&place, NULL, e));
    struct place_machine m = place_machine(place);
    place_close(place);
    n->node = d->node;
    gethostname(n->name, DOCTOR_TEXT - 1);
    n->ranks = 0;
    for (int r = 0; r < d->ranks; r++)
        n->ranks += d->node_of[r] == d->node;
    n->cores = m.usable_cores;
    n->quota_cores = m.quota_cores > 0 ? m.quota_cores : NAN;
    clock_calibrate(&resolution_ns, &read_ns);
    n->clock_read_ns = (double)read_ns;
    hash_program(n->program);
    libraries_hash(n->libraries);
    name_library(n->mpi);
    return OK;
}

/* ---- All nodes ---- */

/* Rows of one table: on rank 0 after `collect`, rows of all ranks; otherwise rows of this rank. */
struct rows {
    const struct doctor_table *table;
    char *rows;
    size_t n;
};

static enum status pass(struct doctor *d, void *data, size_t bytes, int rank, struct error *e)
{
    struct message m = {.data = data, .bytes = bytes, .rank = rank};
    if (bytes == 0)
        return OK;
    return d->rank == 0 ? wait_receive(&d->waiter, &m, 1, MPI_COMM_WORLD, "rows", e)
                        : wait_send(&d->waiter, &m, 1, MPI_COMM_WORLD, "rows", e);
}

static enum status receive_rows(struct doctor *d, struct rows *all, int rank, struct error *e)
{
    uint64_t n;
    TRY(pass(d, &n, sizeof n, rank, e));
    char *longer = reallocarray(all->rows, all->n + n + 1, all->table->row_bytes);
    if (longer == NULL)
        return error_no_memory(e, "rows");
    all->rows = longer;
    TRY(pass(d, longer + all->n * all->table->row_bytes, n * all->table->row_bytes, rank, e));
    all->n += n;
    return OK;
}

/* Gathers the rows of all ranks on rank 0, which reallocates all->rows and writes the table. */
static enum status collect(struct doctor *d, struct rows *all, const char *folder, struct error *e)
{
    uint64_t n = all->n;
    if (d->rank > 0) {
        TRY(pass(d, &n, sizeof n, 0, e));
        return pass(d, all->rows, n * all->table->row_bytes, 0, e);
    }
    for (int rank = 1; rank < d->ranks; rank++)
        TRY(receive_rows(d, all, rank, e));
    return doctor_write(all->table, folder, all->rows, all->n, e);
}

enum status report_write(struct doctor *d, const char *folder, struct error *e)
{
    struct doctor_node *node;
    TRY(MEM_NEW(node, 1, "a node", e));
    struct rows nodes = {&doctor_nodes, (char *)node, is_first(d) ? 1 : 0};
    enum status status = is_first(d) ? describe_node(node, d, e) : OK;
    THEN(status, collect(d, &nodes, folder, e));
    free(nodes.rows);
    TRY(status);
    struct rows bursts = {&doctor_bursts, (char *)d->bursts, (size_t)d->rounds};
    struct rows messages = {&doctor_messages, (char *)d->messages, d->n_messages};
    status = collect(d, &bursts, folder, e);
    d->bursts = (struct doctor_burst *)bursts.rows;
    THEN(status, collect(d, &messages, folder, e));
    d->messages = (struct doctor_message *)messages.rows;
    return status;
}
