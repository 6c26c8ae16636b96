/* Reads samples of a node's resources, taken during a launch. build/pin (sampler.h) writes one file
 * per node, DIR/node.R.jsonl, where R is a rank on that node:
 *
 *   {"type":"node","schema":1,"host":"node0","interval_ns":200000000,"nic":"eth0"}
 *   {"type":"sample","t_ns":81200345,"processes":3,...,"interfaces":{"lo":[0,0,0,0],"eth0":[...]}}
 *
 * A sample has the values of sample.def and the counters of each interface: bytes received, packets
 * received, bytes sent, packets sent. t_ns is CLOCK_MONOTONIC, as in the records of the ranks. */
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

/* Returns the names of a sample's values in the sample file, [SAMPLE_VALUES]: "processes" and so
 * on. */
const char *const *sample_names(void);

/* Groups of interfaces: the interface that carries MPI, the loopback, all others. */
enum sample_link { LINK_NIC, LINK_LOOPBACK, LINK_OTHERS, SAMPLE_LINKS };

/* Resources of a node at one time. Unknown values are NAN. Traffic is the total since the first
 * sample, even if counters wrap or interfaces appear or disappear. */
struct sample {
    int64_t t_ns;
    double values[SAMPLE_VALUES];
    double traffic[SAMPLE_LINKS][TRAFFIC_COUNTS];
};

struct node_samples {
    char host[64], nic[INTERFACE_NAME]; /* `nic`: interface that carries MPI; "" if unknown */
    int64_t interval_ns;
    struct sample *items; /* [n] samples, ascending in time */
    size_t n;
};

/* Reads one sample file. An incomplete last line is ignored; any other malformed line is ERR_DATA.
 * Call node_samples_free even after an error. */
enum status node_samples_read(struct node_samples *samples, const char *path, struct error *e);
void node_samples_free(struct node_samples *samples);

/* Sets *sample to the values at t_ns, interpolated linearly between samples. Returns false if t_ns
 * lies outside the samples, or there are fewer than two. */
bool node_samples_at(struct sample *sample, const struct node_samples *samples, int64_t t_ns);
