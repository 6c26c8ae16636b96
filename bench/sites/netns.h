/* Hosts that a campaign brings up on this machine for its launches: ci/netns.sh makes them, holds them
 * as long as this program lives and takes them down however it ends. They are as many as the largest
 * point wants; points that want another link have it shaped anew. */
#pragma once

#include <sys/types.h>

#include "bench/sites/argv.h"
#include "bench/spec/spec.h"
#include "kernels/base/error.h"

enum { NETNS_HOSTS_MAX = 16, NETNS_ID_BYTES = 96 };

struct netns {
    char script[4096]; /* path of ci/netns.sh */
    int hosts;         /* of the largest point; 0: no point wants any */
    pid_t holder;      /* 0: nothing is up */
    int line;          /* to the holder, whose end takes all down */
    char id[NETNS_ID_BYTES];
    char link[LINK_BYTES]; /* as they are shaped */
    struct netns_answer *answers;
    size_t n_answers;
};

/* Whether this machine can have hosts with one link, asked once. */
struct netns_answer {
    char link[LINK_BYTES];
    struct error reason; /* its status OK: it can */
};

/* Counts the hosts that the points of a spec want; `home` has ci/netns.sh. ERR_ARGUMENT where its path is
 * too long. Nothing is brought up. */
enum status netns_plan(struct netns *n, const struct spec *spec, const char *home, struct error *e);

/* Adds the command of ci/netns.sh for as many hosts as the campaign wants, with the link that a point wants. */
void netns_add_command(struct argv_builder *argv, const struct netns *n,
                       const struct config *config, const char *mode);

/* Whether they can be brought up with the link that a point wants: ERR_UNAVAILABLE with the reason if
 * not. Leaves nothing behind. */
enum status netns_check(struct netns *n, const struct config *config, struct error *e);

/* Has them up with that link. ERR_UNAVAILABLE with the reason. */
enum status netns_ready(struct netns *n, const struct config *config, struct error *e);

/* Takes down what is up and waits for it; all else can be asked for again. */
void netns_down(struct netns *n);
/* Takes down what is left of hosts whose owner was killed, of whatever campaign of this user. */
void netns_sweep(const struct netns *n);
/* The same as netns_down at the end of a campaign. */
void netns_close(struct netns *n);
