# scalebench: strong and weak scaling of CNN training, from one YAML file to a figure.
#   make deps bench CONFIG=strong_scaling.yaml      make deps test      make help

# --- Variables of the command line and the environment --------------------------------------------
CONFIG   ?= strong_scaling.yaml
SET      ?=
OUT      ?= $(or $(SCALEBENCH_OUT),results)
FRESH    ?=
BUILD    ?= build
WERROR   ?= $(if $(CI),1)
SANITIZE ?=
V        ?=
CC       := $(if $(filter default,$(origin CC)),gcc,$(CC))
OPT      ?= -O3 -g1
MPICC    ?= $(firstword $(shell command -v mpicc.mpich mpicc 2>/dev/null) mpicc.mpich)
MPIEXEC  ?= $(firstword $(shell command -v mpiexec.mpich mpiexec 2>/dev/null) mpiexec.mpich)
PKGCONF  ?= pkg-config
NPROC    := $(shell nproc 2>/dev/null || echo 2)

# Recipes get these values from the environment, so that quotes in them survive the shell.
export CONFIG SET OUT TEST

# Rejects `make bench SET=train.epochs=1 matrix.ranks=[1]`: without quotes the shell passes two variables, and make
# would ignore the second silently. No variable here has a dot or a small letter, and no target has a bracket.
small   := a b c d e f g h i j k l m n o p q r s t u v w x y z
is_lost  = $(strip $(foreach c,. $(small),$(findstring $(c),$(firstword $(subst =, ,$(1))))))
empty   :=
lost    := $(foreach v,$(subst \$(empty) ,\_,$(MAKEOVERRIDES)),$(if $(call is_lost,$(v)),$(subst \_, ,$(v))))
lost    += $(foreach c,[ ] { },$(foreach g,$(MAKECMDGOALS),$(if $(findstring $(c),$(g)),$(g))))
ifneq ($(strip $(lost)),)
$(error quotes are missing: make $(firstword $(MAKECMDGOALS)) SET="$(strip $(SET) $(lost))")
endif

# --- Flags --------------------------------------------------------------------------------------------
# `make help` prints the targets of these parts in this order.
PARTS := ci/make/libraries.mk ci/make/campaigns.mk ci/make/tests.mk ci/make/house.mk
include ci/make/libraries.mk

# -ffp-contract=off: additions and multiplications are fused only where the source says so. No -march: binaries run on
# every node of the architecture and choose instruction sets at run time. No code reads errno or exception flags after
# arithmetic, and loops with square roots or selections vectorise only if the compiler may assume that.
# -Wno-unused-parameter: all hooks of a table have the same parameters, and some need fewer.
WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter $(if $(WERROR),-Werror)
CPPFLAGS += -I. -D_GNU_SOURCE
CFLAGS   += -std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math $(OPT) $(WARN) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -DSCALEBENCH_SANITIZE)
LDFLAGS  += $(if $(SANITIZE),-fsanitize=$(SANITIZE))
LDLIBS   += -lpthread -ldl -lm

# Prints a command as `CC build/obj/comm/wait/wait.o`, in full with V=1, and not at all with -s.
silent = $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
says   = $(if $(V),,@$(if $(silent),,printf '%-4s %s\n' $(1) $@;))

