#include "bench/spec/enumerations.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* clang-format off */
#define LIST(list) static const char *const list##_names[] = {
#define ROW(name, summary) #name,
#define LIST_END };
#include "bench/spec/enumerations.def"

#define LIST(list) static const char *const list##_summaries[] = {
#define ROW(name, summary) summary,
#define LIST_END };
#include "bench/spec/enumerations.def"

#define LIST(list) const struct enumeration names_##list[1] = { \
    {#list, COUNT_OF(list##_names), list##_names, list##_summaries}};
#define ROW(name, summary)
#define LIST_END
#include "bench/spec/enumerations.def"
/* clang-format on */

const struct enumeration *const *enumerations(size_t *n)
{
    static const struct enumeration *const lists[] = {
#define LIST(list) names_##list,
#define ROW(name, summary)
#define LIST_END
#include "bench/spec/enumerations.def"
    };
    *n = COUNT_OF(lists);
    return lists;
}

void enumeration_print(FILE *out, const char *indent, const struct enumeration *names)
{
    for (size_t i = 0; i < names->n; i++)
        fprintf(out, "%s%-18s %s\n", indent, names->names[i], names->summaries[i]);
}
