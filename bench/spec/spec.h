/* Campaign described by a YAML file: options, a matrix of points, a baseline. Unknown keys,
 * repeated keys and invalid values are errors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/spec/enumerations.h"
#include "comm/cost/cost.h"
#include "kernels/base/error.h"
#include "kernels/base/stats.h"
#include "kernels/desc/net_desc.h"

/* Largest number of workload.options (options of the program in workload.command) in one spec. */
enum { OWN_OPTIONS_MAX = 32 };

enum option_id {
#define OPTION(id, key, type, scope, unit, min, max, preset, names, help) OPT_##id,
#include "bench/spec/options.def"
    OPTION_ROWS, /* number of rows of options.def; the last row is OPT_OWN */
    OPT_OWN_LAST = OPT_OWN + OWN_OPTIONS_MAX - 1,
    OPTION_COUNT
};

enum option_type {
    TYPE_INT,
    TYPE_REAL,
    TYPE_BOOL, /* true or false */
    TYPE_TEXT,
    TYPE_ENUM,       /* a name, kept as index and as text */
    TYPE_TIME,       /* "90s", "10min", "1h", "250ms"; kept in seconds */
    TYPE_SIZE,       /* "64KiB", "25MiB"; kept in bytes */
    TYPE_PERCENT,    /* "5%"; kept in per cent */
    TYPE_RANGE,      /* "6..20" or "6"; kept as two integers */
    TYPE_TEXTS,      /* list of names */
    TYPE_STRINGS,    /* list of distinct texts */
    TYPE_WORDS,      /* list of texts, which may repeat */
    TYPE_PATTERNS,   /* list of "name = pattern" */
    TYPE_INTS,       /* list of integers */
    TYPE_RANKS,      /* an integer; in a matrix also auto */
    TYPE_NODES,      /* integer or auto; a number once the spec is read */
    TYPE_NODE_RANKS, /* integer, half or full; a number once the spec is read */
    TYPE_SEGMENTS,   /* list of {epoch: 0, ranks: 1}; kept as pairs of numbers */
    TYPE_CONDITION,  /* text ">= NUMBER" (no other operator) and its NUMBER; "": no condition */
    TYPE_FIGURES,    /* list of names and maps; see bench/spec/figures/request.h */
    TYPE_OWN,        /* text in workload.options; also kept as a number (NAN if not numeric) */
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
    const struct enumeration *names; /* allowed names; NULL: values are not names from a list */
    const char *help;
    bool flaw; /* whether values other than the default reproduce a flaw of published programs */
};

/* Returns whether a value of this type is written as a list. */
static inline bool type_is_list(enum option_type type)
{
    return type == TYPE_INTS || type == TYPE_TEXTS || type == TYPE_STRINGS || type == TYPE_WORDS ||
           type == TYPE_PATTERNS || type == TYPE_FIGURES || type == TYPE_SEGMENTS;
}

/* Returns whether an option of this scope has a single value for the whole campaign. */
static inline bool scope_is_campaign(enum option_scope scope)
{
    return scope == SCOPE_CAMPAIGN || scope == SCOPE_FIGURE;
}

/* Returns whether the option is passed to the workload. */
static inline bool scope_is_workload(enum option_scope scope)
{
    return scope == SCOPE_WORKLOAD || scope == SCOPE_UNTIMED;
}

/* Returns whether point ids omit the option, because it follows from ranks and nodes, describes the
 * site or its machines, or does not change what a launch runs. */
static inline bool option_is_derived(enum option_id id)
{
    return id == OPT_RANKS_PER_NODE || id == OPT_SITE_HOSTS || id == OPT_SITE_LAUNCHER ||
           id == OPT_SITE_INTERFACE || id == OPT_SITE_MACHINES || id == OPT_COMPUTE_CORES ||
           id == OPT_ACCURACY_RUN;
}

const struct spec_option *option_get(enum option_id id);
/* Returns the option with a key ("train.lr"), or NULL. */
const struct spec_option *option_find(const char *key);
/* Returns whether the first `length` characters of a path are a group of options: "train",
 * "measure.time". */
bool option_is_group(const char *path, size_t length);

enum { OWN_KEY = 64 };

