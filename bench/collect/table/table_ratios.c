/* Prints, below the table, sentences about ratios: the number of launch pairs behind speed-ups,
 * bytes per step relative to the base, and images/s and memory relative to peer programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/collect/table/table.h"
#include "kernels/desc/savings.h"

/* ---- Speed-ups ---- */

/* Returns by how many per cent the ratio of median images/s differs from the printed speed-up, a
 * median of ratios. 0: unknown, or equal after rounding. */
static double quotient_differs(const struct point_summary *p, const struct point_summary *base)
{
    char ratio[TEXT_NUMBER], quotient[TEXT_NUMBER];
    double of_medians = p->rates.images_per_s.mid / base->rates.images_per_s.mid;
    text_significant(ratio, p->scaling.speedup.mid, 3);
    text_significant(quotient, of_medians, 3);
    bool same = !isfinite(of_medians) || strcmp(ratio, quotient) == 0;
    return same ? 0 : 100 * fabs(of_medians / p->scaling.speedup.mid - 1);
}

/* Prints "Speed-ups are medians of 6 to 12 ratios, one per block; ratios of the medians differ by
 * up to 1.2 %." */
static void print_speedups(FILE *out, const struct summary *s)
{
    size_t least = SIZE_MAX, most = 0;
    double differs = 0;
    char number[TEXT_NUMBER];
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        if (&s->points[p->base] == p || !isfinite(p->scaling.speedup.mid))
            continue;
        least = p->scaling.pairs < least ? p->scaling.pairs : least;
        most = p->scaling.pairs > most ? p->scaling.pairs : most;
        differs = fmax(differs, quotient_differs(p, &s->points[p->base]));
    }
    if (most == 0)
        return;
    if (most == 1)
        fputs("Each speed-up is the ratio of one block", out);
    else if (least < most)
        fprintf(out, "Speed-ups are medians of %zu to %zu ratios, one per block", least, most);
    else
        fprintf(out, "Speed-ups are medians of %zu ratios, one per block", most);
    if (differs > 0)
        fprintf(out, "; ratios of the medians differ by up to %s %%",
                text_significant(number, differs, 2));
    fputs(".\n", out);
}

/* Prints "Bytes per step relative to the base: 0.500 (bf16), 0.500 (fp16)." Skips ratios within
 * 0.005 of 1. Also skips points whose number of cores differs from the base's, since the number of
 * ranks changes the bytes too. */
static void print_bytes(FILE *out, const struct summary *s)
{
    size_t n = 0;
    char number[TEXT_NUMBER];
    for (const struct point_summary *p = s->points; p < s->points + s->n; p++) {
        if (p->cores != s->points[p->base].cores || !(fabs(p->scaling.bytes_ratio - 1) > 0.005))
            continue;
        fprintf(out, "%s%s (%s)", n++ > 0 ? ", " : "Bytes per step relative to the base: ",
                text_significant(number, p->scaling.bytes_ratio, 3), p->point->label);
    }
    fputs(n > 0 ? ".\n" : "", out);
}

/* ---- Peers ---- */

static void print_factors(FILE *out, const struct point_summary *p,
                          const struct point_beside_peer *beside)
{
    char all[TEXT_NUMBER], work[TEXT_NUMBER], rate[TEXT_NUMBER];
    bool bounds = savings_depend_on_data(p->cells[COLUMN_savings]);
    if (!isfinite(beside->rate_ratio))
        return;
    fprintf(out, "  %s = %s (less arithmetic) x %s (faster arithmetic)",
            text_significant(all, beside->ratio.mid, 3),
            text_significant(work, beside->work_ratio, 3),
            text_significant(rate, beside->rate_ratio, 3));
    fputs(bounds ? "; the first factor is a lower bound: skipped zeros of the data count in the "
                   "second.\n"
                 : ".\n",
          out);
}

static void print_mib(FILE *out, const char *what, double own, double peer)
{
    char mib[TEXT_NUMBER], peer_mib[TEXT_NUMBER], ratio[TEXT_NUMBER];
    fprintf(out, "%s: %s MiB, the peer %s (ratio %s)", what, text_significant(mib, own, 3),
            text_significant(peer_mib, peer, 3), text_significant(ratio, own / peer, 2));
}

/* Prints "  Memory without libraries: 29 MiB, the peer 93 (ratio 0.31); of whole processes without
 * the data: 51 MiB, the peer 271 (ratio 0.19)." */
static void print_memory(FILE *out, const struct point_memory *own, const struct point_memory *peer)
{
    if (!isfinite(own->most_mib / peer->most_mib))
        return;
    fputs("  Memory ", out);
    if (isfinite(own->growth_mib / peer->growth_mib)) {
        print_mib(out, "without libraries", own->growth_mib, peer->growth_mib);
        fputs("; ", out);
    }
    print_mib(out, "of whole processes without the data", own->most_mib, peer->most_mib);
    fputs(".\n", out);
}

/* Prints a line such as "keras_690k: 1.20 [1.18, 1.23] x the images/s of peer_torch (torch 1.13.0 +
 * ...), 92.13 [91.84, 92.60] ms per step; median of 12 pairs." The step time is the peer's. Then
 * prints the factors of the ratio and the memory of both programs, if they are known. */
static void print_peer(FILE *out, const struct point_summary *p, const struct point_summary *peer,
                       const struct point_beside_peer *beside)
{
    char ratio[TEXT_INTERVAL], step[TEXT_INTERVAL], pairs[TEXT_NUMBER];
    fprintf(out, "%s: %s x the images/s of %s (%s), %s ms per step", p->point->label,
            text_interval(ratio, &beside->ratio, 3),
            config_text(&peer->point->config, OPT_WORKLOAD), peer->cells[COLUMN_blas],
            text_interval(step, &peer->step_ms, 4));
    if (beside->pairs > 0)
        fprintf(out, "; median of %s", text_plural(pairs, (long)beside->pairs, "pair"));
    fputs(".\n", out);
    print_factors(out, p, beside);
    print_memory(out, &p->memory, &peer->memory);
}

/* Returns the FLOPs that the point computes for an image. If the program does not report them,
 * returns the FLOPs of the network. */
static double work_of(const struct point_summary *p)
{
    const char *done = p->cells[COLUMN_flops_done_per_image];
    return strtod(done[0] ? done : p->cells[COLUMN_flops_per_image], NULL);
}

/* Compares the images/s of point p with its fastest peer program, then with its other peers. Prints
 * nothing if the ratio to the fastest peer is unknown. */
static void print_peers(FILE *out, const struct summary *s, const struct point_summary *p)
{
    if (!isfinite(p->beside_peer.ratio.mid))
        return;
    print_peer(out, p, &s->points[p->peer], &p->beside_peer);
    for (size_t w = 0; w < WORKLOADS; w++) {
        const struct point_summary *peer = &s->points[p->point->peers[w]];
        struct point_beside_peer beside = p->beside[w];
        if (peer == p || peer == &s->points[p->peer] || !isfinite(beside.ratio.mid))
            continue;
        beside.work_ratio = work_of(peer) / work_of(p);
        beside.rate_ratio = beside.ratio.mid / beside.work_ratio;
        print_peer(out, p, peer, &beside);
    }
}

void table_print_ratios(FILE *out, const struct summary *s)
{
    print_speedups(out, s);
    print_bytes(out, s);
    for (size_t i = 0; i < s->n; i++)
        print_peers(out, s, &s->points[i]);
}
