/* A campaign as a YAML file says it: options, a matrix of points, a baseline. Reading is strict: an
 * unknown or repeated key, a value out of range or of the wrong kind is an error with its place. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/spec/enumerations.h"
#include "comm/cost/cost.h"
#include "kernels/base/error.h"
#include "kernels/desc/net_desc.h"

/* So many options of programs that are not ours may one spec name. */
enum { OWN_OPTIONS_MAX = 32 };

enum option_id {
#define OPTION(id, key, type, scope, unit, min, max, preset, names, help) OPT_##id,
#include "bench/spec/options.def"
    OPTION_ROWS, /* of the table; the last, OWN, is the first of those that a spec names */
    OPT_OWN_LAST = OPT_OWN + OWN_OPTIONS_MAX - 1,
    OPTION_COUNT
};

enum option_type {
    TYPE_INT,
    TYPE_REAL,
    TYPE_BOOL, /* true or false */
    TYPE_TEXT,
    TYPE_ENUM,       /* one of the names; kept as index and as text */
    TYPE_TIME,       /* "90s", "10min", "1h", "250ms"; kept in seconds */
    TYPE_SIZE,       /* "64KiB", "25MiB"; kept in bytes */
    TYPE_PERCENT,    /* "5%"; kept in per cent */
    TYPE_RANGE,      /* "6..20" or "6"; kept as two integers */
    TYPE_TEXTS,      /* list of names */
    TYPE_STRINGS,    /* list of free texts */
    TYPE_WORDS,      /* the same of texts that blanks separate */
    TYPE_PATTERNS,   /* list of "name = pattern" */
    TYPE_INTS,       /* list of integers */
    TYPE_RANKS,      /* an integer; in a matrix also auto */
    TYPE_NODES,      /* an integer, or auto; as NODE_RANKS a number once the spec is read */
    TYPE_NODE_RANKS, /* an integer, half or full */
    TYPE_SEGMENTS,   /* list of {epoch: 0, ranks: 1}; kept as pairs of numbers */
    TYPE_CONDITION,  /* ">= 96.5"; kept as number; "" is none */
    TYPE_FIGURES,    /* list of names and of maps: bench/spec/figures/request.h */
    TYPE_OWN,        /* a text as a program of somebody else takes it; its number too, else NAN */
};

enum option_scope { SCOPE_CAMPAIGN, SCOPE_FIGURE, SCOPE_POINT, SCOPE_WORKLOAD, SCOPE_UNTIMED };

struct spec_option {
    enum option_id id;
    const char *key;
    enum option_type type;
    enum option_scope scope;
    const char *unit;
    double min, max;
    const char *preset;
    const struct enumeration *names; /* that are allowed, or NULL */
    const char *help;
    bool flaw; /* of published programs, where it is not at its preset */
};

/* Whether a value of this type is written as a list. */
static inline bool type_is_list(enum option_type type)
{
    return type == TYPE_INTS || type == TYPE_TEXTS || type == TYPE_STRINGS || type == TYPE_WORDS ||
           type == TYPE_PATTERNS || type == TYPE_FIGURES || type == TYPE_SEGMENTS;
}

/* Whether an option has one value a campaign. */
static inline bool scope_is_campaign(enum option_scope scope)
{
    return scope == SCOPE_CAMPAIGN || scope == SCOPE_FIGURE;
}

/* Whether an option is handed to the workload. */
static inline bool scope_is_workload(enum option_scope scope)
{
    return scope == SCOPE_WORKLOAD || scope == SCOPE_UNTIMED;
}

/* Whether points of one identity may differ in it: it follows from ranks and nodes, or changes nothing
 * of what runs. */
static inline bool option_is_derived(enum option_id id)
{
    return id == OPT_RANKS_PER_NODE || id == OPT_SITE_HOSTS || id == OPT_SITE_LAUNCHER ||
           id == OPT_SITE_INTERFACE || id == OPT_SITE_MACHINES || id == OPT_COMPUTE_CORES ||
           id == OPT_ACCURACY_RUN;
}

const struct spec_option *option_get(enum option_id id);
/* By key ("train.lr"), or NULL. */
const struct spec_option *option_find(const char *key);
/* Whether options lie below the first `length` characters of a key: below "train", "measure.time". */
bool option_is_group(const char *path, size_t length);

/* The options that a spec names, in the order of their names: rows as those of the table, whose ids
 * begin at OPT_OWN. */