/* Options defined below workload.options, sorted by name. Their ids begin at OPT_OWN. */
struct own_options {
    struct spec_option rows[OWN_OPTIONS_MAX];
    char keys[OWN_OPTIONS_MAX][OWN_KEY];
    size_t n;
};
/* Prints the text of `scalebench explain KEY`: the description of an option for users. */
void option_explain(FILE *out, const struct spec_option *option);

/* Type of the value of a key that is not an option (parts.def). */
enum part_kind {
    PART_FILES,    /* file or list of files */
    PART_AXES,     /* options, each with a list of values */
    PART_ZIPS,     /* map of options to lists of values, or a list of such maps */
    PART_EXCLUDES, /* list; each entry is a condition, or a map of options to values or lists */
    PART_VALUES,   /* options, each with one value */
    PART_CHANGES,  /* options, each with one value or a factor such as x2 */
    PART_CASES,
    PART_LABEL,
};

/* Key of a spec that is not an option (parts.def). */
struct spec_part {
    const char *name;
    enum part_kind kind;
    bool at_top, in_case;
    const char *help;
};
const struct spec_part *spec_parts(size_t *n);

/* Position of a value, or of its alias. If `line` is 0, the value is in no spec, and `file` is
 * "preset" (a default), "command line" (of a workload) or NULL. */
struct mark {
    const char *file; /* name of the file, borrowed from the spec, or a constant such as "SET" */
    int line, column;
    /* position where the anchor defines an aliased value; 0 for other values */
    int anchor_line, anchor_column;
};

static inline struct mark mark_in(const char *file, int line, int column)
{
    return (struct mark){.file = file, .line = line, .column = column};
}

/* Value of an option. `text` is canonical: the form in recorded specs and command lines. */
struct value {
    struct mark mark;
    char *text;
    /* Value of types INT REAL TIME SIZE PERCENT RANKS NODES NODE_RANKS. BOOL: 0 or 1. ENUM: index
     * of the name. RANGE: lower bound. CONDITION: the number after >=. OWN: NAN if the value is not
     * a number. */
    double number;
    double number_hi; /* upper bound of a RANGE */
    union {
        double *numbers; /* values of types INTS and SEGMENTS; valid only if of_numbers */
        char **texts;    /* texts; for type FIGURES, the names of the figures */
    };
    char *path;                     /* absolute path if the value is a file or folder; else NULL */
    struct figure_request *figures; /* value of type FIGURES */
    unsigned n;                     /* number of elements in `numbers`, `texts` or `figures` */
    bool of_numbers;
    bool set;      /* given by a spec file, --set or a workload's command line; false: default */
    bool borrowed; /* text, path and lists belong to another value, which outlives this one */
};

/* One value for every option. */
struct config {
    struct value values[OPTION_COUNT];
    /* workload.options, borrowed from the spec; NULL: none */
    const struct own_options *own;
};

/* Returns the option with this id. Unlike option_get, also finds options below workload.options. */
const struct spec_option *config_option(const struct config *config, enum option_id id);
/* Lists the keys of all options that may differ between points. Returns their number. */
size_t config_list_point_options(const struct config *config, const char *keys[OPTION_COUNT]);

const struct spec_option *config_option_find(const struct config *config, const char *key);

enum status config_init(struct config *config, struct error *e); /* sets all defaults */
/* Copies a config. `to` is overwritten, not freed. After an error, `to` owns nothing. */
enum status config_copy(struct config *to, const struct config *from, struct error *e);
/* Copies a config, except that texts and lists are shared with `from`, which must outlive `to`. */
void config_borrow(struct config *to, const struct config *from);
void config_free(struct config *config);
/* Sets an option to `value`, whose texts and lists are borrowed and must outlive the config. */
void config_put(struct config *config, enum option_id id, const struct value *value);
/* Parses and stores one value. The error message has key, text and accepted values. */
enum status config_set(struct config *config, const struct spec_option *option, const char *text,
                       struct mark mark, struct error *e);

/* Parse and store a value. The option keeps the mark of its old value, so errors name the file and
 * line of the old value. */
enum status config_set_text(struct config *config, enum option_id id, const char *text,
                            struct error *e);
enum status config_set_number(struct config *config, enum option_id id, long number,
                              struct error *e);

/* Returns whether some option is set to repeat a flaw of published programs. */
bool config_has_flaw(const struct config *config);

/* Returns the strategy that implements ZeRO stage sync.zero for sync.strategy. If no strategy
 * implements the stage, returns sync.strategy; config_strategy then rejects sync.zero. */
