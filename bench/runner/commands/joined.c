#include "bench/runner/commands/joined.h"

#include <stdlib.h>
#include <string.h>

#include "bench/collect/summary.h"
#include "bench/runner/runs.h"
#include "kernels/base/text.h"

/* What may tell runs from each other, the first that do being taken. */
enum { CAMPAIGN, HOST, REVISION, STARTED, FOLDER, PARTS };

static void read_part(char *text, size_t size, const struct joined_run *joined, int part)
{
    struct run run;
    const char *slash = strrchr(joined->path, '/');
    bool known = run_read(&run, joined->path);
    text[0] = '\0';
    switch (part) {
    case CAMPAIGN:
        snprintf(text, size, "%s", config_text(&joined->spec.config, OPT_NAME));
        break;
    case HOST:
        summary_distinct(text, size, &joined->s, COLUMN_host);
        break;
    case REVISION:
        snprintf(text, size, "%s", known ? run.revision : "");
        break;
    case STARTED:
        snprintf(text, size, "%s", known ? run.started : "");
        break;
    default:
        snprintf(text, size, "%.48s", slash != NULL ? slash + 1 : joined->path);
    }
    run_free(&run);
}

static bool share_name(const struct joined_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(runs[i].name, runs[k].name) == 0)
                return true;
    return false;
}

/* Appends a part to all names where any two of one name differ in it. */
static void tell_by(struct joined_run *runs, size_t n, int part)
{
    char own[64], other[64];
    bool tells = false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i && !tells; k++) {
            read_part(own, sizeof own, &runs[i], part);
            read_part(other, sizeof other, &runs[k], part);
            tells = strcmp(runs[i].name, runs[k].name) == 0 && strcmp(own, other) != 0;
        }
    for (size_t i = 0; i < n && tells; i++) {
        read_part(own, sizeof own, &runs[i], part);
        text_join(runs[i].name, sizeof runs[i].name, " ", own);
    }
}

void joined_name(struct joined_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        runs[i].name[0] = '\0';
    for (int part = 0; part < PARTS && share_name(runs, n); part++)
        tell_by(runs, n, part);
    bool counted = share_name(runs, n);
    for (size_t i = 0; i < n && counted; i++) {
        char number[32];
        snprintf(number, sizeof number, "%s%zu", runs[i].name[0] ? "" : "run ", i + 1);
        text_join(runs[i].name, sizeof runs[i].name, " ", number);
    }
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
