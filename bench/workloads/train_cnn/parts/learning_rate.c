#include "bench/workloads/train_cnn/parts/learning_rate.h"

#include <math.h>

static double rate_at_ranks(const struct config *c, int ranks)
{
    double lr = config_number(c, OPT_LR);
    switch ((enum lr_rule)config_int(c, OPT_LR_RULE)) {
    case LR_RULE_linear:
        return lr * ranks;
    case LR_RULE_sqrt:
        return lr * sqrt(ranks);
    default:
        return lr;
    }
}

static double warm_up(const struct config *c, double lr, double step, double warmup)
{
    if (config_int(c, OPT_LR_WARMUP) == LR_WARMUP_log)
        return lr * log(1 + step) / log(1 + warmup);
    return lr * step / warmup;
}

/* Returns the learning rate of a cosine schedule from `lr` to train.lr_min, after `done` of `all`
 * steps. Both step counts exclude the warm-up. If done >= all, returns train.lr_min. */
static double cosine(const struct config *c, double lr, double done, double all)
{
    const double pi = 3.141592653589793;
    double least = config_number(c, OPT_LR_MIN);
    double share = done < all ? done / all : 1;
    return least + (lr - least) * 0.5 * (1 + cos(pi * share));
}

double learning_rate(const struct config *config, int ranks, uint32_t epoch_steps, uint64_t step)
{
    double lr = rate_at_ranks(config, ranks), warmup = config_number(config, OPT_WARMUP_STEPS);
    if ((double)step < warmup)
        return warm_up(config, lr, (double)step, warmup);
    double before = (double)(step - 1), all = config_number(config, OPT_EPOCHS) * epoch_steps;
    switch ((enum lr_schedule)config_int(config, OPT_LR_SCHEDULE)) {
    case LR_SCHEDULE_step: {
        double between = config_number(config, OPT_LR_STEP_EPOCHS) * epoch_steps;
        return lr * pow(config_number(config, OPT_LR_GAMMA), floor(before / between));
    }
    case LR_SCHEDULE_cosine:
        return before > warmup ? cosine(config, lr, before - warmup, all - warmup) : lr;
    default:
        return lr;
    }
}