enum strategy_kind config_strategy_kind(const struct config *config);

/* Finds the strategy's variant named by sync.variant. ERR_ARGUMENT lists the known variants. */
enum status config_variant(const struct config *config, enum strategy_variant *variant,
                           struct error *e);
/* Fills in the strategy's configuration. ERR_ARGUMENT if options conflict or the strategy does not
 * support them; *at is the option to change. */
enum status config_strategy(const struct config *config, struct strategy_config *strategy,
                            enum option_id *at, struct error *e);

/* Returns the effective compressor: sync.compress for train.precision fp32. For bf16 and fp16,
 * returns the compressor of the same name, or COMPRESSOR_none if sync.strategy is none. */
enum compressor_kind config_compressor(const struct config *config);
/* Returns whether the compressor prevents overlap: the backward pass waits for each sum. */
bool config_compressor_waits(const struct config *config);

/* Returns the number of replicas: ranks / (parallel.pipeline * parallel.tensor), at least 1. */
long config_replicas(const struct config *config, long ranks);

/* Checks parallel.* against other options and, unless `net` is NULL, against the network.
 * ERR_ARGUMENT if they conflict; *at is the option to change. */
enum status config_check_parallel(const struct config *config, const struct net_desc *net,
                                  long ranks, enum option_id *at, struct error *e);

/* Returns the number of images per step over all ranks: train.global_batch, or train.batch_per_rank
 * times train.accumulate times the number of replicas that `ranks` ranks form. 0 if neither batch
 * option is given. */
double config_global_batch(const struct config *config, long ranks);
/* Returns the number of trained images per step over all ranks: config_global_batch, rounded down
 * to a multiple of the number of replicas if train.remainder is drop. */
double config_trained_batch(const struct config *config, long ranks);

/* Checks the batch options; *at is the option to change. ERR_ARGUMENT if they conflict, if a step
 * has too many images, or if every rank has fewer than train.accumulate images per step. */
enum status config_check_batch(const struct config *config, long ranks, enum option_id *at,
                               struct error *e);

/* Returns the effective sync.overlap: `none` if the strategy does not communicate during backward,
 * or if the compressor prevents overlap. */
enum overlap_kind config_overlap(const struct config *config);
/* Returns the number of cores per rank: one per computing thread, plus one if sync.overlap uses a
 * thread of its own. */
int config_cores_per_rank(const struct config *config);

/* Checks whether strategy and other options are valid on `ranks` ranks. ERR_ARGUMENT if not; *at is
 * the option to change. */
enum status config_check_strategy(const struct config *config, int ranks, enum option_id *at,
                                  struct error *e);

/* Checks the data set against other options and the network. ERR_ARGUMENT or ERR_SHAPE if they
 * conflict; *at is the option to change. */
enum status config_check_data(const struct config *config, const struct net_desc *net,
                              enum option_id *at, struct error *e);

/* Row of sites.def. */
struct site_row {
    const char *kind;  /* kind of the site's numbers: "measured", "emulated" or "simulated" */
    bool shares_cores; /* whether nodes are emulated or simulated on this machine */
};
/* Row of workloads.def. */
struct workload_row {
    /* `helper`: program that makes the inputs of a peer (a program by other authors); the peer's
     * own name if it has no such program. "": the workload is not a peer */
    const char *name, *helper;
    /* strategies that a peer supports, separated by blanks; "": any */
    const char *strategies;
    bool foreign; /* whether workload.command gives the program */
};
enum data_source { DATA_FOUND, DATA_GENERATED, DATA_OWN };
/* Row of data_sets.def. */
struct data_set_row {
    const char *name;
    enum data_source source;
    struct shape shape;
    int train, test; /* numbers of images for training and testing */
    int classes;     /* number of classes. For source DATA_OWN, `train`, `test`, `shape` and
                        `classes` are 0, since the user's files determine them */
    /* names of the classes, separated by blanks; "": classes are named by number */
    const char *class_names;
};
const struct site_row *config_site(const struct config *config);
/* Returns whether the point's launches run or are simulated on this machine, so that they see its
 * files. */
bool config_runs_here(const struct config *c);
/* Returns whether an option applies to the point's site. site.hosts, site.rate and site.delay apply
 * only to sites with shares_cores, whose nodes are emulated or simulated hosts. site.link,
 * site.leaf_hosts, site.oversubscription and site.model apply only if the site is simulated. */
