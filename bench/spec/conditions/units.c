/* Converts numbers in comparisons to the unit in the compared name, such as milliseconds for
 * step_ms. */
#include <math.h>
#include <string.h>

#include "bench/spec/conditions/steps.h"
#include "bench/spec/value.h"

/* ---- Units in names ---- */

static bool ends_in(const char *name, const char *tail)
{
    size_t length = strlen(name), part = strlen(tail);
    return length > part && strcmp(name + length - part, tail) == 0;
}

/* Units that names end in, and the factors that convert seconds, bytes or per cent to these
 * units. */
static const struct name_unit {
    enum option_type type;
    const char *tail;
    double factor;
} name_units[] = {{TYPE_TIME, "_ms", 1e3},      {TYPE_TIME, "_us", 1e6},
                  {TYPE_TIME, "_ns", 1e9},      {TYPE_TIME, "_s", 1},
                  {TYPE_SIZE, "_kib", 0x1p-10}, {TYPE_SIZE, "_mib", 0x1p-20},
                  {TYPE_SIZE, "_gib", 0x1p-30}, {TYPE_PERCENT, "_pct", 1}};

/* Returns the unit at the end of a name; NULL: none. In summary.csv the unit may be followed by
 * _median, _lo or _hi, as in step_ms_median. A rate, such as tokens_per_s, has no unit. */
static const struct name_unit *name_unit_of(const char *name)
{
    static const char *const ends[] = {"", "_median", "_lo", "_hi"};
    char rate[32];
    for (size_t i = 0; i < sizeof name_units / sizeof *name_units; i++)
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
            snprintf(rate, sizeof rate, "_per%s%s", name_units[i].tail, ends[k]);
            if (ends_in(name, rate + strlen("_per")))
                return ends_in(name, rate) ? NULL : &name_units[i];
        }
    return NULL;
}

struct condition_unit condition_unit_in(const char *name)
{
    const struct name_unit *unit = name_unit_of(name);
    return unit != NULL ? (struct condition_unit){unit->tail + 1, (int)unit->type, 1 / unit->factor}
                        : (struct condition_unit){.factor = 1};
}

/* Converts `number` to the unit of `name`, as condition_convert specifies. A name with a dot is
 * taken for an option, so a percentage compared with it is not converted to a fraction. */
static double number_for(const char *name, enum option_type type, double number)
{
    const struct name_unit *unit = name_unit_of(name);
    if (unit != NULL && type == unit->type)
        return number * unit->factor;
    if (unit != NULL && type != TYPE_REAL)
        return NAN;
    return type == TYPE_PERCENT && strchr(name, '.') == NULL ? number * 0.01 : number;
}

/* Returns the comparison's first name that has a unit of this type. If no name has one, returns the
 * comparison's first name. */
static const char *name_for(const struct condition *c, size_t term, enum option_type type)
{
    for (size_t i = term; i < c->n_terms; i++) {
        const struct name_unit *unit = name_unit_of(c->terms[i].name);
        if (unit != NULL && unit->type == type)
            return c->terms[i].name;
    }
    return c->terms[term].name;
}

double condition_convert(const struct condition *c, size_t term, enum option_type type,
                         double number)
{
    return number_for(name_for(c, term, type), type, number);
}

/* ---- Units of columns and options ---- */

/* Operand in a condition. `from`: name or number that gives the operand its unit, for messages. */
struct side {
    size_t begin; /* index of the operand's first step in the condition's `steps` */
    struct condition_unit unit;
    const char *from;
};

struct walk {
    struct condition *c;
    condition_unit_of *unit_of;
    const void *arg;
    char *why;
};

static bool has_dimension(const struct condition_unit *unit)
{
    return unit->text != NULL && unit->kind != TYPE_REAL;
}

static bool is_rate(const struct condition_unit *unit)
{
    return strstr(unit->text, "/s") != NULL;
}

/* Returns whether two units are incompatible. Counts and ratios are of one kind, as in speedup >=
 * 0.9 * ranks. An unknown unit is compatible with all. */
static bool differ(const struct condition_unit *a, const struct condition_unit *b)
{
    if (a->text == NULL || b->text == NULL)
        return false;
    return a->kind != b->kind || ((is_rate(a) || is_rate(b)) && strcmp(a->text, b->text) != 0);
}

static bool match(const struct condition_step *a, const struct condition_step *b,
                  const struct condition *c)
{
    bool same_name =
        a->action != ACTION_NAME || strcmp(c->terms[a->term].name, c->terms[b->term].name) == 0;
    return a->action == b->action && same_name &&
           (a->action != ACTION_NUMBER || a->number == b->number);
}

/* Returns whether both sides of a comparison have the same evaluation steps (struct
 * condition_step). `end`: index after the last step of the right side. */
static bool are_equal(const struct condition *c, const struct side *sides, size_t end)
{
    size_t n = sides[1].begin - sides[0].begin;
    bool equal = end - sides[1].begin == n;
    for (size_t i = 0; i < n && equal; i++)
        equal = match(&c->steps[sides[0].begin + i], &c->steps[sides[1].begin + i], c);
    return equal;
}

