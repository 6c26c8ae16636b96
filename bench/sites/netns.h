/* Emulated hosts that a campaign brings up on this machine. ci/netns.sh creates the hosts, and
 * removes them when scalebench ends, even if scalebench is killed. */
#pragma once

#include <sys/types.h>

#include "bench/sites/argv.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

enum { NETNS_HOSTS_MAX = EMULATED_HOSTS_MAX, NETNS_ID_BYTES = 96 };

struct netns {
    char script[4096]; /* path of ci/netns.sh */
    int hosts;         /* number of hosts that the largest point needs; 0: no point uses hosts */
    pid_t holder;      /* process of ci/netns.sh that keeps the hosts up; 0: no hosts are up */
    int line;          /* socket to process `holder`; closing the socket takes the hosts down */
    char id[NETNS_ID_BYTES];
    char link[LINK_BYTES]; /* current link of the hosts */
    struct netns_answer *answers;
    size_t n_answers;
};

/* Answer of ci/netns.sh to the question whether this machine can emulate hosts with a given link.
 * The script is asked only once per link. */
struct netns_answer {
    char link[LINK_BYTES];
    struct error reason; /* OK if hosts with the link are possible; else the reason why not */
};

/* Sets n->hosts to the number of hosts that the spec's largest point needs, without starting any.
 * `home`: folder that contains ci/netns.sh. ERR_ARGUMENT if the path is too long. */
enum status netns_plan(struct netns *n, const struct spec *spec, const char *home, struct error *e);

/* Adds a command line of ci/netns.sh with the campaign's number of hosts and the point's link.
 * `mode`: command of the script (probe, hold or exec). */
void netns_add_command(struct argv_builder *argv, const struct netns *n,
                       const struct config *config, const char *mode);

/* Checks whether this machine can emulate hosts with the point's link, without starting any hosts.
 * Runs ci/netns.sh only once per link and keeps the answer. ERR_UNAVAILABLE with the reason if the
 * machine cannot emulate such hosts. */
enum status netns_check(struct netns *n, const struct config *config, struct error *e);

/* Brings the hosts up with the point's link, or changes the link of running hosts. ERR_UNAVAILABLE
 * with the reason if this fails. */
enum status netns_ready(struct netns *n, const struct config *config, struct error *e);

/* Takes the hosts down and waits until they are gone. They can be brought up again. */
void netns_down(struct netns *n);
/* Takes down the hosts of this user's killed campaigns. */
void netns_sweep(const struct netns *n);
/* Takes the hosts down and frees `n`, at the end of a campaign. */
void netns_close(struct netns *n);