bool config_concerns(const struct config *config, enum option_id option);
/* Returns whether the point's program can read the option, whatever the strategy and optimizer. A
 * user's program (workload.command) reads no workload options (scope_is_workload) other than seed,
 * threads and batch sizes. */
bool config_reads(const struct config *config, enum option_id option);
/* Returns whether the point uses the option, given its strategy, optimizer and other choices. For
 * example, strategy allreduce does not use sync.cap_mib. */
bool config_uses(const struct config *config, enum option_id option);
/* Returns an option whose value leaves option `id` without effect; NULL if there is none. */
const struct spec_option *config_unread_by(const struct config *config, enum option_id id);
/* Returns ERR_ARGUMENT with the reason why option `id` on the command line has no effect. Call it
 * only if config_unread_by returns an option for `id`. */
enum status config_refuse_unread(const struct config *config, enum option_id id, struct error *e);
/* Returns whether option `id` has no effect because there are too few steps, epochs, ranks or
 * nodes. If so, writes the reason to `why`. */
bool config_is_late(char why[], size_t size, const struct config *config, enum option_id id);
enum { LINK_BYTES = 64, EMULATED_HOSTS_MAX = 16 };
/* Writes the name of the link between emulated or simulated hosts; if site.link is none, writes the
 * link's rate and delay, such as "1gbit delay none". */
void config_link(char text[LINK_BYTES], const struct config *config);
/* Return seconds per byte and delay (s) of the link between emulated or simulated hosts; 0: no
 * limit, no delay. The options must have passed link_check. */
double config_link_s_per_byte(const struct config *config);
double config_link_delay_s(const struct config *config);
/* Returns whether the link has its default rate and delay, and no name. */
bool config_has_usual_link(const struct config *config);
/* Returns the origin of a point's numbers: "measured", "emulated", "replayed", "emulated and
 * replayed" or "simulated". */
const char *config_kind(const struct config *config);
/* Returns the origin of an accuracy run's numbers: "measured" or "emulated", never "replayed". */
const char *config_kind_trained(const struct config *config);
const struct workload_row *config_workload(const struct config *config);
/* Returns the workload's row; NULL if the name is unknown. */
const struct workload_row *workload_find(const char *name);
/* Returns ERR_ARGUMENT if a peer does not support the strategy. The message lists the strategies
 * that the peer supports. */
enum status workload_check_strategy(const struct workload_row *row, const char *strategy,
                                    struct error *e);
const struct data_set_row *config_data_set(const struct config *config);
/* Returns the data set's row; NULL if the name is unknown. */
const struct data_set_row *data_set_find(const char *name);
/* Returns the number of trained images per step, over all ranks of the point. */
static inline double config_images(const struct config *c)
{
    return config_trained_batch(c, (long)c->values[OPT_RANKS].number);
}
/* Returns the number of images per step over all ranks of the point, including images that
 * train.remainder leaves out. */
static inline double config_images_taken(const struct config *c)
{
    return config_global_batch(c, (long)c->values[OPT_RANKS].number);
}
/* Returns the number of steps of a timed launch, including warm-up. */
double config_launch_steps(const struct config *config);
/* Returns the number of steps of an epoch; NAN if the number of images is not known yet. */
double config_epoch_steps(const struct config *config);
/* Returns the number of steps of an accuracy run; NAN for DATA_OWN. Evaluating a batch counts as a
 * third of a step, since only the forward pass runs. */
double config_run_steps(const struct config *config);
/* Returns whether data.read makes all ranks read together, by collective calls. */
bool config_reads_in_step(const struct config *config);
/* Returns whether the optimizer uses norms of whole tensors. */
bool config_takes_norms(const struct config *config);
/* Returns the number of state values that the optimizer keeps per parameter. */
int config_state_slots(const struct config *config);

/* Checks that the network takes images of `shape` and has at least `classes` classes. ERR_SHAPE if
 * not; the message names data set `set`. */
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
/* Returns the absolute path that an option names; the option's text if no path is known. */
static inline const char *config_path(const struct config *c, enum option_id id)
{
    return c->values[id].path != NULL ? c->values[id].path : c->values[id].text;
}
static inline bool config_is_peer(const struct config *c)
{
    return config_workload(c)->helper[0] != '\0';
}
/* Returns whether the point runs the user's program in workload.command. The spec's network and
 * weights do not apply to such a point. */
