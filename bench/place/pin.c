/* pin --cpus "0|1|2-3" [--sample S --sample-to DIR [--nic NAME]] [--] PROGRAM ARGUMENTS...
 *   pin --plan 1,core,compact,refuse ... [--] PROGRAM ARGUMENTS...
 *   pin --leftovers-since SECONDS
 *
 * pin runs as one rank of any MPI launcher. It binds its process to the processors of the
 * node-local rank, from a list or from a plan made on the node. It asks the kernel to kill the
 * process when the launcher dies, so no rank outlives its launch. Then it executes PROGRAM in the
 * same process. The first rank of a node can start a sampler. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench/base/descriptors.h"
#include "bench/place/leftovers.h"
#include "bench/place/place.h"
#include "bench/resources/sampler.h"
#include "kernels/base/launcher.h"
#include "kernels/base/names.h"

static const char usage[] =
    "usage: pin --cpus \"LIST|LIST|...\" [--sample S --sample-to DIR [--nic NAME]] [--] PROGRAM "
    "[ARGUMENT]...\n"
    "       pin --plan THREADS,BIND,ORDER,OVERSUBSCRIBE ... [--] PROGRAM [ARGUMENT]...\n"
    "       pin --leftovers-since SECONDS\n"
    "\n"
    "Binds a rank to its processors, then becomes PROGRAM.\n"
    "--cpus gives the processors of each node-local rank: one list per rank, separated by '|',\n"
    "each in the format of Linux (0 or 0-3,8). An empty list leaves its rank unbound.\n"
    "--plan computes the processors on each node. Its four values have the meaning of\n"
    "place.threads_per_rank, place.bind, place.order and place.oversubscribe in a spec.\n"
    "The rank is the first of MPI_LOCALRANKID, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID and\n"
    "PMI_RANK that is set.\n"
    "PROGRAM is killed when the process that started pin ends.\n"
    "--sample writes CPU time and memory of the node's ranks and bytes at its interfaces to\n"
    "DIR/node.RANK.jsonl, every S seconds until the node's first rank ends.\n"
    "--nic names the interface that carries MPI (default: the interface of the default route).\n"
    "--leftovers-since starts nothing. It removes shared-memory files that killed ranks have left\n"
    "on this node since SECONDS (since 1970), unless a process uses them.\n"
    "\n"
    "exit status: PROGRAM's; 2 wrong usage, 3 cannot bind, 126 or 127 cannot run PROGRAM\n";

static enum status local_rank(long *rank, struct error *e)
{
    /* Variables of mpiexec come before SLURM_LOCALID: if mpiexec runs inside a Slurm job, all ranks
     * of a Hydra proxy inherit the proxy's SLURM_LOCALID. */
    static const char *const names[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "SLURM_LOCALID", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        if (text == NULL)
            continue;
        *rank = strtol(text, &end, 10);
        if (end == text || *end || *rank < 0)
            return error_set(e, ERR_ARGUMENT,
                             "%s must be a rank (a whole number from 0), found '%s'", names[i],
                             text);
        return OK;
    }
    return error_set(
        e, ERR_ARGUMENT,
        "expected a rank in MPI_LOCALRANKID, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID or "
        "PMI_RANK, found none. Start pin by mpiexec or srun");
}

/* Extracts the entry of the node-local rank from a list such as "0|1|2-3". */
static enum status own_entry(char *cpus, long rank, char **entry, struct error *e)
{
    const char *whole = cpus;
    long n = 1;
    for (const char *c = cpus; *c; c++)
        n += *c == '|';
    if (rank >= n)
        return error_set(
            e, ERR_ARGUMENT,
            "--cpus '%s': expected an entry for node-local rank %ld, found %ld entries", whole,
            rank, n);
    for (; rank > 0; rank--)
        strsep(&cpus, "|");
    *entry = strsep(&cpus, "|");
    return OK;
}

/* ---- Plan made on this node ---- */

/* Returns the number of ranks on this node; 0 if the launcher does not report it. */
static int local_ranks(void)
{
    const char *hydra = getenv("MPI_LOCALNRANKS");
    return hydra != NULL ? (int)strtol(hydra, NULL, 10) : place_slurm_tasks();
}

struct plan_request {
    int threads, bind, order, oversubscribe;
};

