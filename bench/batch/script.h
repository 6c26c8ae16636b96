/* The script of a job: configs/sites/bench.sbatch with the places filled in that it leaves open. */
#pragma once

#include <stdio.h>

#include "bench/batch/cluster.h"
#include "kernels/base/error.h"

/* All borrowed. */
struct script {
    const struct cluster *cluster;
    const char *template; /* path of bench.sbatch */
    const char *programs; /* folder of scalebench */
    const char *name;     /* of the campaign */
    const char *spec;     /* as it was typed */
    const char *set;      /* of the job's own command: "" is none */
    const char *out;      /* folder of results */
    long nodes;           /* of the job */
};

/* Writes a struct script, for file_write. ERR_SYSTEM where the template cannot be read. */
enum status script_write(FILE *out, const void *arg, struct error *e);