static inline bool config_is_foreign(const struct config *c)
{
    return config_workload(c)->foreign;
}
/* Returns whether launches are added until confidence intervals are narrow, up to a maximum. */
static inline bool config_adds_launches(const struct config *c)
{
    return c->values[OPT_TIME_LAUNCHES].number < c->values[OPT_TIME_LAUNCHES].number_hi;
}
/* Returns the number of ranks on node `node`, counted from 0. If ranks do not divide evenly, the
 * first nodes have one more rank. */
static inline int config_node_ranks(const struct config *c, int node)
{
    long ranks = config_int(c, OPT_RANKS), nodes = config_int(c, OPT_NODES);
    return (int)(ranks / nodes + (node < ranks % nodes));
}
/* Returns whether launches are simulated instead of run. */
static inline bool config_is_simulated(const struct config *c)
{
    return config_int(c, OPT_SITE) == SITE_simulated;
}
/* Returns whether timed launches replay compute times, measured or from compute.rate, instead of
 * computing. */
static inline bool config_replays(const struct config *c)
{
    return config_int(c, OPT_COMPUTE) == COMPUTE_replay;
}
/* Returns whether timed launches record the time of each op, for points that replay. */
static inline bool config_calibrates(const struct config *c)
{
    return config_int(c, OPT_COMPUTE) == COMPUTE_calibrate;
}
/* Returns whether the point has accuracy runs if measure.accuracy.seeds is given. Strategy none on
 * several ranks has no accuracy runs, since its replicas train separately. */
static inline bool config_wants_accuracy(const struct config *c)
{
    return config_int(c, OPT_ACCURACY_RUN) && !config_is_foreign(c) && !config_calibrates(c) &&
           !config_is_simulated(c) &&
           (config_int(c, OPT_STRATEGY) != STRATEGY_none || config_int(c, OPT_RANKS) == 1);
}
static inline bool config_writes_checkpoints(const struct config *c)
{
    return config_number(c, OPT_CHECKPOINT_EPOCHS) > 0 ||
           config_number(c, OPT_CHECKPOINT_STEPS) > 0;
}

/* Returns whether checkpoint.path is not at its default. By default, each accuracy run of a
 * campaign has its own checkpoint file. */
bool config_names_checkpoint(const struct config *config);

/* ---- Elastic accuracy runs ---- */

/* Part of an accuracy run: consecutive epochs on the same number of ranks. */
struct segment {
    uint32_t epoch, until; /* first epoch, counted from 0, and the epoch after the last one */
    int ranks;
};

/* Returns whether accuracy runs have segments or restart after the death of a rank. */
bool config_is_elastic(const struct config *config);
/* Returns the number of segments; 1 without option `elastic`. */
size_t config_segments(const struct config *config);
struct segment config_segment(const struct config *config, size_t i);

/* Copies a config and sets its number of ranks. Sets `nodes` to the smallest number at which no
 * node has more ranks than the fullest node of `from`. Texts and lists are shared with `from`,
 * which must outlive `to`. */
void config_on_ranks(struct config *to, const struct config *from, int ranks);

/* Returns whether batch and strategy are valid on `ranks` ranks; otherwise `why` explains. */
bool config_runs_on(const struct config *config, int ranks, struct error *why);

/* Checks the options of elastic runs against other options. ERR_ARGUMENT if they conflict; *at is
 * the option to change. */
enum status config_check_elastic(const struct config *config, enum option_id *at, struct error *e);

#define SHA256_TEXT_BYTES 65

/* File that a spec names: a network, published numbers or coefficients of a link. A network given
 * by name alone is read from configs/models. Other files are searched for in the folders of struct
 * seen_from. Networks are then searched for in configs and configs/models, published numbers in
 * results/published and results. Files with equal contents are one input. */
struct spec_input {
    enum option_id option;
    /* file name without folder and extension, made unique per option; becomes the option value's
     * text */
    char *name;
    char *path; /* path from which the file was read */
    char *copy; /* path of the copy in a run's folder: "models/lenet_21k.yaml" */
    /* SHA-256 of the network (model_sha256), or of the file's bytes if it is not a network */
    char digest[SHA256_TEXT_BYTES];
    struct net_desc net; /* network that the file describes; empty for other files */
};

