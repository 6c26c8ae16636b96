#include <stdarg.h>

#include "bench/doctor/diagnosis.h"
#include "kernels/base/mem.h"

const char *examination_node(const struct examination *x, double node)
{
    return x->nodes[(size_t)node].name;
}

static const struct kind {
    const char *name;
    bool counts;
    const char *advice;
} kinds[FINDINGS] = {
#define FINDING(name, counts, advice) {#name, counts, advice},
#include "bench/doctor/findings.def"
};

char *diagnosis_ratio(char text[96], const struct interval *ratio)
{
    snprintf(text, 96, "%.3f [%.3f, %.3f]", ratio->mid, ratio->lo, ratio->hi);
    return text;
}

enum status diagnosis_add(struct diagnosis *d, enum finding_kind kind, const char *subject,
                          struct error *e, const char *format, ...)
{
    va_list arguments;
    TRY(MEM_GROW(d->findings, d->n_findings, "findings", e));
    struct doctor_finding *f = &d->findings[d->n_findings++];
    doctor_clear(&doctor_findings, f);
    snprintf(f->finding, DOCTOR_TEXT, "%s", kinds[kind].name);
    snprintf(f->subject, DOCTOR_TEXT, "%s", subject);
    snprintf(f->advice, DOCTOR_TEXT, "%s", kinds[kind].advice);
    f->counts = kinds[kind].counts;
    va_start(arguments, format);
    vsnprintf(f->text, DOCTOR_TEXT, format, arguments);
    va_end(arguments);
    d->n_counting += kinds[kind].counts;
    return OK;
}
