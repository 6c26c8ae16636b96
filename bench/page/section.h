/* Makes the sections of a page: elements of the page's lists `runs` and `sweeps`, and the page's
 * object `claims`. Internal to bench/page. */
#pragma once

#include "bench/page/data.h"
#include "bench/page/page.h"
#include "bench/spec/figures/request.h"

/* Inputs of a section. The section is added to `page`; its figures are drawn into an empty folder,
 * whose path is `drawn`. */
struct section_source {
    const struct page_request *request;
    json_t *page;
    const char *drawn, *plots;
};

/* Adds the section of a run: its findings, points, figures and spec, and which rules of Hoefler and
 * Belli the run meets. */
enum status section_add_run(const struct section_source *from, const char *operand,
                            struct error *e);
/* Adds the section of a sweep whose table is the file `name` in the folder `path`. */
enum status section_add_sweep(const struct section_source *from, const char *path, const char *name,
                              struct error *e);
/* Adds the claims of results/claims.yaml below `home` with their verdicts. Adds nothing if the file
 * is missing, or the page has no run or sweep of results/reference. */
enum status section_add_claims(json_t *page, const char *home, struct error *e);

/* ---- Internal ---- */

/* section_id makes an HTML id from the text `called` and reserves the id on the page. If the id is
 * already in use, appends `between` and a number. */
enum { PAGE_ID = 160 };
void section_id(char id[PAGE_ID], json_t *page, const char *called, const char *between);

/* Adds a section to `list` of the page, with the manifest of the run or sweep at `path`. For a
 * folder in results/reference, also sets member `kept` to the folder's name. */
enum status section_add(const struct section_source *from, const char *list, json_t *section,
                        const char *path, struct error *e);

struct summary;

/* Adds comparisons with published numbers to list `compared` of a run's section, one per quantity
 * published for a point of the run. Verdicts are as in `scalebench compare published RUN`. */
enum status published_add(json_t *section, const struct summary *s, const char *path,
                          const struct page_request *request, struct error *e);

/* Adds a figure to a run's section: picture, caption and table in from->drawn, and comparisons of
 * shown quantities with published numbers. `bars`: quantity of the figure if its option y is not
 * set. */
enum status figure_add(const struct section_source *from, json_t *section,
                       const struct figure_request *figure, const char *bars, struct error *e);
