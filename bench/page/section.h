/* Sections of a page: objects of the lists `runs` and `sweeps`, and `claims`. Internal to
 * bench/page. */
#pragma once

#include "bench/page/data.h"
#include "bench/page/page.h"
#include "bench/spec/figures/request.h"

/* Inputs of a section, which is added to `page`. Its figures are drawn into the empty folder
 * `drawn`. */
struct section_source {
    const struct page_request *request;
    json_t *page;
    const char *drawn, *plots;
};

/* Adds the section of a run: findings, points, figures, spec, grades. */
enum status section_add_run(const struct section_source *from, const char *operand,
                            struct error *e);
/* Adds the section of the sweep with the table `name` in the folder `path`. */
enum status section_add_sweep(const struct section_source *from, const char *path, const char *name,
                              struct error *e);
/* Adds the claims of the reports and their verdicts, from results/claims.yaml below `home`, if
 * the page `keeps` a run of results/reference. */
enum status section_add_claims(json_t *page, const char *home, struct error *e);

/* ---- Internal ---- */

/* Makes an id that is unique on the page from `called`; if it is taken, appends `between` and a
 * number. */
enum { PAGE_ID = 160 };
void section_id(char id[PAGE_ID], json_t *page, const char *called, const char *between);

/* Adds the section of the run or sweep at `path` to a list of the page, with its manifest. A run
 * of results/reference also gets its name there as `kept`. */
enum status section_add(const struct section_source *from, const char *list, json_t *section,
                        const char *path, struct error *e);

struct summary;

/* Adds the comparisons of a run with published numbers to `compared`, one per quantity that was
 * published for a point. They are judged as by `scalebench compare published RUN`. */
enum status published_add(json_t *section, const struct summary *s, const char *path,
                          const struct page_request *request, struct error *e);

/* Adds a figure of a run from its drawn files: picture, caption, published comparisons that it
 * shows, table. Without y it shows the quantity `bars`. */
enum status figure_add(const struct section_source *from, json_t *section,
                       const struct figure_request *figure, const char *bars, struct error *e);
