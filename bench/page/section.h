/* Sections of a page: objects of the lists `runs` and `sweeps`, and `claims`. Internal to bench/page. */
#pragma once

#include "bench/page/data.h"
#include "bench/page/page.h"
#include "bench/spec/figures/request.h"

/* What sections are made from: they are added to `page`, their figures are drawn into the empty folder `drawn`. */
struct section_source {
    const struct page_request *request;
    json_t *page;
    const char *drawn, *plots;
};

/* A run: what its numbers say, its points, its figures, its spec, its grades. */
enum status section_add_run(const struct section_source *from, const char *operand,
                            struct error *e);
/* The sweep whose table `name` lies in the folder `path`. */
enum status section_add_sweep(const struct section_source *from, const char *path, const char *name,
                              struct error *e);
/* What the reports claim, and what becomes of it: the ledger results/claims.yaml below `home`, where the page
 * `keeps` one of its runs. */
enum status section_add_claims(json_t *page, const char *home, struct error *e);

/* ---- Inside ---- */

/* The id of a part that is called so. Where the page has it already, `between` and a number make another one. */
enum { PAGE_ID = 160 };
void section_id(char id[PAGE_ID], json_t *page, const char *called, const char *between);

/* Adds a section of the run or sweep at `path` to a list of the page, with its manifest and, where it is one of
 * results/reference, what it is `kept` as. */
enum status section_add(const struct section_source *from, const char *list, json_t *section,
                        const char *path, struct error *e);

struct summary;

/* Lists in `compared` what a run at `path` says of published numbers, judged as by `scalebench compare published RUN`: of
 * each quantity that can be compared and was published for a point. */
enum status published_add(json_t *section, const struct summary *s, const char *path,
                          const struct page_request *request, struct error *e);

/* Adds a figure of a run, its files drawn: picture, caption, what it shows of `compared`, the table behind it. Without y
 * it shows the quantity `bars`. */
enum status figure_add(const struct section_source *from, json_t *section,
                       const struct figure_request *figure, const char *bars, struct error *e);
