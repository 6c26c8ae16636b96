/* Derives findings about a cluster from the measurements of all ranks. diagnosis_make uses only the
 * rows of measured tables (struct examination), no files or clocks. */
#pragma once

#include <stdbool.h>

#include "bench/doctor/outlier.h"
#include "bench/doctor/table.h"

/* Rows of the measured tables; free with examination_free. */
struct examination {
    struct doctor_node *nodes;
    struct doctor_burst *bursts;
    struct doctor_message *messages;
    size_t n_nodes, n_bursts, n_messages;
};

/* Reads nodes.csv, bursts.csv and messages.csv of a folder. ERR_DATA if a file is missing or
 * malformed, or if files contradict each other; ERR_SYSTEM if reading fails. Call examination_free
 * even after an error. */
enum status examination_read(struct examination *x, const char *folder, struct error *e);
void examination_free(struct examination *x);

enum finding_kind {
#define FINDING(name, counts, advice) FINDING_##name,
#include "bench/doctor/findings.def"
    FINDINGS
};

/* Margins of findings. A core or link is slow if the whole confidence interval of its ratio (rate
 * or time) to the others is worse than 1 by more than the margin. DOCTOR_RATE_MARGIN is half of the
 * 10 % loss that must be detected. The other margins are larger: memory latencies vary with the
 * placement of pages, message latencies with the number of switches. */
#define DOCTOR_RATE_MARGIN    0.05
#define DOCTOR_LATENCY_MARGIN 0.25
#define DOCTOR_MESSAGE_MARGIN 1.0
/* A rank loses its core if its share of time on the core (%) is below this limit, or if the
 * hypervisor's share is above 100 minus this limit. The whole confidence interval of the share must
 * lie beyond the limit. */
#define DOCTOR_ON_CORE_PCT 95.0

struct diagnosis {
    struct doctor_core *cores; /* [n_cores] the core of each rank */
    struct doctor_link *links; /* [n_links] rows of links.csv: each direction between two nodes, and
                                  a link within each node */
    /* [n_links] for each of `links`: numbers of the sending and the receiving node, whether this
     * direction is slow, and the cause */
    struct direction *directions;
    struct doctor_finding *findings; /* [n_findings] problems first, then notes */
    size_t n_cores, n_links, n_findings;
    size_t n_counting; /* number of findings that are problems */
};

/* Makes the diagnosis. `stale`: a sentence about an outdated build, added as a problem; or NULL.
 * Errors: ERR_MEMORY. Call diagnosis_free afterwards, even after an error. */
enum status diagnosis_make(struct diagnosis *d, const struct examination *x, const char *stale,
                           struct error *e);
void diagnosis_free(struct diagnosis *d);

/* Internal to bench/doctor. Adds a finding about `subject`; `format` and its arguments give the
 * text as in printf. Subject and text are cut to DOCTOR_TEXT - 1 bytes. */
enum status diagnosis_add(struct diagnosis *d, enum finding_kind kind, const char *subject,
                          struct error *e, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Internal to bench/doctor. Add the findings about cores, about links, and about the facts of
 * nodes. */
enum status diagnose_cores(struct diagnosis *d, const struct examination *x, struct error *e);
enum status diagnose_links(struct diagnosis *d, const struct examination *x, struct error *e);
enum status diagnose_facts(struct diagnosis *d, const struct examination *x, struct error *e);

/* Internal to bench/doctor. Returns the name of a node. */
const char *examination_node(const struct examination *x, double node);
/* Internal to bench/doctor. Formats a ratio with its interval: "0.900 [0.893, 0.908]". */
char *diagnosis_ratio(char text[96], const struct interval *ratio);
