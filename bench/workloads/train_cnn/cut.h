/* Chooses where a net is cut into pipeline stages. Rank 0 decides and broadcasts, because the
 * decision may depend on measured times. The choice does not affect training results. */
#pragma once

#include "kernels/base/error.h"
#include "kernels/net/net.h"

struct trainer;

/* Cuts the net and sets *options to this rank's stage; call it before the net is created.
 * Collective. Does nothing without a pipeline. ERR_ARGUMENT if the plan has fewer ops with
 * parameters than stages. */
enum status cut_net(struct trainer *t, struct net_options *options, struct error *e);

/* Cuts a replayed net by its calibrated times. Collective. Does nothing without a pipeline. */
enum status cut_replayed(struct trainer *t, struct error *e);
