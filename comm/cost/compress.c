#include "comm/cost/compress.h"

#include <math.h>

#include "kernels/base/pool.h"

static size_t sum_counts(const size_t *counts, size_t n)
{
    size_t total = 0;
    for (size_t i = 0; i < n; i++)
        total += counts[i];
    return total;
}

/* ---- Exchanges of comm/compressors/exchange.c ---- */

static size_t share_bytes(size_t count, int rank, int ranks, size_t width)
{
    size_t begin, end;
    pool_share(count, (size_t)rank, (size_t)ranks, &begin, &end);
    return (end - begin) * width;
}

/* What is handed to the library for one message; nothing is sent of what is empty. */
static void add_call(struct cost *c, size_t bytes)
{
    c->calls += bytes > 0;
    c->bytes_payload += bytes;
}

static void add_sent(struct cost *c, const struct party *p, size_t bytes)
{
    add_call(c, bytes);
    if (bytes > 0)
        add_message(c, p, bytes);
}

static void add_received(struct cost *c, const struct party *p, size_t bytes)
{
    add_call(c, bytes);
    if (bytes > 0)
        add_receipt(c, p, bytes);
}

/* Both ways at the same time: the slower one counts. */
static void add_both(struct cost *c, const struct cost *sent, const struct cost *received)
{
    c->calls += sent->calls + received->calls;
    c->bytes_payload += sent->bytes_payload + received->bytes_payload;
    c->messages_wire += sent->messages_wire;
    c->bytes_wire += sent->bytes_wire;
    c->seconds += sent->seconds > received->seconds ? sent->seconds : received->seconds;
}

/* Every rank hands every other its share of `count` numbers of `width` bytes, and gets its own from
 * each (`back`: the other way round). */
static void add_shares(struct cost *c, const struct party *p, size_t count, size_t width, bool back)
{
    size_t mine = share_bytes(count, p->rank, p->ranks, width);
    struct cost sent = {0}, received = {0};
    for (int r = 0; r < p->ranks; r++) {
        size_t theirs = share_bytes(count, r, p->ranks, width);
        if (r == p->rank)
            continue;
        add_sent(&sent, p, back ? mine : theirs);
        add_received(&received, p, back ? theirs : mine);
    }
    add_both(c, &sent, &received);
}

/* Every rank's `bytes` reach every other. */
static void add_gathered(struct cost *c, const struct party *p, size_t bytes)
{
    add_shares(c, p, (size_t)p->ranks, bytes, true);
}

/* ---- Sizes ---- */

static size_t round_up(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

size_t topk_count(size_t n, double share)
{
    size_t k = (size_t)floor(share * (double)n + 0.5);
    k = k > n ? n : k;
    return k > 0 || n == 0 ? k : 1;
}

size_t topk_packet_bytes(size_t k, size_t width)
{
    return round_up(k * (width + sizeof(uint32_t)));
}

size_t sign_packet_bytes(size_t tensors, size_t n, size_t width)
{
    return round_up(tensors * width) + (n + 63) / 64 * 8;
}

struct low_rank low_rank_of(size_t count, size_t rows, int rank)
{
    size_t columns = rows > 0 ? count / rows : 0;
    if (rows < 2 || columns < 2)
        return (struct low_rank){0};
    size_t side = rows < columns ? rows : columns, other = rows < columns ? columns : rows;
    return (struct low_rank){.rows = rows,
                             .columns = columns,
                             .rank = (size_t)rank < side ? (size_t)rank : side,
                             .side = side,
                             .other = other};
}

size_t low_rank_p(const struct low_rank *shape, size_t count)
{
    return shape->rank > 0 ? shape->rank * shape->side : count;
}

size_t low_rank_q(const struct low_rank *shape)
{
    return shape->rank * shape->other;
}

/* ---- Compressors ---- */

/* Shares are handed over, summed, and handed back: 2 (p-1) messages, 2 (p-1)/p of the numbers. */
static void add_sum16(struct cost *c, const struct party *p, size_t count)
{
    add_shares(c, p, count, sizeof(uint16_t), false);
    for (int r = 1; r < p->ranks; r++)
        add_reduction(c, p, share_bytes(count, p->rank, p->ranks, sizeof(uint16_t)));
    add_shares(c, p, count, sizeof(uint16_t), true);
}

/* Every rank adds what all sent. */
static void add_topk(struct cost *c, const struct strategy_config *config, const struct party *p,
                     size_t count, size_t width)
{
    size_t k = topk_count(count, config->topk_share);
    add_gathered(c, p, topk_packet_bytes(k, width));
    for (int r = 0; r < p->ranks && p->ranks > 1; r++)
        add_reduction(c, p, k * width);
}

static void add_sign(struct cost *c, const struct party *p, size_t tensors, size_t count,
                     size_t width)
{
    if (count > 0)
        add_gathered(c, p, sign_packet_bytes(tensors, count, width));
    for (int r = 0; r < p->ranks && p->ranks > 1; r++)
        add_reduction(c, p, count * width);
}

/* The library's sum; none of what is empty. */
static void add_sum(struct cost *c, const struct party *p, enum allreduce_algorithm asked,
                    size_t count, size_t width, bool used[ALGORITHMS])
{
    if (count > 0)
        add_allreduce_call(c, p, CALL_BLOCKING, asked, count, width, used);
}

static void add_powersgd(struct cost *c, const struct strategy_config *config,
                         const struct party *p, const size_t *counts, const size_t *rows, size_t n,
                         size_t width)
{
    size_t count_p = 0, count_q = 0;
    bool used[ALGORITHMS] = {false};
    for (size_t i = 0; i < n; i++) {
        struct low_rank shape =
            low_rank_of(counts[i], rows != NULL ? rows[i] : 0, config->powersgd_rank);
        count_p += low_rank_p(&shape, counts[i]);
        count_q += low_rank_q(&shape);
    }
    add_sum(c, p, config->algorithm, count_p, width, used);
    add_sum(c, p, config->algorithm, count_q, width, used);
    c->wire_source = allreduce_source(used);
}

void add_compressed(struct cost *c, const struct strategy_config *config, const struct party *p,
                    const size_t *counts, const size_t *rows, size_t n, size_t width)
{
    switch (config->compressor) {
    case COMPRESSOR_fp16:
    case COMPRESSOR_bf16:
        add_sum16(c, p, sum_counts(counts, n));
        break;
    case COMPRESSOR_topk:
        add_topk(c, config, p, sum_counts(counts, n), width);
        break;
    case COMPRESSOR_sign:
        add_sign(c, p, n, sum_counts(counts, n), width);
        break;
    case COMPRESSOR_powersgd:
        add_powersgd(c, config, p, counts, rows, n, width);
        break;
    case COMPRESSOR_none:
    case COMPRESSORS:
        break;
    }
}
