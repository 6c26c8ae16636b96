#include "bench/sites/site.h"

#include <stdlib.h>
#include <string.h>

#define SITE(name, summary) extern const struct site site_##name;
#include "bench/spec/sites.def"
#undef SITE

const struct site *site_get(const char *name)
{
    static const struct site *const sites[] = {
#define SITE(name, summary) &site_##name,
#include "bench/spec/sites.def"
#undef SITE
    };
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        if (strcmp(sites[i]->name, name) == 0)
            return sites[i];
    return NULL;
}

const char *site_link(const char *name)
{
    return strcmp(name, "emulated") == 0 ? getenv("SCALEBENCH_LINK") : NULL;
}

void site_launch_free(struct site_launch *launch)
{
    free(launch->argv);
    free(launch->environment);
    place_plan_free(&launch->plan);
    *launch = (struct site_launch){0};
}
