#include "comm/cost/exchange.h"

#include "kernels/base/pool.h"

size_t share_bytes(size_t count, int rank, int ranks, size_t width)
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

static void add_sent(struct cost *c, const struct participant *p, size_t bytes)
{
    add_call(c, bytes);
    if (bytes > 0)
        add_message(c, p, bytes);
}

static void add_received(struct cost *c, const struct participant *p, size_t bytes)
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

void add_shares(struct cost *c, const struct participant *p, size_t count, size_t width, bool back)
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

void add_gathered(struct cost *c, const struct participant *p, size_t bytes)
{
    add_shares(c, p, (size_t)p->ranks, bytes, true);
}

size_t packet_round_up(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}