static const char *describe(char text[48], const struct condition_unit *unit)
{
    snprintf(text, 48, unit->text[0] ? "has the unit %s" : "has no unit", unit->text);
    return text;
}

static bool explain_units(const struct walk *w, const struct side *sides)
{
    char texts[2][48];
    snprintf(w->why, CONDITION_WHY, "%.60s %s, but %.60s %s; compare values of one unit",
             sides[0].from, describe(texts[0], &sides[0].unit), sides[1].from,
             describe(texts[1], &sides[1].unit));
    return false;
}

static struct side side_of_number(const struct condition_step *step, size_t at)
{
    static const char digits[] = "+-.eE0123456789";
    struct side side = {.begin = at, .from = step->text};
    enum option_type type;
    double number;
    bool has_unit =
        number_parse_unit(step->text, &type, &number) && (type == TYPE_TIME || type == TYPE_SIZE);
    if (has_unit)
        side.unit = (struct condition_unit){step->text + strspn(step->text, digits), (int)type, 1};
    return side;
}

static struct side side_of(const struct walk *w, size_t at)
{
    const struct condition_step *step = &w->c->steps[at];
    if (step->action == ACTION_NUMBER)
        return side_of_number(step, at);
    const char *name = w->c->terms[step->term].name;
    return (struct side){at, w->unit_of(name, w->arg), name};
}

/* Finds the first name in steps [begin, end) that has a unit of `kind` (time or size). Returns the
 * size of that unit in seconds or bytes, such as 0.001 for ms; 1 if there is no such name. */
static double reference_of(const struct walk *w, size_t begin, size_t end, int kind)
{
    for (size_t i = begin; i < end; i++)
        if (w->c->steps[i].action == ACTION_NAME) {
            struct side side = side_of(w, i);
            if (side.unit.text != NULL && side.unit.kind == kind)
                return side.unit.factor;
        }
    return 1;
}

/* Converts the times in a comparison to the unit of the first name that is a time, and the sizes to
 * the unit of the first name that is a size. Without such a name, converts to seconds or bytes. */
static void convert(const struct walk *w, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++) {
        struct condition_step *step = &w->c->steps[i];
        bool is_operand = step->action == ACTION_NAME || step->action == ACTION_NUMBER;
        struct side side = is_operand ? side_of(w, i) : (struct side){0};
        enum option_type type;
        if (!has_dimension(&side.unit))
            continue;
        double reference = reference_of(w, begin, end, side.unit.kind);
        if (step->action == ACTION_NAME)
            w->c->terms[step->term].scale = side.unit.factor / reference;
        else if (number_parse_unit(step->text, &type, &step->number))
            step->number /= reference;
    }
}

static struct side product_of(const struct side *sides, enum condition_action action)
{
    const bool left = has_dimension(&sides[0].unit), right = has_dimension(&sides[1].unit);
    struct side product = {.begin = sides[0].begin, .from = sides[0].from};
    if (left && !right)
        product = sides[0];
    else if (right && !left && action == ACTION_MULTIPLY)
        product = (struct side){sides[0].begin, sides[1].unit, sides[1].from};
    return product;
}

/* Applies the operator at step `end` to the units of two operands; the result replaces sides[0].
 * Returns false, with the reason in w->why, if the units do not fit or compared sides are equal. */
static bool join_sides(const struct walk *w, struct side *sides, size_t end)
{
    enum condition_action action = w->c->steps[end].action;
    if (action == ACTION_MULTIPLY || action == ACTION_DIVIDE) {
        sides[0] = product_of(sides, action);
        return true;
    }
    if (differ(&sides[0].unit, &sides[1].unit))
        return explain_units(w, sides);
    if (action == ACTION_RELATE && are_equal(w->c, sides, end)) {
        snprintf(w->why, CONDITION_WHY, "both sides are %s, so no run can decide the condition",
                 end == sides[1].begin + 1 ? sides[0].from : "equal");
        return false;
    }
    if (action == ACTION_RELATE)
        convert(w, sides[0].begin, end);
    if (sides[0].unit.text == NULL)
        sides[0] = (struct side){sides[0].begin, sides[1].unit, sides[1].from};
    return true;
}

bool condition_match_units(char why[CONDITION_WHY], struct condition *c, condition_unit_of *unit_of,
                           const void *arg)
{
    const struct walk w = {c, unit_of, arg, why};
    struct side stack[CONDITION_STACK];
    size_t n = 0;
    for (size_t i = 0; i < c->n_steps; i++) {
        enum condition_action action = c->steps[i].action;
        if (action == ACTION_NUMBER || action == ACTION_NAME)
            stack[n++] = side_of(&w, i);
        else if (action >= ACTION_ADD && action <= ACTION_RELATE &&
                 !join_sides(&w, &stack[--n - 1], i))
            return false;
        else if (action == ACTION_RELATE)
            n--;
    }
    return true;
}