/* Point of a campaign. `label`: case name, if any, and the options that vary ("ranks=2 allreduce").
 * `id`: first 12 hexadecimal digits of a SHA-256 hash. The hash covers the contents of the network
 * and all options not at their defaults, except derived options (option_is_derived). Points of
 * different cases with the same id share their launches. */
struct point {
    struct config config; /* values of all options; borrowed from the spec */
    /* case of the point, or the spec's matrix if there are no cases; borrowed */
    const struct matrix *of;
    const char *case_name; /* label of the case, borrowed; "": no case, or point of several cases */
    size_t twin;           /* index of the first point with the same id */
    /* network of the point, borrowed from the spec; NULL without a model */
    const struct spec_input *net;
    char id[16];
    char label[128];
    bool base; /* whether this is the baseline of at least one point, perhaps of itself */
    /* index of the baseline point, which the speed-up is relative to */
    size_t base_index;
    /* index of the first point with strategy none that differs from this point only in sync.*; this
     * point's own index if its strategy is none, or if there is no such point */
    size_t silent_index;
    /* index of the calibration point whose timings this point replays; this point's own index if it
     * computes, or replays times computed from compute.rate */
    size_t calibration_index;
    /* [workload] index of the first point that runs the peer program `workload` and has this
     * point's values of all options except workload, kernels.* and peer.*. This point's own index
     * if there is no such point, or if this point itself runs a peer program */
    size_t peers[WORKLOADS];
    bool requested; /* whether part of the matrix; false: added, for example as a baseline point */
};

struct alike;
struct written_value;
struct node;

/* A spec and its points. A point's baseline point has the same options, except for values in
 * `baseline:` of its case or spec. If `baseline:` gives only some of ranks, nodes and
 * ranks_per_node, the others are computed from them. Without `baseline:`, the baseline point is the
 * first point with the fewest ranks that solves the same problem (option_is_problem). Among points
 * with equally few ranks, a point of the same case is preferred. With measure.replay, each point
 * with several ranks needs a point with strategy none. Baseline points and points with strategy
 * none are added if the matrix lacks them. */
struct spec {
    char *path;   /* path of the spec file */
    char **bases; /* paths of the files that the spec extends */
    size_t n_bases;
    struct own_options *own;
    struct config config;  /* values of options that are not in the matrix */
    struct config presets; /* every option at its default */
    struct matrix *matrix; /* matrix, cases, ... of the spec after `quick`, --set and `auto` */
    /* [n_points] in this order: added baseline points, points of the matrix, added points without
     * communication, calibration points */
    struct point *points;
    size_t n_points;
    enum option_id *varying; /* [n_varying] options that differ between requested points */
    size_t n_varying;
    struct spec_input *inputs;
    size_t n_inputs;
    struct alike *identities; /* points by id, for spec_find_point */
    /* [n_written] values set in the spec; each entry records whether some point reads the value */
    struct written_value *written;
    size_t n_written;
    bool is_recorded;     /* whether spec_write wrote the file */
    struct node *folders; /* folders that a recorded spec lists for relative paths; NULL: no list */
};

/* Returns the input file that a value of `option` names; `name` is the value's text. NULL if the
 * value names no file. */
const struct spec_input *spec_input_find(const struct spec *spec, enum option_id option,
                                         const char *name);
/* Turns an error in an input file into an error at the option that names the file: "link: expected
 * a link.csv, found a.csv: line 1: ...". Returns ERR_SPEC. */
enum status spec_input_refuse(const struct spec *spec, enum option_id option, const char *expected,
                              struct error *e);

/* Properties of the machine that affect values of a spec, such as `ranks: auto`. */
struct spec_machine {
    int usable_cores; /* usable cores per node */
    int nodes;        /* nodes of the batch job; 0: not in a batch job */
    bool batch;       /* jobs can be submitted, and this process is not in a batch job */
};

/* Loads and checks a spec. `path` is tried as given, then in configs/ and
 * $SCALEBENCH_HOME/configs/. `set` (or NULL) has lines of words such as "train.epochs=1
 * matrix.ranks=[1,2]"; later lines override earlier lines.
 *
 * In `set`, `key` replaces the file's value or axis, `matrix.key` replaces or adds an axis, and
 * `baseline` replaces the baseline. Cases that give the key themselves are unaffected;
 * `cases.LABEL.key` applies to one case.
 *
 * ERR_SPEC with file:line:column. Call spec_free even after an error. */
