/* Tests which rank the other ranks wait for. Steps depend on each other, so each launch votes once:
 * for the rank that arrived last in the most steps. Null hypothesis: each rank is equally likely to
 * get the vote. */
#pragma once

#include <stddef.h>

/* Returns the index of the largest of n counts; -1 if all counts are 0 or the largest is not
 * unique. */
int votes_largest(const size_t *counts, int n);

struct votes {
    int choice; /* index of the choice with the most votes (in a tie, the one voted for first); -1:
                   no votes */
    size_t n;   /* number of votes cast */
    /* p-value, if all choices are equally likely: upper bound of the probability that some choice
     * gets at least as many votes as `choice`; NAN: no votes */
    double p;
};

/* Counts n votes. votes[i] is in 0 .. choices - 1, or -1: no vote. */
struct votes votes_count(const int *votes, size_t n, int choices);
