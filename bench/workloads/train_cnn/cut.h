/* Where a net is cut into the stages of a pipeline. Rank 0 decides and tells the others: cuts differ with what
 * is measured, what is computed does not. */
#pragma once

#include "kernels/base/error.h"
#include "kernels/net/net.h"

struct trainer;

/* Before the net is made, which *options then asks for as the rank's stage. Collective. Without a pipeline
 * nothing is done, here and below. ERR_ARGUMENT where the plan has fewer ops with parameters than stages. */
enum status cut_net(struct trainer *t, struct net_options *options, struct error *e);

/* The same of a net that is not computed, once it is known what its ops take. */
enum status cut_replayed(struct trainer *t, struct error *e);