static enum status parse_plan(struct plan_request *w, const char *text, struct error *e)
{
    char bind[16], order[16], oversubscribe[16];
    bool read =
        sscanf(text, "%d,%15[^,],%15[^,],%15s", &w->threads, bind, order, oversubscribe) == 4;
    w->bind = read ? name_index(bind, names_binds->names, names_binds->n) : -1;
    w->order = read ? name_index(order, names_orders->names, names_orders->n) : -1;
    w->oversubscribe =
        read ? name_index(oversubscribe, names_oversubscribe->names, names_oversubscribe->n) : -1;
    if (w->bind >= 0 && w->order >= 0 && w->oversubscribe >= 0)
        return OK;
    return error_set(e, ERR_ARGUMENT,
                     "--plan: expected THREADS,BIND,ORDER,OVERSUBSCRIBE, such as "
                     "1,core,compact,refuse, found '%s'",
                     text);
}

/* Plans this node's ranks. *cpus: list of the processors of node-local rank `rank`; free with
 * free(). */
static enum status own_share(const struct place *place, const struct plan_request *w, long rank,
                             char **cpus, struct error *e)
{
    struct place_plan plan;
    int ranks = local_ranks();
    if (ranks <= rank)
        return error_set(e, ERR_ARGUMENT,
                         "node-local rank is %ld (from 0), but the launcher reports only %d ranks "
                         "on this node. Set MPI_LOCALNRANKS or SLURM_STEP_TASKS_PER_NODE to the "
                         "number of ranks on this node",
                         rank, ranks);
    TRY(place_make_plan(place, ranks, w->threads, (enum place_bind)w->bind,
                        (enum place_order)w->order, w->oversubscribe == OVERSUBSCRIBE_allow, &plan,
                        e));
    *cpus = strdup(plan.slots[rank].cpus);
    place_plan_free(&plan);
    return *cpus != NULL ? OK : error_no_memory(e, "a plan of ranks");
}

static enum status plan_own(const char *text, long rank, char **cpus, struct error *e)
{
    struct place *place;
    struct plan_request request;
    TRY(parse_plan(&request, text, e));
    TRY(place_open(&place, NULL, e));
    enum status status = own_share(place, &request, rank, cpus, e);
    place_close(place);
    return status;
}

/* ---- Life of a rank ---- */

static enum status die_with_parent(pid_t parent, struct error *e)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return error_set(
            e, ERR_SYSTEM,
            "cannot make the kernel kill the rank when its launcher ends: PR_SET_PDEATHSIG: %s",
            strerror(errno));
    /* If the parent died before prctl, no signal arrives, but getppid shows another parent. */
    if (getppid() != parent || getppid() == 1)
        return error_set(e, ERR_INTERRUPTED, "the launcher ended before the rank started");
    return OK;
}

/* Ends the whole launch under Hydra; returns `status`. If a process exits before MPI_Init, Hydra
 * lets the other ranks wait in MPI_Init forever. So pin sends the abort command of PMI version 1,
 * as MPI_Abort does. Other launchers have an option for this. */
static int end_launch(int status)
{
    char line[64];
    const char *fd = getenv("PMI_FD");
    if (fd == NULL || getenv("MPI_LOCALRANKID") == NULL)
        return status;
    launcher_await_reading();
    int n = snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
    (void)send((int)strtol(fd, NULL, 10), line, (size_t)n, MSG_NOSIGNAL);
    return status;
}

static int fail(const struct error *e)
{
    fputs("pin: ", stderr);
    error_print(stderr, e);
    return end_launch(error_exit_status(e));
}

struct request {
    char *cpus, *plan;    /* values of options --cpus and --plan; NULL: not given. Giving both is
                             refused (find_idle) */
    const char *interval; /* sampling interval in seconds; NULL: no samples */
    /* time (seconds since 1970). Files that killed ranks wrote at or after this time are removed,
     * and no rank is started. NULL: a rank is started and no files are removed */
    const char *leftovers_since;
    struct sampler_options sampler;
};

/* Options with a text argument, and the member of struct request that receives it. */
static const struct {
    const char *name;
    size_t member;
} texts[] = {{"cpus", offsetof(struct request, cpus)},
             {"plan", offsetof(struct request, plan)},
             {"sample", offsetof(struct request, interval)},
             {"sample-to", offsetof(struct request, sampler.folder)},
             {"nic", offsetof(struct request, sampler.nic)},
             {"leftovers-since", offsetof(struct request, leftovers_since)}};
