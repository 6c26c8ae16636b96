/* Accuracy runs whose number of ranks changes: by plan (elastic), or after the death of a rank
 * (restart.*). */
#include <math.h>
#include <string.h>

#include "bench/spec/rules/rules.h"

bool config_is_elastic(const struct config *config)
{
    return config->values[OPT_ELASTIC].n > 0 || config_int(config, OPT_RESTARTS) > 0;
}

size_t config_segments(const struct config *config)
{
    size_t n = config->values[OPT_ELASTIC].n / 2;
    return n > 0 ? n : 1;
}

struct segment config_segment(const struct config *config, size_t i)
{
    const struct value *elastic = &config->values[OPT_ELASTIC];
    bool last = i + 1 == config_segments(config);
    struct segment segment = {.ranks = (int)config_int(config, OPT_RANKS),
                              .until = (uint32_t)config_int(config, OPT_EPOCHS)};
    if (elastic->n == 0)
        return segment;
    segment.epoch = (uint32_t)elastic->numbers[2 * i];
    segment.ranks = (int)elastic->numbers[2 * i + 1];
    if (!last)
        segment.until = (uint32_t)elastic->numbers[2 * i + 2];
    return segment;
}

void config_on_ranks(struct config *to, const struct config *from, int ranks)
{
    long all = config_int(from, OPT_RANKS), nodes = config_int(from, OPT_NODES);
    long on_fullest = (all + nodes - 1) / nodes;
    config_borrow(to, from);
    to->values[OPT_RANKS].number = ranks;
    to->values[OPT_NODES].number = (double)((ranks + on_fullest - 1) / on_fullest);
}

bool config_runs_on(const struct config *config, int ranks, struct error *why)
{
    struct config own;
    enum option_id at;
    config_on_ranks(&own, config, ranks);
    return config_check_batch(&own, ranks, &at, why) == OK &&
           config_check_strategy(&own, ranks, &at, why) == OK;
}

/* Checks a segment's first epoch and number of ranks, and that batch and strategy are valid for
 * this number of ranks. */
static enum status check_segment(const struct config *config, size_t i, enum option_id *at,
                                 struct error *e)
{
    struct segment segment = config_segment(config, i);
    struct error why;
    if (segment.ranks > config_int(config, OPT_RANKS))
        REFUSE(OPT_ELASTIC,
               "elastic: a segment has ranks = %d, but the point has ranks = %s: allowed "
               "1..%s. Give points with fewer ranks, also of a baseline, elastic: []",
               segment.ranks, config_text(config, OPT_RANKS), config_text(config, OPT_RANKS));
    if (segment.epoch >= segment.until)
        REFUSE(OPT_ELASTIC,
               "elastic: a segment begins with epoch %u, but train.epochs = %s: allowed "
               "0..%ld",
               segment.epoch, config_text(config, OPT_EPOCHS), config_int(config, OPT_EPOCHS) - 1);
    if (!config_runs_on(config, segment.ranks, &why))
        REFUSE(OPT_ELASTIC, "elastic: on ranks = %d: %s", segment.ranks, why.text);
    return OK;
}

/* Checks the segments of option `elastic`. If accuracy is measured, also checks that a non-empty
 * list has several segments, and that one of them uses the point's number of ranks, because tables
 * show this number. */
static enum status check_plan(const struct config *config, enum option_id *at, struct error *e)
{
    int most = 0;
    for (size_t i = 0; i < config_segments(config); i++) {
        TRY(check_segment(config, i, at, e));
        most = (int)fmax(most, config_segment(config, i).ranks);
    }
    if (config->values[OPT_ACCURACY_SEEDS].n == 0 || config->values[OPT_ELASTIC].n == 0)
        return OK;
    if (config_segments(config) == 1)
        REFUSE(OPT_ELASTIC,
               "elastic: one segment never changes the ranks. Use several, such as [{epoch: 0, "
               "ranks: 1}, {epoch: 1, ranks: 2}], or leave elastic out and set ranks");
    if (most < config_int(config, OPT_RANKS))
        REFUSE(OPT_ELASTIC,
               "elastic: no segment has the point's ranks = %s, since the largest segment has "
               "ranks = %d. Use ranks: %d, or a segment of ranks: %s",
               config_text(config, OPT_RANKS), most, most, config_text(config, OPT_RANKS));
    return OK;
}

