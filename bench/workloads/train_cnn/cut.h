/* Splits a network into pipeline stages. Rank 0 computes the split and broadcasts it, because
 * measured times may differ between ranks. The split does not affect training results. */
#pragma once

#include "kernels/base/error.h"
#include "kernels/net/net.h"

struct trainer;

/* Splits the network and sets the ops and slots in *options for this rank's stage. Call it before
 * the network is created. Collective. Does nothing without a pipeline. ERR_ARGUMENT if the plan has
 * fewer ops with parameters than stages. */
enum status cut_net(struct trainer *t, struct net_options *options, struct error *e);

/* Splits a replayed network by its calibrated times or FLOPs. Collective. Does nothing without a
 * pipeline. */
enum status cut_replayed(struct trainer *t, struct error *e);
