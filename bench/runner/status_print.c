/* Prints the progress of a run, for people and as JSON. */
#include <math.h>

#include "bench/base/json.h"
#include "bench/runner/status.h"
#include "kernels/base/text.h"

const char *run_state_name(enum run_state state)
{
    static const char *const names[] = {"unreadable", "finished", "interrupted", "running"};
    return names[state];
}

static void print_launch(FILE *out, const struct run_status *s)
{
    char since[TEXT_NUMBER];
    if (s->running && s->launch.run == RUN_TIME)
        fprintf(out, "  now       %s  launch %d", s->label, s->launch.block + 1);
    else if (s->running)
        fprintf(out, "  now       %s  accuracy, seed %llu", s->label,
                (unsigned long long)s->launch.seed);
    else if (s->owner[0])
        fprintf(out, "  now       no launch");
    if (s->running && !isnan(s->running_s))
        fprintf(out, ", for %s", text_duration(since, s->running_s));
    if (s->owner[0])
        fprintf(out, "; %s\n", s->owner);
}

static void print_left(FILE *out, const struct run_status *s)
{
    char left[TEXT_NUMBER];
    if (s->left == 0)
        return;
    fprintf(out, "; %s%zu pending", s->at_most ? "up to " : "", s->left);
    if (!isnan(s->left_s))
        fprintf(out, ", %s %s", s->at_most ? "at most" : "about", text_duration(left, s->left_s));
}

static void print_counts(FILE *out, const struct run_status *s)
{
    char launches[TEXT_NUMBER], points[TEXT_NUMBER];
    fprintf(
        out, "  points    %zu: %zu done, %zu failed, %zu skipped, %zu pending; precision met %zu\n",
        s->points, s->points_done, s->points_failed, s->points_skipped, s->points_left, s->precise);
    fprintf(out, "  launches  %zu done, %zu failed, %zu interrupted", s->done, s->failed,
            s->interrupted);
    print_left(out, s);
    fputc('\n', out);
    if (s->kept > 0)
        fprintf(out, "  kept      %s of %s outside its spec\n",
                text_plural(launches, (long)s->kept, "launch"),
                text_plural(points, (long)s->kept_points, "point"));
    if (s->outdated > 0)
        fprintf(out, "  kept      %s of another version of the peer program\n",
                text_plural(launches, (long)s->outdated, "launch"));
}

void run_status_print(FILE *out, const struct run_status *s)
{
    fprintf(out, "%s  %s", s->run.path, run_state_name(s->state));
    if (s->run.started[0])
        fprintf(out, ", started %s, revision %s", s->run.started, s->run.revision);
    if (s->repeats != NULL)
        fprintf(out, ", repeats %s", s->repeats);
    fputc('\n', out);
    if (s->state == RUN_UNREADABLE) {
        fprintf(out, "  %s\n", s->why);
        return;
    }
    print_launch(out, s);
    print_counts(out, s);
}

static json_t *real_or_null(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *launch_json(const struct run_status *s)
{
    if (!s->running)
        return json_null();
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "launch", s->launch.launch, "point",
                     s->launch.point, "label", s->label, "at", s->launch.at, "seconds",
                     real_or_null(s->running_s));
}

json_t *run_status_json(const struct run_status *s)
{
#define SIZE(member) (json_int_t)(s->member)
    json_t *points =
        json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "all", SIZE(points), "done", SIZE(points_done),
                  "failed", SIZE(points_failed), "skipped", SIZE(points_skipped), "to_come",
                  SIZE(points_left), "precision_met", SIZE(precise));
    json_t *launches =
        json_pack("{s:I, s:I, s:I, s:I, s:o, s:b}", "done", SIZE(done), "failed", SIZE(failed),
                  "interrupted", SIZE(interrupted), "to_come", SIZE(left), "to_come_s",
                  real_or_null(s->left > 0 ? s->left_s : 0), "at_most", s->at_most);
    json_t *kept = json_pack("{s:I, s:I, s:I}", "launches", SIZE(kept), "points", SIZE(kept_points),
                             "outdated", SIZE(outdated));
#undef SIZE
    return json_pack(
        "{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "run", json_text(s->run.path),
        "state", run_state_name(s->state), "why", json_text_or_null(s->why), "started",
        json_text_or_null(s->run.started), "revision", json_text_or_null(s->run.revision),
        "repeats", json_text_or_null(s->repeats), "runner", json_text_or_null(s->owner), "running",
        launch_json(s), "points", points, "launches", launches, "kept", kept);
}
