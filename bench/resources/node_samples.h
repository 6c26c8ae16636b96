/* What a node did while a launch ran there: a file of samples a node, DIR/node.R.jsonl, R being a rank on
 * it, written beside the launch by build/pin (sampler.h):
 *
 *   {"type":"node","schema":1,"host":"node0","interval_ns":200000000,"nic":"eth0"}
 *   {"type":"sample","t_ns":81200345,"processes":3,...,"interfaces":{"lo":[0,0,0,0],"eth0":[...]}}
 *
 * with the numbers of sample.def, and of each interface bytes and packets received, bytes and packets
 * sent, as the kernel counts them. t_ns is CLOCK_MONOTONIC, the clock of the records of ranks on that node.
 * Here they are read back, and what a node did between two moments is found. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/resources/counters.h"
#include "kernels/base/error.h"

#define SAMPLE_SCHEMA 1

enum sample_value {
#define SAMPLE(id, meaning) SAMPLE_##id,
#include "bench/resources/sample.def"
    SAMPLE_VALUES
};

/* "processes" and so on. */
const char *const *sample_names(void);

/* What a node's interfaces are taken together as: the one that carries MPI, the loopback, all others. */
enum sample_link { LINK_NIC, LINK_LOOPBACK, LINK_OTHERS, SAMPLE_LINKS };

/* A node at a moment. Unknown numbers are NAN; traffic counts from the first sample on, whatever counters
 * wrap or interfaces come and go meanwhile. */
struct sample {
    int64_t t_ns;
    double values[SAMPLE_VALUES];
    double traffic[SAMPLE_LINKS][TRAFFIC_COUNTS];
};

struct node_samples {
    char host[64], nic[INTERFACE_NAME]; /* "": which interface carries MPI is not known */
    int64_t interval_ns;
    struct sample *items; /* in the order of time */
    size_t n;
};

/* Reads one file. A torn last line is ignored; ERR_DATA names any other that is wrong. Freed with
 * node_samples_free in any case. */
enum status node_samples_read(struct node_samples *samples, const char *path, struct error *e);
void node_samples_free(struct node_samples *samples);

/* The node at t_ns, between two samples by what is between them; false before the first and after the
 * last. */
bool node_samples_at(struct sample *sample, const struct node_samples *samples, int64_t t_ns);