enum { OWN_KEY = 64 };
struct own_options {
    struct spec_option rows[OWN_OPTIONS_MAX];
    char keys[OWN_OPTIONS_MAX][OWN_KEY];
    size_t n;
};
/* What `scalebench explain KEY` prints: type, unit, range, allowed names, preset, help. */
void option_explain(FILE *out, const struct spec_option *option);

/* What a key of a spec that is no option holds. */
enum part_kind {
    PART_FILES,    /* a file, or a list of them */
    PART_AXES,     /* options, each with a list of values */
    PART_ZIPS,     /* the same, or a list of such maps */
    PART_EXCLUDES, /* a list of conditions and of options with a value or a list of them */
    PART_VALUES,   /* options with a value each */
    PART_CASES,
    PART_LABEL,
};

/* A key of a spec that is no option: parts.def. */
struct spec_part {
    const char *name;
    enum part_kind kind;
    bool at_top, in_case;
    const char *help;
};
const struct spec_part *spec_parts(size_t *n);

/* Where a value was written; line 0: a preset, or the command line (file says which). Of what an alias
 * repeats, the place of the alias. */
struct mark {
    const char *file; /* borrowed from the spec */
    int line, column;
    int anchor_line, anchor_column; /* of what an alias repeats, its place in the anchor; else 0 */
};

static inline struct mark mark_in(const char *file, int line, int column)
{
    return (struct mark){.file = file, .line = line, .column = column};
}

/* A value of an option. `text` is canonical: what a resolved spec and a command line write. */
struct value {
    struct mark mark;
    char *text;
    /* INT REAL TIME SIZE PERCENT RANKS NODES NODE_RANKS CONDITION OWN; BOOL 0, 1; ENUM index; RANGE
     * low */
    double number;
    double number_hi; /* RANGE high */
    union {
        double *numbers; /* INTS SEGMENTS: of_numbers */
        char **texts;    /* TEXTS STRINGS PATTERNS; FIGURES: their names */
    };
    char *
        path; /* absolute, of a text that is the path of a file or folder; NULL: as the text says */
    struct figure_request *figures; /* FIGURES */
    unsigned n;                     /* of numbers, texts or figures */
    bool of_numbers;
    bool set;      /* written by the spec, SET or the command line; false: preset */
    bool borrowed; /* its texts and numbers are another value's, which outlives it */
};

/* One value for every option. */
struct config {
    struct value values[OPTION_COUNT];
    const struct own_options *own; /* borrowed from the spec; NULL: it names none */
};

/* option_get and option_find, which know also the options that the spec of the configuration names. */
const struct spec_option *config_option(const struct config *config, enum option_id id);
/* Lists the keys of options that points have; returns how many. */
size_t config_list_point_options(const struct config *config, const char *keys[OPTION_COUNT]);

const struct spec_option *config_option_find(const struct config *config, const char *key);

enum status config_init(struct config *config, struct error *e); /* every option at its preset */
/* `to` is overwritten, not freed. On error nothing is left in it. */
enum status config_copy(struct config *to, const struct config *from, struct error *e);
/* The same without copying: `from` must outlive `to`. */
void config_borrow(struct config *to, const struct config *from);
void config_free(struct config *config);
/* Makes the value that of an option; its texts and numbers are borrowed. */
void config_put(struct config *config, enum option_id id, const struct value *value);
/* Parses and stores one value; error names key, text and what is accepted. */
enum status config_set(struct config *config, const struct spec_option *option, const char *text,
                       struct mark mark, struct error *e);

/* The same where the old value was written. */
enum status config_set_text(struct config *config, enum option_id id, const char *text,
                            struct error *e);
enum status config_set_number(struct config *config, enum option_id id, long number,
                              struct error *e);

/* Some option that is a declared flaw is not at its preset. */
bool config_has_flaw(const struct config *config);

/* The strategy at work: what sync.zero makes of sync.strategy, whose name stands in the text of the option;
 * where that has no such stage, which config_strategy refuses, itself. */
enum strategy_kind config_strategy_kind(const struct config *config);

/* The variant of the strategy that sync.variant names; ERR_ARGUMENT, listing those it has, when it has
 * no such variant. */
enum status config_variant(const struct config *config, enum strategy_variant *variant,
                           struct error *e);
/* The whole configuration of the strategy. ERR_ARGUMENT for a variant that it does not have, a compressor or
 * an algorithm, a precision or a scale that it does not take, a scale that fp16 does not; *at is the
 * option that this is about. */
