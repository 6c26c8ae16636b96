/* Machines that ssh reaches: of which class each is, how many cores it has, whether the programs there are
 * those of here. Each is asked once, by its own `scalebench machine`. */
#pragma once

#include "bench/place/hardware.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

/* Nobody answers when ssh asks for a password, and a machine that is off is not waited for. */
#define SSH_SILENT   "BatchMode=yes"
#define SSH_PATIENCE "ConnectTimeout=10"
#define SSH_OPTIONS  "-o " SSH_SILENT " -o " SSH_PATIENCE

enum { MACHINE_HASH_BYTES = 80 };

struct machine {
    char name[256];
    char class[HARDWARE_CLASS_BYTES]; /* as hardware_class says it there */
    int cores;                        /* that ranks may use there */
    struct error reason;              /* ERR_UNAVAILABLE: why nothing can run there; else OK */
};

struct machines {
    char **question; /* scalebench, `machine`, then paths of programs: NULL-terminated */
    size_t n_programs;
    char (*hashes)
        [MACHINE_HASH_BYTES]; /* [n_programs]: what this machine answers; NULL: not asked yet */
    struct machine *all;
    size_t n;
    bool warned; /* of classes that differ */
};

/* `scalebench` is the path of this program, `programs` (NULL-terminated) what launches run; both are
 * copied. Nobody is asked. Ended with machines_close in any case. */
enum status machines_open(struct machines *m, const char *scalebench, const char *const *programs,
                          struct error *e);
void machines_close(struct machines *m);

/* Asks those of a point's machines of which nothing is known. ERR_UNAVAILABLE, naming the machine, where one
 * cannot be reached, or its programs are missing or another build. Classes that differ are warned of, once. */
enum status machines_check(struct machines *m, const struct config *config, struct error *e);

/* The fewest cores that ranks may use on one of a point's machines (config NULL: of all), as far as they have
 * been asked; 0: none has. */
int machines_cores(const struct machines *m, const struct config *config);
