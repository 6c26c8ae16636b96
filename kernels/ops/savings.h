/* Which work a plan leaves out, and with which kernels it does the rest: two tables. */
#pragma once

/* What a plan saves of the work that a net's description counts; a set of them has a bit each. */
enum saving {
#define SAVING(name, summary) SAVING_##name,
#include "kernels/ops/savings.def"
    SAVINGS
};
#define SAVING_BIT(saving) (1u << (saving))
const char *saving_name(enum saving saving);
const char *saving_summary(enum saving saving);
/* "winograd dead_outputs", "none" for an empty set; text has SAVINGS_TEXT bytes. Returns text. */
#define SAVINGS_TEXT 128
char *savings_text(char text[SAVINGS_TEXT], unsigned savings);

/* What a layer's work is done with; CHOICE_shape is what its shape calls for. */
enum kernel_choice {
    CHOICE_shape,
#define CHOICE(name, plans, summary) CHOICE_##name,
#include "kernels/ops/choices.def"
    KERNEL_CHOICES
};