enum status config_strategy(const struct config *config, struct strategy_config *strategy,
                            enum option_id *at, struct error *e);

/* The compressor that is asked for, or the one that gradients of 16 bits travel by, as train.precision
 * says. */
enum compressor_kind config_compressor(const struct config *config);
/* Whether sums of that are waited for when they are made. */
bool config_compressor_waits(const struct config *config);

/* Ranks that share a batch: of so many those of one stage and slice, where the net is cut by parallel.pipeline or
 * parallel.tensor. */
long config_replicas(const struct config *config, long ranks);

/* What parallel.* asks of the other options and, where it is known (not NULL), of the network.
 * ERR_ARGUMENT says what does not go together; *at is the option to change. */
enum status config_check_parallel(const struct config *config, const struct net_desc *net,
                                  long ranks, enum option_id *at, struct error *e);

/* Images of a step over all of so many ranks: train.global_batch, or train.batch_per_rank times
 * train.accumulate times those that share a batch; 0: neither is given. */
double config_global_batch(const struct config *config, long ranks);

/* Whether the two agree and, of both that are given or one, each rank has images for each micro-batch.
 * ERR_ARGUMENT says what does not; *at is the option to change. */
enum status config_check_batch(const struct config *config, long ranks, enum option_id *at,
                               struct error *e);

/* What sync.overlap comes to: none where the strategy does not communicate during backward, or waits
 * there for compressed sums. */
enum overlap_kind config_overlap(const struct config *config);
/* Cores that a rank wants: one for each computing thread, and one for a thread of sync.overlap. */
int config_cores_per_rank(const struct config *config);

/* What a strategy asks of the other options on so many ranks.
 * ERR_ARGUMENT says what does not go together; *at is the option to change. */
enum status config_check_strategy(const struct config *config, int ranks, enum option_id *at,
                                  struct error *e);

/* What the data set asks of the other options and of the network. ERR_ARGUMENT or ERR_SHAPE says
 * what does not go together; *at is the option to change. */
enum status config_check_data(const struct config *config, const struct net_desc *net,
                              enum option_id *at, struct error *e);

/* What the tables say of the rows that were chosen. */
struct site_row {
    const char *kind;  /* of its numbers: "measured" or "emulated" */
    bool shares_cores; /* its nodes are one machine's */
};
struct workload_row {
    const char *name, *helper; /* a peer has a helper; of others it is "" */
    const char *strategies;    /* of a peer, with blanks between them; "": any */
    bool foreign;              /* the program is the one of workload.command */
};
enum data_source { DATA_FOUND, DATA_GENERATED, DATA_OWN };
struct data_set_row {
    const char *name;
    enum data_source source;
    struct shape shape;
    int train, test;         /* images to train on and to test on */
    int classes;             /* 0, as the images and their shape, where its files say */
    const char *class_names; /* with blanks between them; "": their numbers */
};
const struct site_row *config_site(const struct config *config);
/* Whether the option means something where this runs: hosts and their links are those of nodes that share
 * a machine; elsewhere it stands at its preset, which tells a point from no other. */
bool config_concerns(const struct config *config, enum option_id option);
/* Whether the program of the point takes any notice of the option; of trainers which strategy or optimizer does is
 * another question. */
bool config_reads(const struct config *config, enum option_id option);
/* Both, and what the option belongs to is chosen: sync.cap_mib is used by strategy bucketed alone. */
bool config_uses(const struct config *config, enum option_id option);
/* The option whose value has this one without effect; NULL: none has. */
const struct spec_option *config_unread_by(const struct config *config, enum option_id id);
/* ERR_ARGUMENT that explains to a command line why config_unread_by names an owner. */
enum status config_refuse_unread(const struct config *config, enum option_id id, struct error *e);
/* "1gbit delay none": what joins hosts of an emulated site, as the options say it. */
enum { LINK_BYTES = 64 };
void config_link(char text[LINK_BYTES], const struct config *config);
/* The same as numbers, of options that were checked; 0 for none. */
double config_link_s_per_byte(const struct config *config);
double config_link_delay_s(const struct config *config);
/* Whether the options say no more than their presets. */
bool config_has_usual_link(const struct config *config);
/* What kind of numbers a point has: that of its site, or "replayed", or both. */
const char *config_kind(const struct config *config);
/* That of its accuracy runs, which compute also where timed launches let the time of it pass. */
const char *config_kind_trained(const struct config *config);
const struct workload_row *config_workload(const struct config *config);
/* NULL: there is none of this name. */
const struct workload_row *workload_find(const char *name);
/* ERR_ARGUMENT, with those that it has, where a peer lacks the strategy. */
enum status workload_check_strategy(const struct workload_row *row, const char *strategy,
                                    struct error *e);