enum status spec_load(struct spec *spec, const char *path, const char *set,
                      const struct spec_machine *machine, struct error *e);
void spec_free(struct spec *spec);
/* Returns whether a text names a spec: a text that ends in .yaml, the path of a readable file, or
 * the name of a readable file in configs/. */
bool spec_is_meant(const char *name);

/* Returns a key in --set that affects more than figures; NULL if there is none. */
const char *spec_set_beyond_figures(const struct spec *spec);

/* Returns whether values of an option come from the machine (auto on an axis), from --set or from
 * option `quick`. */
bool spec_option_is_open(const struct spec *spec, enum option_id id);
/* Returns whether the file alone determines the values of an option, independent of machine, site
 * and --set. */
bool spec_option_is_settled(const struct spec *spec, enum option_id id);

/* Returns the accuracy (%) of random guessing: 100 / *classes. Sets *classes to the largest number
 * of classes of any point's network; 1 without networks. */
double spec_chance(const struct spec *spec, int *classes);

/* Returns the index of the point with this id; n_points if there is none. */
size_t spec_find_point(const struct spec *spec, const char *id);

/* Writes the spec as a run's spec.yaml, one key per line, including options that have their default
 * value. spec_load makes the same points from this file if the copies of the spec's input files are
 * in the run's folder. */
enum status spec_write(FILE *out, const struct spec *spec, struct error *e);

/* Returns whether spec_write wrote the file. */
bool spec_is_recorded(const char *path);
/* Key in a recorded spec that lists folders in which relative paths are looked up (struct
 * seen_from). */
extern const char spec_folders_key[];

enum { SEEN_FROM_MAX = 8 };

/* Folders in which a value's relative path is looked up. Order for a value that a file sets: folder
 * of the file, folders that a recorded spec lists, current folder. Order for a value of --set:
 * current folder, folder of the spec, folders that a recorded spec lists. NULL ends `folders`. Each
 * folder is "" (the current folder) or ends in '/'. */
struct seen_from {
    /* folder of the file that sets the value, or of the spec for --set; freed by seen_from_close */
    char *beside;
    const char *folders[SEEN_FROM_MAX + 1];
};
enum status seen_from_open(struct seen_from *from, const struct spec *spec, struct mark mark,
                           struct error *e);
void seen_from_close(struct seen_from *from);

/* Returns the spec's title; NULL if it has none. */
const char *spec_title(const struct spec *spec);
/* Returns the title that --set gives, for figures; "" if it gives none. */
const char *spec_title_of_set(const struct spec *spec);

/* Returns the program of the first point if all points run workload.command; else NULL. */
const char *spec_foreign(const struct spec *spec);

/* Makes the workload's command line for a point: "--key=value" texts in a NULL-terminated array.
 * One allocation; free with free(). */
enum status point_arguments(char ***arguments, const struct point *point, struct error *e);

/* Reads arguments "--key=value" and "--key value" of options with scope WORKLOAD or UNTIMED into
 * `config`. If an option is repeated, its last value counts. Leaves other arguments, and all
 * arguments from "--" on, in argv[1..*argc). ERR_ARGUMENT if a value is missing. */
enum status config_parse_arguments(struct config *config, int *argc, char **argv, struct error *e);

/* Reads a model. `name` is a path if it contains '/', or if it ends in .yaml and exists. Otherwise
 * it is the name of a file in configs/models, with or without its ending .yaml. The file is
 * searched for below the current folder, then below $SCALEBENCH_HOME. Checks the parameter count if
 * the file states one. Errors: ERR_SPEC or ERR_SHAPE, with file:line:column for mistakes in the
 * file. */
enum status model_load(struct net_desc *net, const char *name, struct error *e);

/* Writes a network as one line of JSON without a line end. Includes mean and std per channel,
 * layers and tensors. */
enum status model_write_json(FILE *out, const struct net_desc *net, struct error *e);

/* Computes the SHA-256 of model_write_json's JSON (hexadecimal): equal for equal networks. */
enum status model_sha256(const struct net_desc *net, char hex[SHA256_TEXT_BYTES], struct error *e);
