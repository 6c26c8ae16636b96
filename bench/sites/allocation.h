/* Finds the nodes of the Slurm job to which this process belongs. Stores the launcher that works on
 * these nodes, as found by a trial. */
#pragma once

#include "bench/place/place.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct allocation {
    char **names; /* [n]: names of the nodes in Slurm's order; a point uses the first nodes */
    int n;        /* number of nodes; 0: no Slurm job */
    /* ERR_UNAVAILABLE with the reason if the job's nodes cannot be read; else OK */
    struct error missing;
    /* Launcher found by a trial (bench/runner/trial.h); LAUNCHER_auto: not yet tried. */
    enum launcher_kind launcher;
    /* Slurm step name of this campaign's launches, unique among campaigns; "": none yet */
    char steps[64];
};

/* Reads the environment, and asks scontrol for the names of the job's nodes. Free with
 * allocation_free. */
void allocation_find(struct allocation *a);
void allocation_free(struct allocation *a);

/* Sets a->steps, the Slurm step name of the launches, from device and inode number of the run's
 * folder. The name is unique, since only one runner uses a folder at a time. */
void allocation_name_steps(struct allocation *a, const char *run_dir);

/* Returns the properties of this machine and its job that affect values of a spec. */
struct spec_machine allocation_machine(const struct place *place);