const struct data_set_row *config_data_set(const struct config *config);
/* NULL: there is none of this name. */
const struct data_set_row *data_set_find(const char *name);
/* Images of a step of a point. */
static inline double config_images(const struct config *c)
{
    return config_global_batch(c, (long)c->values[OPT_RANKS].number);
}
/* Steps of a timed launch, those before the timed ones included. */
double config_launch_steps(const struct config *config);
/* Steps of an epoch. NAN: how many images there are is not known before they are read. */
double config_epoch_steps(const struct config *config);
/* Steps of an accuracy run and what its evaluations take in steps: a third of each image's, which go forward alone. NAN:
 * how many images there are is not known before they are read. */
double config_run_steps(const struct config *config);
/* All ranks must keep step with each other to read their data. */
bool config_reads_in_step(const struct config *config);
/* The optimizer's rates go by norms of whole tensors. */
bool config_takes_norms(const struct config *config);
/* Numbers of state that the optimizer has a parameter. */
int config_state_slots(const struct config *config);

/* Whether a network takes the images of `set` and tells its classes apart: ERR_SHAPE if not. */
enum status model_check_data(const struct net_desc *net, const char *set, struct shape shape,
                             int classes, struct error *e);

static inline double config_number(const struct config *c, enum option_id id)
{
    return c->values[id].number;
}
static inline long config_int(const struct config *c, enum option_id id)
{
    return (long)c->values[id].number;
}
static inline const char *config_text(const struct config *c, enum option_id id)
{
    return c->values[id].text;
}
/* Of an option that names a file or folder: where that is. */
static inline const char *config_path(const struct config *c, enum option_id id)
{
    return c->values[id].path != NULL ? c->values[id].path : c->values[id].text;
}
static inline bool config_is_peer(const struct config *c)
{
    return config_workload(c)->helper[0] != '\0';
}
/* It trains nothing that the other options say: no network, no batch, no weights. */
static inline bool config_is_foreign(const struct config *c)
{
    return config_workload(c)->foreign;
}
/* Launches of a point are added until its intervals are narrow, up to the most that are allowed. */
static inline bool config_adds_launches(const struct config *c)
{
    return c->values[OPT_TIME_LAUNCHES].number < c->values[OPT_TIME_LAUNCHES].number_hi;
}
/* Ranks of a node, from 0: each has as many, the first ones one more where that does not come out. */
static inline int config_node_ranks(const struct config *c, int node)
{
    long ranks = config_int(c, OPT_RANKS), nodes = config_int(c, OPT_NODES);
    return (int)(ranks / nodes + (node < ranks % nodes));
}
/* Its timed launches do not compute. */
static inline bool config_replays(const struct config *c)
{
    return config_int(c, OPT_COMPUTE) == COMPUTE_replay;
}
/* They keep the time of each op for points that replay. */
static inline bool config_calibrates(const struct config *c)
{
    return config_int(c, OPT_COMPUTE) == COMPUTE_calibrate;
}
/* Whether it has accuracy runs: strategy none at several ranks trains replicas apart, and the accuracy of one
 * of them would mean nothing. */
static inline bool config_wants_accuracy(const struct config *c)
{
    return config_int(c, OPT_ACCURACY_RUN) && !config_is_foreign(c) && !config_calibrates(c) &&
           (config_int(c, OPT_STRATEGY) != STRATEGY_none || config_int(c, OPT_RANKS) == 1);
}
static inline bool config_writes_checkpoints(const struct config *c)
{
    return config_number(c, OPT_CHECKPOINT_EPOCHS) > 0 ||
           config_number(c, OPT_CHECKPOINT_STEPS) > 0;
}

/* Whether checkpoint.path names a file; else each accuracy run has one of its own beside its launches. */
bool config_names_checkpoint(const struct config *config);

/* ---- Elastic accuracy runs ---- */

/* Ranks of an accuracy run from an epoch on, up to another one. */
struct segment {
    uint32_t epoch, until; /* from 0; the last one's end is train.epochs */
    int ranks;
};

/* Its accuracy runs consist of segments, or are begun again when a rank dies. */
bool config_is_elastic(const struct config *config);
/* At least 1: all epochs on all ranks, where `elastic` says nothing. */
size_t config_segments(const struct config *config);
struct segment config_segment(const struct config *config, size_t i);

