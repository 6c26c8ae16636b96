#include "bench/runner/joined.h"

#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/figures/figures.h"
#include "bench/runner/runs.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

static void read_parts(struct joined_run *joined)
{
    struct run run;
    bool known = run_read(&run, joined->path);
    const char *texts[JOINED_PARTS] = {[JOINED_CAMPAIGN] =
                                           config_text(&joined->spec.config, OPT_NAME),
                                       [JOINED_HOST] = "",
                                       [JOINED_REVISION] = known ? run.revision : "",
                                       [JOINED_STARTED] = known ? run.started : "",
                                       [JOINED_FOLDER] = file_name(joined->path)};
    for (int part = 0; part < JOINED_PARTS; part++)
        snprintf(joined->parts[part], sizeof joined->parts[part], "%.*s",
                 part == JOINED_FOLDER ? 48 : 63, texts[part]);
    summary_distinct(joined->parts[JOINED_HOST], sizeof joined->parts[JOINED_HOST], &joined->s,
                     COLUMN_host);
    run_free(&run);
}

bool joined_share_name(const struct joined_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(runs[i].name, runs[k].name) == 0)
                return true;
    return false;
}

/* Appends one part (host, revision, ...) to the names of all runs, if this part differs between two
 * runs with the same name. */
static void name_by(struct joined_run *runs, size_t n, int part)
{
    bool differs = false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i && !differs; k++)
            differs = strcmp(runs[i].name, runs[k].name) == 0 &&
                      strcmp(runs[i].parts[part], runs[k].parts[part]) != 0;
    for (size_t i = 0; i < n && differs; i++)
        text_join(runs[i].name, sizeof runs[i].name, " ", runs[i].parts[part]);
}

void joined_number(struct joined_run *runs, size_t n)
{
    bool counted = joined_share_name(runs, n);
    for (size_t i = 0; i < n && counted; i++) {
        char number[32];
        snprintf(number, sizeof number, "%s%zu", runs[i].name[0] ? "" : "run ", i + 1);
        text_join(runs[i].name, sizeof runs[i].name, " ", number);
    }
}

void joined_name(struct joined_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        runs[i].name[0] = '\0';
        read_parts(&runs[i]);
    }
    for (int part = 0; part < JOINED_PARTS && joined_share_name(runs, n); part++)
        name_by(runs, n, part);
    joined_number(runs, n);
}

void joined_folder(char *text, size_t size, const struct joined_run *runs, size_t n)
{
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        text_join(text, size, "+",
                  runs[i].name[0] ? runs[i].name : config_text(&runs[i].spec.config, OPT_NAME));
    for (char *c = text; *c; c++)
        *c = *c == '/' || *c == ' ' || *c == ':' ? '_' : *c;
}

enum status joined_draw(const struct joined_run *runs, size_t n, const char *folder,
                        const struct tools *tools, struct error *e)
{
    struct figures_run *drawn;
    TRY(MEM_NEW(drawn, n, "the runs of figures", e));
    for (size_t i = 0; i < n; i++)
        drawn[i] = (struct figures_run){&runs[i].s, runs[i].path, runs[i].name};
    enum status status = n > 1 ? figures_check_runs(drawn, n, e) : OK;
    THEN(status, folder_make(folder, e));
    THEN(status, figures_draw(drawn, n, folder, tools->plots,
                              n > 1 ? FIGURES_PICTURES : FIGURES_WITH_SCRIPTS, e));
    free(drawn);
    return status;
}