# --- Sources ------------------------------------------------------------------------------------------
sources       = $(foreach room,$(1),$(wildcard $(room)/*.c))
DESC_SRC      := $(call sources,kernels/base bench/base kernels/desc comm/cost comm/cost/strategies comm/cost/compressors)
KERNELS_SRC   := $(call sources,kernels kernels/layers kernels/ops kernels/net) kernels/optimizers/optimizer.c
SIMD_SRC      := $(filter-out kernels/optimizers/optimizer.c,$(call sources,kernels/simd kernels/simd/small_conv kernels/simd/winograd kernels/optimizers))
COMM_SRC      := $(call sources,comm comm/wait comm/compressors comm/strategies)
SPEC_SRC      := $(call sources,bench/spec $(addprefix bench/spec/,conditions figures inputs nodes points rules values yaml))
PLACE_SRC     := $(filter-out bench/place/pin.c,$(call sources,bench/place))
RESOURCES_SRC := $(call sources,bench/resources)
SITES_SRC     := $(call sources,bench/sites)
RECORD_SRC    := $(call sources,bench/record bench/replay)
DOCTOR_SRC    := $(call sources,bench/doctor)
COLLECT_SRC   := $(call sources,bench/collect $(addprefix bench/collect/,csv launch points table))
FIGURES_SRC   := $(call sources,bench/figures)
RUNNER_SRC    := $(call sources,bench/launch bench/order bench/runner bench/batch bench/claims bench/runner/commands bench/runner/commands/help bench/compare bench/forecast bench/page)
DATA_SRC      := $(call sources,bench/workloads/data)
TRAIN_SRC     := $(call sources,bench/workloads bench/workloads/checkpoint bench/workloads/read bench/workloads/train_cnn bench/workloads/train_cnn/parts)
PEERS_SRC     := $(call sources,bench/workloads/peers)
SWEEP_SRC     := $(call sources,bench/workloads/sweeps/kernel bench/workloads/sweeps)
DOCTOR_RANKS_SRC := $(call sources,bench/workloads/doctor) bench/workloads/failure.c bench/workloads/libraries.c
COMM_SWEEP_SRC := $(call sources,bench/workloads/sweeps/comm bench/workloads/sweeps) bench/workloads/failure.c
ONEDNN_SRC    := $(filter-out %/main.c %/without.c,$(call sources,bench/workloads/peers/onednn))
TORCH_SRC     := $(wildcard bench/workloads/peers/torch_peer/*.py)

# train_cnn_f64 serves tests of exactness; only tests build it.
PROGRAMS := $(BUILD)/scalebench $(BUILD)/train_cnn $(BUILD)/pin $(BUILD)/peer_inputs $(BUILD)/peer_torch $(BUILD)/peer_onednn \
            $(BUILD)/kernel_sweep $(BUILD)/comm_sweep $(BUILD)/hello_ranks $(BUILD)/doctor_ranks

obj     = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
obj_f64 = $(patsubst %.c,$(BUILD)/obj-f64/%.o,$(1))

# Sources that are compiled once for each instruction set; the program chooses one at run time. Only kernels/simd
# contracts into fused multiply-add.
ISAS          := portable $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),avx2 avx512)
CFLAGS_avx2   := -mavx2 -mfma -mf16c
CFLAGS_avx512 := $(CFLAGS_avx2) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
# Sources of products with 16-bit operands are compiled for AVX512-BF16 too; those that multiply, also for AMX.
ISA_BF16      := $(if $(filter avx512,$(ISAS)),avx512_bf16)
ISA_TILES     := $(if $(ISA_BF16),amx_bf16)
TILES_SRC     := $(addprefix kernels/simd/,peak.c winograd/winograd_product.c)
BF16_SRC      := $(TILES_SRC) $(addprefix kernels/simd/,dense.c first_conv.c norm.c winograd/direct_tiles.c winograd/winograd_tiles.c winograd/winograd_weights.c)
CFLAGS_avx512_bf16 := $(CFLAGS_avx512) -mavx512bf16
CFLAGS_amx_bf16    := $(CFLAGS_avx512_bf16) -mamx-tile -mamx-bf16
# A model of AMX tiles, for tests on processors without AMX.
ISA_MODEL     := $(if $(ISA_TILES),amx_model)
CFLAGS_amx_model := $(CFLAGS_avx512_bf16) -DMODEL_OF_TILES='"kernels/tests/tiles_model.h"'
# set_obj ISAS, SOURCES
set_obj  = $(foreach isa,$(1),$(patsubst %.c,%.$(isa).o,$(2)))
simd_obj = $(call set_obj,$(ISAS),$(1)) $(call set_obj,$(ISA_BF16),$(filter $(BF16_SRC),$(1))) $(call set_obj,$(ISA_TILES),$(filter $(TILES_SRC),$(1)))

LIBDESC    := $(BUILD)/libdesc.a
LIBSPEC    := $(BUILD)/libspec.a
LIBPLACE   := $(BUILD)/libplace.a
LIBRESOURCES := $(BUILD)/libresources.a
LIBSITES   := $(BUILD)/libsites.a
LIBRECORD  := $(BUILD)/librecord.a
LIBDOCTOR  := $(BUILD)/libdoctor.a
LIBCOLLECT := $(BUILD)/libcollect.a
LIBFIGURES := $(BUILD)/libfigures.a
LIBRUNNER  := $(BUILD)/librunner.a
LIBDATA    := $(BUILD)/libdata.a

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all

all: $(PROGRAMS)

# --- Libraries and programs -----------------------------------------------------------------------------
$(LIBDESC):    $(call obj,$(DESC_SRC))
$(LIBSPEC):    $(call obj,$(SPEC_SRC))
$(LIBPLACE):   $(call obj,$(PLACE_SRC))
$(LIBRESOURCES): $(call obj,$(RESOURCES_SRC))
$(LIBSITES):   $(call obj,$(SITES_SRC))
$(LIBRECORD):  $(call obj,$(RECORD_SRC))
$(LIBDOCTOR):  $(call obj,$(DOCTOR_SRC))
$(LIBCOLLECT): $(call obj,$(COLLECT_SRC))
$(LIBFIGURES): $(call obj,$(FIGURES_SRC))
$(LIBRUNNER):  $(call obj,$(filter-out bench/runner/commands/main.c,$(RUNNER_SRC)))
$(LIBDATA):    $(call obj,$(DATA_SRC))
$(BUILD)/libtrain.a:       $(call obj,$(filter-out %/main.c,$(TRAIN_SRC)))
$(BUILD)/libtrain_f64.a:   $(call obj_f64,$(filter-out %/main.c,$(TRAIN_SRC)))
$(BUILD)/libkernel_sweep.a: $(call obj,$(filter-out %/main.c,$(SWEEP_SRC)))
$(BUILD)/libcomm_sweep.a:   $(call obj,$(filter-out %/main.c,$(COMM_SWEEP_SRC)))
$(BUILD)/libkernels.a:     $(call obj,$(KERNELS_SRC)) $(addprefix $(BUILD)/obj/,$(call simd_obj,$(SIMD_SRC)))
$(BUILD)/libkernels_f64.a: $(call obj_f64,$(KERNELS_SRC)) $(addprefix $(BUILD)/obj-f64/,$(call set_obj,$(ISAS),$(SIMD_SRC)))
$(BUILD)/libcomm.a:        $(call obj,$(COMM_SRC))
$(BUILD)/libcomm_f64.a:    $(call obj_f64,$(COMM_SRC))

%.a:
	@rm -f $@
	$(call says,AR)$(AR) qcs $@ $^

# Link order: own libraries from dependent to base, then those of others.
RUNNER_LINK  = $(LIBRUNNER) $(LIBDOCTOR) $(LIBFIGURES) $(LIBCOLLECT) $(LIBRESOURCES) $(LIBSITES) $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
RUNNER_LIBS  = $(HWLOC_LIBS) $(YAML_LIBS) $(PCRE2_LIBS) $(JANSSON_LIBS) $(MD_LIBS) $(LDLIBS)
TRAIN_LINK     = $(BUILD)/libtrain.a $(LIBDATA) $(BUILD)/libcomm.a $(BUILD)/libkernels.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
TRAIN_LINK_F64 = $(BUILD)/libtrain_f64.a $(LIBDATA) $(BUILD)/libcomm_f64.a $(BUILD)/libkernels_f64.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
SWEEP_LINK     = $(BUILD)/libkernel_sweep.a $(BUILD)/libkernels.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
WORKLOAD_LIBS = $(MPI_LIBS) $(BLIS_LIBS) $(RUNNER_LIBS) $(ZLIB_LIBS)

$(BUILD)/scalebench: $(call obj,bench/runner/commands/main.c) $(RUNNER_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(RUNNER_LIBS)

$(BUILD)/pin: $(call obj,bench/place/pin.c) $(LIBRESOURCES) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HWLOC_LIBS) $(LDLIBS)

$(BUILD)/train_cnn: $(call obj,bench/workloads/train_cnn/main.c) $(TRAIN_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(WORKLOAD_LIBS)

$(BUILD)/train_cnn_f64: $(call obj_f64,bench/workloads/train_cnn/main.c) $(TRAIN_LINK_F64)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(WORKLOAD_LIBS)

$(BUILD)/peer_inputs: $(call obj,$(PEERS_SRC)) $(TRAIN_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(WORKLOAD_LIBS)

# Its objects are linked in place of those of the libraries that define the same functions: net.o, tune.o, weights16.o.
$(BUILD)/peer_onednn: $(call obj,bench/workloads/peers/check.c bench/workloads/peers/onednn/main.c $(if $(ONEDNN_LIBS),$(ONEDNN_SRC),bench/workloads/peers/onednn/without.c)) $(TRAIN_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) $(if $(ONEDNN_LIBS),-fopenmp) -o $@ $^ $(WORKLOAD_LIBS) $(ONEDNN_LIBS)

$(BUILD)/kernel_sweep: $(call obj,bench/workloads/sweeps/kernel/main.c) $(SWEEP_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(BLIS_LIBS) $(RUNNER_LIBS)

$(BUILD)/comm_sweep: $(call obj,bench/workloads/sweeps/comm/main.c) $(BUILD)/libcomm_sweep.a $(BUILD)/libcomm.a $(BUILD)/libkernels.a $(LIBRECORD) $(LIBSPEC) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(MPI_LIBS) $(BLIS_LIBS) $(RUNNER_LIBS)

$(BUILD)/hello_ranks: $(call obj,bench/workloads/hello/main.c) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(MPI_LIBS) $(LDLIBS)

$(BUILD)/doctor_ranks: $(call obj,$(DOCTOR_RANKS_SRC)) $(BUILD)/libcomm.a $(BUILD)/libkernels.a $(LIBDOCTOR) $(LIBRESOURCES) $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(MPI_LIBS) $(BLIS_LIBS) $(RUNNER_LIBS)

# peer_torch looks for its modules in torch_peer/ beside it.
$(BUILD)/peer_torch: bench/workloads/peers/peer_torch.py $(TORCH_SRC)
	@mkdir -p $(BUILD)/torch_peer
	@install -m 644 $(TORCH_SRC) $(BUILD)/torch_peer
	$(call says,COPY)install -m 755 $< $@

# --- Objects ----------------------------------------------------------------------------------------------
# Gives each folder only the headers of libraries that it may use; ci/check_layers.sh checks the other layers.
obj_cflags = \
  $(if $(filter kernels/gemm.c,$(1)),$(BLIS_CFLAGS)) \
  $(if $(filter comm/% bench/workloads/%,$(1)),$(MPI_CFLAGS) $(XXHASH_CFLAGS)) \
  $(if $(filter bench/workloads/peers/onednn/%,$(1)),$(ONEDNN_CFLAGS) -fopenmp) \
  $(if $(filter bench/place/%,$(1)),$(HWLOC_CFLAGS)) \
  $(if $(filter bench/spec/%,$(1)),$(YAML_CFLAGS) $(PCRE2_CFLAGS)) \
  $(if $(filter bench/%,$(1)),$(JANSSON_CFLAGS) $(ZLIB_CFLAGS) $(MD_CFLAGS)) \
  $(if $(findstring /tests/,$(1)),$(CMOCKA_CFLAGS))

# The harness is not timed, so -O2 suffices; tests use -O0. Tests of kernels compute references and use -O1.
level_of = $(if $(findstring /tests/,$(1)),$(if $(filter kernels/%,$(1)),-O1,-O0),$(if $(filter bench/%,$(filter-out bench/workloads/%,$(1))),-O2))
level = $(if $(filter -O3,$(OPT)),$(call level_of,$(1)))

# Stamps that rebuild everything if flags, compiler or libraries change.
FLAGS_STAMP := $(BUILD)/flags $(BUILD)/linked
FLAGS_NOW   := $(strip $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $(MPI_CFLAGS) $(MPI_LIBS))
LIBS_NOW    := $(foreach l,BLIS YAML HWLOC PCRE2 JANSSON ZLIB MD XXHASH,$($(l)_CFLAGS) $($(l)_LIBS))
stamp = mkdir -p $(@D); printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
$(BUILD)/flags: FORCE
	$(if $(knows_mpi),,$(error $(no_mpi)))
	@$(call stamp,$(FLAGS_NOW))
$(BUILD)/linked: FORCE
	@$(call stamp,$(LIBS_NOW))
.PHONY: FORCE

$(BUILD)/obj/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call says,CC)$(CC) $(CPPFLAGS) $(call obj_cflags,$<) $(CFLAGS) $(call level,$<) -MMD -MP -c -o $@ $<

$(BUILD)/obj-f64/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call says,CC)$(CC) $(CPPFLAGS) -DSCALEBENCH_F64 $(call obj_cflags,$<) $(CFLAGS) $(call level,$<) -MMD -MP -c -o $@ $<

define simd_rules
$(BUILD)/obj/$(1)/%.$(2).o: $(1)/%.c $(FLAGS_STAMP)
	@mkdir -p $$(@D)
	$$(call says,CC)$$(CC) $$(CPPFLAGS) -DSIMD_SUFFIX=$(2) $$(CFLAGS) -ffp-contract=$(3) $$(CFLAGS_$(2)) -MMD -MP -c -o $$@ $$<

$(BUILD)/obj-f64/$(1)/%.$(2).o: $(1)/%.c $(FLAGS_STAMP)
	@mkdir -p $$(@D)
	$$(call says,CC)$$(CC) $$(CPPFLAGS) -DSCALEBENCH_F64 -DSIMD_SUFFIX=$(2) $$(CFLAGS) -ffp-contract=$(3) $$(CFLAGS_$(2)) -MMD -MP -c -o $$@ $$<

endef
$(foreach isa,$(ISAS) $(ISA_BF16) $(ISA_TILES) $(ISA_MODEL),$(eval $(call simd_rules,kernels/simd,$(isa),fast)$(call simd_rules,kernels/optimizers,$(isa),off)))

# --- Everything else ------------------------------------------------------------------------------------
include $(filter-out ci/make/libraries.mk,$(PARTS))
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
