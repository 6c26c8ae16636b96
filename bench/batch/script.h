/* Script of a batch job: configs/sites/bench.sbatch with the cluster's and the job's values. */
#pragma once

#include <stdio.h>

#include "bench/batch/cluster.h"
#include "kernels/base/error.h"

/* Values of a script; all pointers are borrowed. */
struct script {
    const struct cluster *cluster;
    const char *template; /* path of bench.sbatch */
    const char *programs; /* folder of scalebench */
    const char *name;     /* name of the campaign */
    const char *spec;     /* path as the user typed it */
    const char *set;      /* --set of the job's command; "": none */
    const char *out;      /* folder of results */
    long nodes;
};

/* Writes a struct script, for file_write. ERR_SYSTEM if the template cannot be read. */
enum status script_write(FILE *out, const void *arg, struct error *e);