/* Checks that restart.min_ranks is at most `ranks`. If restart.min_ranks < ranks, also checks that
 * training can continue on some number of ranks in [restart.min_ranks, ranks - 1]. */
static enum status check_fewer(const struct config *config, enum option_id *at, struct error *e)
{
    int ranks = (int)config_int(config, OPT_RANKS);
    int least = (int)config_int(config, OPT_RESTART_LEAST);
    struct error why = {.status = OK};
    if (least > ranks)
        REFUSE(OPT_RESTART_LEAST, "restart.min_ranks = %d, but ranks = %d: allowed 1..%d", least,
               ranks, ranks);
    for (int left = ranks - 1; left >= least; left--)
        if (config_runs_on(config, left, &why))
            return OK;
    if (least < ranks)
        REFUSE(
            OPT_RESTART_WITH,
            "restart.with: fewer, but no smaller number of ranks can continue; on ranks = %d: %s",
            least, why.text);
    return OK;
}

/* Checks that a run with restarts writes checkpoints. If restart.with = fewer, also checks
 * restart.min_ranks (check_fewer). If a check fails, *at is the option at fault. */
static enum status check_restarts(const struct config *config, enum option_id *at, struct error *e)
{
    if (config_int(config, OPT_RESTARTS) == 0 || config->values[OPT_ACCURACY_SEEDS].n == 0)
        return OK;
    if (!config_writes_checkpoints(config))
        REFUSE(OPT_RESTARTS,
               "restart.budget = %s, but a run without checkpoints can only start from the "
               "beginning. Use checkpoint.every_epochs or checkpoint.every_steps",
               config_text(config, OPT_RESTARTS));
    return config_int(config, OPT_RESTART_WITH) == RESTART_fewer ? check_fewer(config, at, e) : OK;
}

/* If a run may restart within an epoch on fewer ranks, requires train.global_batch and data.shard:
 * global. Batch and shards then do not depend on the number of ranks. */
static enum status check_changes(const struct config *config, enum option_id *at, struct error *e)
{
    bool fewer = config_int(config, OPT_RESTARTS) > 0 &&
                 config_int(config, OPT_RESTART_WITH) == RESTART_fewer;
    bool inside = fewer && config_number(config, OPT_CHECKPOINT_STEPS) > 0;
    if (inside && config_number(config, OPT_GLOBAL_BATCH) == 0)
        REFUSE(OPT_CHECKPOINT_STEPS,
               "checkpoint.every_steps with restart.with: fewer needs a constant batch within an "
               "epoch. Use train.global_batch in place of train.batch_per_rank");
    if (inside && config_int(config, OPT_DATA_SHARD) != SHARD_global)
        REFUSE(OPT_CHECKPOINT_STEPS, "checkpoint.every_steps with restart.with: fewer needs "
                                     "constant shards within an epoch. Use data.shard: global");
    return OK;
}

enum status config_check_elastic(const struct config *config, enum option_id *at, struct error *e)
{
    const char *resume = config_text(config, OPT_CHECKPOINT_RESUME);
    enum option_id of = config->values[OPT_ELASTIC].n > 0 ? OPT_ELASTIC : OPT_RESTARTS;
    if (!config_is_elastic(config))
        return OK;
    if (config_is_foreign(config) || config_is_peer(config))
        REFUSE(of, "%s is not supported by workload %s. Use workload: train_cnn",
               option_get(of)->key, config_text(config, OPT_WORKLOAD));
    if (strcmp(resume, "no") != 0 && strcmp(resume, "auto") != 0)
        REFUSE(OPT_CHECKPOINT_RESUME,
               "checkpoint.resume = %s, but an elastic run resumes from its own checkpoints. Use "
               "checkpoint.resume: auto or no",
               resume);
    TRY(check_plan(config, at, e));
    TRY(check_restarts(config, at, e));
    return check_changes(config, at, e);
}
