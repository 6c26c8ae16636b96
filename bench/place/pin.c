/* pin --cpus "0|1|2-3" [--sample S --sample-to DIR [--nic NAME]] [--] PROGRAM ARGUMENTS...
 * pin --plan 1,core,compact,refuse ... [--] PROGRAM ARGUMENTS...
 * pin --leftovers-since SECONDS
 *
 * Started once a rank by any MPI launcher: binds itself to the entry of its node-local rank, or to what
 * a plan of its node gives that rank, asks
 * the kernel to be killed when its launcher dies, and becomes PROGRAM. So binding does not depend
 * on what a launcher calls its own option, and no rank outlives its launch. The first rank of a node
 * may have the node sampled meanwhile, so that it does not depend on PROGRAM either. */
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
    "Binds to the processors of the own node-local rank, then becomes PROGRAM. Ranks are "
    "separated\n"
    "by '|', each a list as Linux writes it (0 or 0-3,8); an empty one leaves its rank alone.\n"
    "A plan is made on each node of its own, as place.threads_per_rank and place.* of a spec say.\n"
    "The rank is read from MPI_LOCALRANKID, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID or "
    "PMI_RANK, the\n"
    "first that is set.\n"
    "PROGRAM is killed when the process that started pin ends.\n"
    "With --sample, CPU time and memory of the node's ranks and bytes at its interfaces are "
    "written to\n"
    "DIR/node.RANK.jsonl every S seconds until the node's first rank ends; NAME is the interface "
    "that\n"
    "carries MPI, by itself that of the default route.\n"
    "With --leftovers-since, nothing is started: what ranks that were killed have left in this\n"
    "node's shared memory since then, in seconds since 1970, and nobody holds is removed.\n"
    "\n"
    "exit status: PROGRAM's; 2 usage, 3 cannot bind, 126 or 127 cannot run PROGRAM\n";

static enum status local_rank(long *rank, struct error *e)
{
    /* Variables of an mpiexec come first: under one inside a Slurm job, SLURM_LOCALID is that of its
     * proxy, the same for all of its ranks. */
    static const char *const names[] = {"MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "SLURM_LOCALID", "PMI_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        char *end;
        if (text == NULL)
            continue;
        *rank = strtol(text, &end, 10);
        if (end == text || *end || *rank < 0)
            return error_set(e, ERR_ARGUMENT, "%s='%s' is not a rank", names[i], text);
        return OK;
    }
    return error_set(e, ERR_ARGUMENT,
                     "no rank: none of MPI_LOCALRANKID, OMPI_COMM_WORLD_LOCAL_RANK, SLURM_LOCALID, "
                     "PMI_RANK is set; pin is started by mpiexec or srun");
}

/* Cuts entry number `rank` out of "0|1|2-3". */
static enum status own_entry(char *cpus, long rank, char **entry, struct error *e)
{
    const char *whole = cpus;
    long n = 1;
    for (const char *c = cpus; *c; c++)
        n += *c == '|';
    if (rank >= n)
        return error_set(e, ERR_ARGUMENT, "node-local rank %ld, but --cpus '%s' has %ld", rank,
                         whole, n);
    for (; rank > 0; rank--)
        strsep(&cpus, "|");
    *entry = strsep(&cpus, "|");
    return OK;
}

/* ---- A plan ---- */

/* Of this node; 0: the launcher does not say. */
static int local_ranks(void)
{
    const char *hydra = getenv("MPI_LOCALNRANKS");
    return hydra != NULL ? (int)strtol(hydra, NULL, 10) : place_slurm_tasks();
}

struct wishes {
    int threads, bind, order, oversubscribe;
};

static enum status parse_wishes(struct wishes *w, const char *text, struct error *e)
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
    return error_set(e, ERR_ARGUMENT, "'%s' is not a plan; such a plan is 1,core,compact,refuse",
                     text);
}

/* The processors of a rank of this node, freed with free. */
static enum status own_share(const struct place *place, const struct wishes *w, long rank,
                             char **cpus, struct error *e)
{
    struct place_plan plan;
    int ranks = local_ranks();
    if (ranks <= rank)
        return error_set(e, ERR_ARGUMENT,
                         "node-local rank %ld of %d: neither MPI_LOCALNRANKS nor "
                         "SLURM_STEP_TASKS_PER_NODE says how many ranks this node has",
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
    struct wishes wishes;
    TRY(parse_wishes(&wishes, text, e));
    TRY(place_open(&place, NULL, e));
    enum status status = own_share(place, &wishes, rank, cpus, e);
    place_close(place);
    return status;
}

/* ---- Its life ---- */

static enum status die_with_parent(pid_t parent, struct error *e)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return error_set(e, ERR_SYSTEM, "PR_SET_PDEATHSIG: %s", strerror(errno));
    /* A parent that died before this line sends no signal: an orphan has another parent by now. */
    if (getppid() != parent || getppid() == 1)
        return error_set(e, ERR_INTERRUPTED, "the launcher is gone");
    return OK;
}

/* Hydra does not end a launch for a process that leaves before MPI_Init: the other ranks would wait for
 * this one in there for ever. So it is told as MPI_Abort does, by PMI's own words (version 1). A
 * launcher that is not hydra speaks others and has its own option for this. */
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
    char *cpus, *plan;           /* where the processors of a rank come from: one of the two */
    const char *interval;        /* of samples, in seconds; NULL: none are taken */
    const char *leftovers_since; /* NULL: ranks are to be started */
    struct sampler_options sampler;
};

/* Each option that takes a text, and its member of struct request. */
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
            fputs("pin --help tells more\n", stderr);
            exit(2);
        }
        memcpy((char *)r + texts[c].member, &optarg, sizeof optarg);
    }
    return optind;
}

/* In all ranks of the launch; that of the node where nobody tells. */
static long own_rank(long local)
{
    static const char *const names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return strtol(getenv(names[i]), NULL, 10);
    return local;
}

/* Before the rank is bound: the sampler goes wherever there is room. */
static enum status start_sampler(struct request *r, long local, struct error *e)
{
    char *end;
    if (r->interval == NULL || local != 0)
        return OK;
    r->sampler.interval_s = strtod(r->interval, &end);
    if (*end || end == r->interval || !(r->sampler.interval_s >= 1e-3) || r->sampler.folder == NULL)
        return error_set(e, ERR_ARGUMENT,
                         "--sample %s: seconds from 0.001 on, and --sample-to with a folder",
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
        fprintf(stderr, "pin: --leftovers-since %s: seconds since 1970\n", since);
        return 2;
    }
    leftovers_remove((struct timespec){.tv_sec = (time_t)seconds});
    return 0;
}

/* What has no effect beside the others; NULL: nothing. */
static const char *find_idle(const struct request *r, bool has_program)
{
    bool binds = r->cpus != NULL || r->plan != NULL || r->interval != NULL || has_program;
    if (r->leftovers_since != NULL)
        return binds ? "--leftovers-since starts nothing; leave all else out" : NULL;
    if (r->cpus != NULL && r->plan != NULL)
        return "--cpus and --plan both say where a rank runs; leave one of them out";
    if (r->interval == NULL && (r->sampler.folder != NULL || r->sampler.nic != NULL))
        return "--sample-to and --nic have no effect without --sample; give --sample SECONDS";
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
