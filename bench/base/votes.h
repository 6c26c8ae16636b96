/* Votes for one of several that may be alike: which rank the others wait for. The steps of a launch depend
 * on each other, so that a launch is one vote, for the rank that was the last to arrive in most of its
 * steps; among ranks that are alike each is as likely to get it as any other. */
#pragma once

#include <stddef.h>

/* The choice with the largest count, of n; -1: all are 0, or it shares the largest. */
int votes_largest(const size_t *counts, int n);

struct votes {
    int choice; /* with the most votes; -1: there are none */
    size_t n;   /* votes, its own and others' */
    double
        p; /* how often some one of choices that are alike would get as many; NAN without votes */
};

/* n votes, each for one of so many choices, or -1: none. */
struct votes votes_count(const int *votes, size_t n, int choices);