enum { TEXTS = sizeof texts / sizeof *texts };

static int parse(int argc, char **argv, struct request *r)
{
    struct option options[TEXTS + 2] = {[TEXTS] = {"help", no_argument, NULL, 'h'}};
    int c;
    for (int i = 0; i < TEXTS; i++)
        options[i] = (struct option){texts[i].name, required_argument, NULL, i};
    while ((c = getopt_long(argc, argv, "+h", options, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            exit(descriptors_end_output("pin", 0));
        }
        if (c >= TEXTS) {
            fputs("See pin --help.\n", stderr);
            exit(2);
        }
        memcpy((char *)r + texts[c].member, &optarg, sizeof optarg);
    }
    return optind;
}

/* Returns the rank in the whole launch. If the launcher does not report this rank, returns `local`,
 * the rank on the node. */
static long own_rank(long local)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return strtol(getenv(names[i]), NULL, 10);
    return local;
}

/* Starts the sampler before the rank is bound, so that the sampler does not inherit the binding. */
static enum status start_sampler(struct request *r, long local, struct error *e)
{
    char *end;
    if (r->interval == NULL || local != 0)
        return OK;
    r->sampler.interval_s = strtod(r->interval, &end);
    if (*end || end == r->interval || !(r->sampler.interval_s >= 1e-3) || r->sampler.folder == NULL)
        return error_set(e, ERR_ARGUMENT,
                         "--sample %s: expected an interval of at least 0.001 seconds, together "
                         "with --sample-to FOLDER",
                         r->interval);
    r->sampler.rank = own_rank(local);
    return sampler_start(&r->sampler, e);
}

static enum status begin(struct request *r, struct error *e)
{
    char *entry = NULL;
    long rank = 0;
    TRY(local_rank(&rank, e));
    if (r->cpus != NULL)
        TRY(own_entry(r->cpus, rank, &entry, e));
    else
        TRY(plan_own(r->plan, rank, &entry, e));
    TRY(start_sampler(r, rank, e));
    return place_bind_self(entry, e);
}

static int remove_leftovers(const char *since)
{
    char *end;
    long long seconds = strtoll(since, &end, 10);
    if (*end || end == since || seconds < 0) {
        fprintf(stderr, "pin: --leftovers-since must be seconds since 1970, found %s\n", since);
        return 2;
    }
    leftovers_remove((struct timespec){.tv_sec = (time_t)seconds});
    return 0;
}

/* Returns an error message if an option has no effect in combination with the other options;
 * otherwise NULL. */
static const char *find_idle(const struct request *r, bool has_program)
{
    bool binds = r->cpus != NULL || r->plan != NULL || r->interval != NULL || has_program;
    if (r->leftovers_since != NULL)
        return binds ? "--leftovers-since starts nothing. Remove the other arguments" : NULL;
    if (r->cpus != NULL && r->plan != NULL)
        return "--cpus and --plan both set the processors of a rank. Remove one of them";
    if (r->interval == NULL && (r->sampler.folder != NULL || r->sampler.nic != NULL))
        return "--sample-to and --nic have no effect without --sample. Add --sample SECONDS";
    return NULL;
}

int main(int argc, char **argv)
{
    struct request r = {.sampler = {.launcher = getppid()}};
    struct error e = {0};
    descriptors_open_standard();
    int first = parse(argc, argv, &r);
    const char *idle = find_idle(&r, first < argc);
    if (idle != NULL) {
        fprintf(stderr, "pin: %s\n", idle);
        return 2;
    }
    if (r.leftovers_since != NULL)
        return remove_leftovers(r.leftovers_since);
    bool bound = r.cpus != NULL || r.plan != NULL;
    if (!bound || first >= argc) {
        fprintf(stderr, "pin: %s is missing\n%s", bound ? "PROGRAM" : "--cpus", usage);
        return 2;
    }
    if (begin(&r, &e) != OK || die_with_parent(r.sampler.launcher, &e) != OK)
        return fail(&e);
    execvp(argv[first], argv + first);
    int status = errno == ENOENT ? 127 : 126;
    fprintf(stderr, "pin: cannot run %s: %s\n", argv[first], strerror(errno));
    return end_launch(status);
}
