/* What the strategies cost that are not exact, or not in step. Internal to comm/cost. */
#ifndef SCALEBENCH_COMM_COST_APPROXIMATE_H
#define SCALEBENCH_COMM_COST_APPROXIMATE_H

#include "comm/cost/collectives.h"

/* A sum that is under way while the next step computes. */
struct cost cost_delayed(const struct party *p, size_t count, size_t width);

/* A period of config->period steps, of those after config->post_local; before, every step costs as
 * much. */
struct cost cost_local_sgd(const struct strategy_config *config, const struct party *p,
                           size_t count, size_t width);

/* Who averages with whom after step number `step`, from 1: the circle method of tournaments, in
 * which ranks i and j meet when i + j = step modulo m - 1, m being `ranks` or, where that is odd,
 * one more: then who should meet the last, who is missing, rests, and is its own partner. After
 * m - 1 steps everyone has met everyone once. */
int gossip_partner(int rank, int ranks, uint64_t step);
/* m - 1 */
uint64_t gossip_rounds(int ranks);

/* Those rounds: an exchange of weights with each of the others. */
struct cost cost_gossip(const struct party *p, size_t count, size_t width);

/* What a rank does in one round of adasum: sends its gradient, and receives one that it combines
 * with its own, or that takes its place. */
struct adasum_round {
    int partner;
    bool sends, receives, combines;
};
int adasum_rounds(int ranks);
struct adasum_round adasum_round(int rank, int ranks, int i);

struct cost cost_adasum(const struct party *p, size_t count, size_t width);

/* To every server but itself a rank pushes its gradient's part and gets it answered; a server,
 * which is one of the first ranks, answers each of the others. Where ranks run freely that is so
 * for the steps up to a moment at which all have come to the same. */
struct cost cost_param_server(const struct strategy_config *config, const struct party *p,
                              size_t count, size_t width);

#endif
