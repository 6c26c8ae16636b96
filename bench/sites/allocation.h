/* The nodes that a batch system has given this process: those of a job of Slurm, and how ranks are
 * started on them. */
#pragma once

#include "bench/place/place.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

struct allocation {
    char **names;         /* [n]: of the nodes, sorted by Slurm; points take the first of them */
    int n;                /* 0: no job of Slurm */
    struct error missing; /* ERR_UNAVAILABLE with the reason where a job's cannot be had; else OK */
    /* Found out by a trial, see bench/runner/trial.h; LAUNCHER_auto: not yet. */
    enum launcher_kind launcher;
    char steps
        [64]; /* name of the steps of a campaign's launches, unlike that of others; "": none yet */
};

/* Asks the environment, and scontrol for the names of a job's nodes. Freed with allocation_free. */
void allocation_find(struct allocation *a);
void allocation_free(struct allocation *a);

/* Names the steps by the folder of a run, which has one runner at a time. */
void allocation_name_steps(struct allocation *a, const char *run_dir);

/* What reading a spec needs to know of this machine and of a job that it belongs to. */
struct spec_machine allocation_machine(const struct place *place);
