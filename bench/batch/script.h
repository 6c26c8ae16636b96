/* Writes the script of a batch job: configs/sites/bench.sbatch with the values of the cluster and
 * the job filled in. */
#pragma once

#include <stdio.h>

#include "bench/batch/cluster.h"
#include "kernels/base/error.h"

/* Values to fill into a script; all pointers are borrowed. */
struct script {
    const struct cluster *cluster;
    const char *template; /* path of the script's template, bench.sbatch */
    const char *programs; /* folder with the program scalebench */
    const char *name;     /* name of the campaign */
    const char *spec;     /* path of the spec as the user typed it */
    const char *set;      /* argument of --set in the job's command; "": none */
    const char *out;      /* folder of results */
    long nodes;
};

/* Callback for file_write: writes the script; `arg` is a struct script. ERR_SYSTEM if the template
 * cannot be read. */
enum status script_write(FILE *out, const void *arg, struct error *e);
