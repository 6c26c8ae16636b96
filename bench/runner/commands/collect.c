#include "bench/base/log.h"
#include "bench/runner/collected.h"
#include "bench/runner/commands/commands.h"

/* Draws the figures of each campaign. If a campaign cannot be drawn, prints a warning, sets exit
 * status 1 and continues with the next campaign. Returns ERR_MEMORY and ERR_INTERRUPTED at once. */
static enum status draw_all(const struct collected *c, const struct arguments *a, FILE *out,
                            int *exit_status, struct error *e)
{
    for (size_t i = 0; i < c->n; i++) {
        struct error why;
        enum status status = collected_draw(c->campaigns[i], a->out, a->tools, out, &why);
        if (status == ERR_MEMORY || status == ERR_INTERRUPTED) {
            *e = why;
            return status;
        }
        if (status != OK) {
            log_print(LOG_WARNING, "collect: cannot draw the figures of campaign %s: %s",
                      c->campaigns[i], why.text);
            *exit_status = 1;
        }
    }
    return OK;
}

enum status command_collect(const struct arguments *a, FILE *out, int *exit_status, struct error *e)
{
    struct collected c = {.n = 0};
    enum status status = OK;
    for (size_t i = 0; i < a->n_operands; i++)
        THEN(status, collected_add(&c, a->operands[i], a->out, out, e));
    THEN(status, draw_all(&c, a, out, exit_status, e));
    collected_free(&c);
    return status;
}