/* The same configuration on so many of its ranks: nodes hold at most as many as before. Borrowed, as by
 * config_borrow. */
void config_on_ranks(struct config *to, const struct config *from, int ranks);

/* Whether it has a batch and a strategy there; `why` says what it does not have. */
bool config_runs_on(const struct config *config, int ranks, struct error *why);

/* What an elastic run asks of the other options. ERR_ARGUMENT says what does not go together; *at is the
 * option to change. */
enum status config_check_elastic(const struct config *config, enum option_id *at, struct error *e);

#define SHA256_TEXT_BYTES 65

/* A file that a spec names: a network, published numbers, a link's coefficients. Looked for beside
 * the spec, then from the current folder; a SET means the current folder alone. Networks and
 * published numbers also go by name, from configs/models and results/published. A run keeps a
 * copy, to which its own spec.yaml refers. Files with the same contents are one input. */
struct spec_input {
    enum option_id option;
    char *name; /* without folder and ending, unlike that of other inputs of the option: the text of
                   the option's values once the spec is read */
    char *path; /* where it is read */
    char *copy; /* where a run keeps it, below its folder: "models/lenet_21k.yaml" */
    /* SHA-256: of a network as model_sha256 says, else of the bytes. */
    char digest[SHA256_TEXT_BYTES];
    struct net_desc net; /* of a network; otherwise empty */
};

/* One point of a campaign. `label` tells it from the others by what varies ("ranks=2 allreduce")
 * and begins with its case, where there are cases; `id` is 12 hexadecimal digits of the SHA-256 of
 * all its POINT and WORKLOAD values that are not at their preset, the contents of the network
 * standing for its name. Points of different cases may have the same values, hence the same id: they
 * share their launches. */
struct point {
    struct config config;         /* borrowed from the spec */
    const struct matrix *of;      /* the case that it belongs to, or the spec's matrix; borrowed */
    const char *case_name;        /* label of the case, "" without cases; borrowed */
    size_t twin;                  /* index of the first point of the same id; its own otherwise */
    const struct spec_input *net; /* borrowed from the spec; NULL where no model is given */
    char id[16];
    char label[128];
    bool base;         /* some point's speed-up refers to it; then base_index is its own index */
    size_t base_index; /* of the point that this one's speed-up refers to */
    /* Of the first that computes as this one does and communicates nothing: strategy none, all
     * options but those of sync the same. Its own, where there is none or it is that. */
    size_t silent_index;
    size_t
        calibration_index; /* of the one whose times pass in place of its computing, or its own */
    size_t peer_index;     /* of the first that a peer computes, the same in all else; likewise */
    bool requested;        /* in the matrix; false: added for others: as baseline, say */
};

/* The base of a point is the point with the values of `baseline:` applied, of its case's or the
 * spec's; it is added where the matrix lacks it; so is, with measure.replay, the point of strategy
 * none beside one of several ranks. Ranks, nodes and ranks_per_node that it does not give follow from those that it does. Without
 * `baseline:` it is the first point with the fewest ranks
 * among those that solve the same problem (that differ in ranks, nodes, place.*, sync.* and inject.*
 * only), before others of as few ranks one of its own case. */
struct alike;
struct written_value;
struct node;
struct spec {
    char *path;   /* of the file */
    char **bases; /* of the files that it extends */
    size_t n_bases;
    struct own_options *own;
    struct config config;  /* outside the matrix */
    struct config presets; /* every option at its preset */
    struct matrix *matrix; /* matrix, exclude, cases, ... as read: what spec_write repeats */
    struct point *points;  /* added baselines first, then case by case the matrix in order, the last
                              key varying fastest */
    size_t n_points;
    enum option_id *varying; /* options that differ between requested points */
    size_t n_varying;
    struct spec_input *inputs;
    size_t n_inputs;
    struct alike *identities; /* of the points: what spec_find_point looks in */
    struct written_value
        *written; /* values of points, and whether a point reads them: points/owned.c */
    size_t n_written;
    bool is_recorded;     /* spec_write wrote the file */
    struct node *folders; /* what it says then of where paths are seen from; or NULL */
};

/* The input by its name, a text of an option's values; NULL where there is none. */
const struct spec_input *spec_input_find(const struct spec *spec, enum option_id option,
                                         const char *name);

/* What expansion needs to know of the machine. */
struct spec_machine {
    int usable_cores; /* of a node */
    int nodes;        /* of the batch job; 0 as 1: there is none */
    bool batch;       /* there is none, but one could be asked for */
};

