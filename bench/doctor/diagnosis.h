/* From what ranks measured to what is wrong, and with whom. No file, no clock: a function of the rows. */
#pragma once

#include <stdbool.h>

#include "bench/doctor/outlier.h"
#include "bench/doctor/table.h"

/* Rows as they were measured; freed with examination_free. */
struct examination {
    struct doctor_node *nodes;
    struct doctor_burst *bursts;
    struct doctor_message *messages;
    size_t n_nodes, n_bursts, n_messages;
};

/* Reads the three files of a folder. ERR_DATA where one is not there or not whole. Freed in any case. */
enum status examination_read(struct examination *x, const char *folder, struct error *e);
void examination_free(struct examination *x);

enum finding_kind {
#define FINDING(name, counts, advice) FINDING_##name,
#include "bench/doctor/findings.def"
    FINDINGS
};

/* By so much a rate or time may differ from the others' before its whole interval lies beyond: half of the
 * 10 % that are to be told. Latencies of memory differ by how pages happen to lie, those of messages by
 * switches on the way. */
#define DOCTOR_RATE_MARGIN    0.05
#define DOCTOR_LATENCY_MARGIN 0.25
#define DOCTOR_MESSAGE_MARGIN 1.0
/* A core is lost to others where a rank is on it for less of the time, over the whole interval. */
#define DOCTOR_ON_CORE_PCT 95.0

struct diagnosis {
    struct doctor_core *cores;       /* a rank each */
    struct doctor_link *links;       /* a direction of a pair each */
    struct direction *directions;    /* [n_links]: the same by nodes, with who is to blame */
    struct doctor_finding *findings; /* those that count first */
    size_t n_cores, n_links, n_findings;
    size_t n_counting; /* of the findings */
};

/* `stale`: a sentence about the build, or NULL. ERR_DATA for rows that contradict each other. Freed with
 * diagnosis_free in any case. */
enum status diagnosis_make(struct diagnosis *d, const struct examination *x, const char *stale,
                           struct error *e);
void diagnosis_free(struct diagnosis *d);

/* Inside bench/doctor: a finding more; what is too long is cut. */
enum status diagnosis_add(struct diagnosis *d, enum finding_kind kind, const char *subject,
                          struct error *e, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Inside bench/doctor: what the parts of an examination tell. */
enum status diagnose_cores(struct diagnosis *d, const struct examination *x, struct error *e);
enum status diagnose_links(struct diagnosis *d, const struct examination *x, struct error *e);
enum status diagnose_facts(struct diagnosis *d, const struct examination *x, struct error *e);

/* Inside bench/doctor: the name of a node. */
const char *examination_node(const struct examination *x, double node);
/* Inside bench/doctor: "0.900 [0.893, 0.908]". */
char *diagnosis_ratio(char text[96], const struct interval *ratio);
