/* Machines reached by ssh: hardware class, number of cores, and whether their programs equal ours.
 * Each machine is asked once, by running `scalebench machine` on it. */
#pragma once

#include "bench/place/hardware.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Option of ssh: fail instead of asking for a password. */
#define SSH_SILENT "BatchMode=yes"
/* Option of ssh: wait at most 10 s for a machine that is off. */
#define SSH_PATIENCE "ConnectTimeout=10"
#define SSH_OPTIONS  "-o " SSH_SILENT " -o " SSH_PATIENCE

enum { MACHINE_HASH_BYTES = 80 };

struct machine {
    char name[256];
    char class[HARDWARE_CLASS_BYTES]; /* hardware class, as hardware_class writes it */
    int cores;                        /* number of cores that ranks can use */
    struct error reason; /* ERR_UNAVAILABLE if ranks cannot run on the machine; else OK */
};

struct machines {
    /* command that every machine runs: scalebench, `machine`, paths of programs, NULL */
    char **question;
    size_t n_programs;
    /* [n_programs] hashes of the programs on the runner's own machine; NULL before the first
     * query */
    char (*hashes)[MACHINE_HASH_BYTES];
    struct machine *all;
    size_t n;
    bool warned; /* whether the warning about different hardware classes was printed */
};

/* Prepares the command that machines will run, but contacts no machine yet. `scalebench`: path of
 * this program. `programs`: NULL-terminated list of the paths of the programs that launches run.
 * Both are copied. Call machines_close afterwards, also after an error. */
enum status machines_open(struct machines *m, const char *scalebench, const char *const *programs,
                          struct error *e);
void machines_close(struct machines *m);

/* Checks the machines of a point, each only once per campaign. ERR_UNAVAILABLE with the name of the
 * first machine that cannot be reached or whose programs are missing or differ from ours. Warns
 * once of different hardware classes. */
enum status machines_check(struct machines *m, const struct config *config, struct error *e);

/* Returns whether a machine is one of the nodes of a point. */
bool machines_has(const struct config *config, const char *name);

/* Returns the smallest number of usable cores among the point's machines that have answered and can
 * run ranks; 0 if there is none. `config` NULL: machines of all points. */
int machines_cores(const struct machines *m, const struct config *config);