/* Reads `path` (looked for as given, then in configs/ and $SCALEBENCH_HOME/configs/), applies `set`
 * ("train.epochs=1 matrix.ranks=[1,2]", or NULL; each line over those before it), checks every value, every rule between values and
 * the models it names, expands the matrix. A SET of `key` replaces the file's value or its axis of
 * the matrix; a SET of `matrix.key` replaces or adds an axis; a SET of `baseline` replaces the
 * baseline. They hold for every case that does not give the key itself; one of `cases.LABEL.key`
 * for that case alone. ERR_SPEC with file:line:column. The spec is freed with spec_free in any case. */
enum status spec_load(struct spec *spec, const char *path, const char *set,
                      const struct spec_machine *machine, struct error *e);
void spec_free(struct spec *spec);
/* Whether a name means a spec: one that is there, or any that ends in .yaml. */
bool spec_is_meant(const char *name);

/* The key of an option that SET gave and that says more than what is shown of a run; NULL: none. */
const char *spec_set_beyond_figures(const struct spec *spec);

/* Whether the values of an option are not the file's own: by the machine's cores, as auto in a list, or by SET. */
bool spec_option_is_open(const struct spec *spec, enum option_id id);
/* Whether the file alone says which values it has: neither this machine, nor the site, nor a SET. */
bool spec_option_is_settled(const struct spec *spec, enum option_id id);

/* Accuracy in percent that guessing reaches, with the network of the most classes; 100, and 1 class: none has several. */
double spec_chance(const struct spec *spec, int *classes);

/* The index of the point of this identity; n_points where there is none. */
size_t spec_find_point(const struct spec *spec, const char *id);

/* Writes the spec with every option, one key a line, as YAML that spec_load reads back to the same
 * points where the copies of the inputs lie beside it: results/<name>/<run>/spec.yaml. */
enum status spec_write(FILE *out, const struct spec *spec, struct error *e);

/* Whether spec_write wrote the file: its values hold as they are. */
bool spec_is_recorded(const char *path);
/* The key of a spec that spec_write wrote, a list of folders: a path in it is seen from them, too. */
extern const char spec_folders_key[];

/* Where the path that a value names is looked for, in this order, NULL at the end: beside the file that gives the
 * value, then in the current folder; of words of a command line in the current folder first. Each is "" (the current
 * folder) or ends in '/'. */
enum { SEEN_FROM_MAX = 8 };
struct seen_from {
    char *beside; /* freed with seen_from_close */
    const char *folders[SEEN_FROM_MAX + 1];
};
enum status seen_from_open(struct seen_from *from, const struct spec *spec, struct mark mark,
                           struct error *e);
void seen_from_close(struct seen_from *from);

/* The title that it gives; NULL: none. */
const char *spec_title(const struct spec *spec);
/* The title that SET gives, which figures show; "": none. */
const char *spec_title_of_set(const struct spec *spec);

/* The program of the first point where all points are of foreign programs, as the spec writes it; else
 * NULL. */
const char *spec_foreign(const struct spec *spec);

/* The options of a point that its workload takes, as "--key=value" strings; a NULL-terminated array
 * in one allocation, freed with free. */
enum status point_arguments(char ***arguments, const struct point *point, struct error *e);

/* Command line of a workload: "--key=value" and "--key value" for every option of scope WORKLOAD,
 * into config; of several for one key the last counts. argv[0] is skipped; what is not an option of
 * this table, and whatever follows "--", is left in argv[1..*argc). */
enum status config_parse_arguments(struct config *config, int *argc, char **argv, struct error *e);

/* Reads a model file, `name` being a path (with a '/' or ending in .yaml) or a name looked for as
 * configs/models/<name>.yaml below the current folder, then below $SCALEBENCH_HOME. The parameter
 * count that the file states is checked. ERR_SPEC or ERR_SHAPE with file:line:column. */
enum status model_load(struct net_desc *net, const char *name, struct error *e);

/* Writes a network as one JSON object on one line without its end: input, mean and std a channel,
 * layers with every option, shapes and tensors, tensors with dimensions and offsets. */
enum status model_write_json(FILE *out, const struct net_desc *net, struct error *e);

/* SHA-256 over that JSON, in hexadecimal: the same for files that say the same in other words. */
enum status model_sha256(const struct net_desc *net, char hex[SHA256_TEXT_BYTES], struct error *e);
