# scalebench: strong and weak scaling of CNN training, from one YAML file to a figure.
#   make deps bench CONFIG=strong_scaling.yaml      make deps test      make help

# --- What may be set on the command line or in the environment ------------------------------------
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

# What somebody typed, quotes and all, reaches recipes as environment, not as text of a shell's line.
export CONFIG SET OUT TEST

# `make bench SET=train.epochs=1 matrix.ranks=[1]`: without the quotes the shell hands make two variables,
# and what the second one says would be measured otherwise without a word. No variable of ours has a dot or
# a small letter, and no target a bracket.
small   := a b c d e f g h i j k l m n o p q r s t u v w x y z
is_lost  = $(strip $(foreach c,. $(small),$(findstring $(c),$(firstword $(subst =, ,$(1))))))
empty   :=
lost    := $(foreach v,$(subst \$(empty) ,\_,$(MAKEOVERRIDES)),$(if $(call is_lost,$(v)),$(subst \_, ,$(v))))
lost    += $(foreach c,[ ] { },$(foreach g,$(MAKECMDGOALS),$(if $(findstring $(c),$(g)),$(g))))
ifneq ($(strip $(lost)),)
$(error quotes are missing: make $(firstword $(MAKECMDGOALS)) SET="$(strip $(SET) $(lost))")
endif

# --- Compilers and libraries ------------------------------------------------------------------------
# Each library comes from <NAME>_DIR (include/ and lib/ below it) or from pkg-config.
lib_cflags = $(if $($(1)_DIR),-isystem $($(1)_DIR)/include,$(shell $(PKGCONF) --cflags $(2) 2>/dev/null))
comma := ,
lib_ldlibs = $(if $($(1)_DIR),-L$($(1)_DIR)/lib -Wl$(comma)-rpath$(comma)$($(1)_DIR)/lib $(3),$(or $(shell $(PKGCONF) --libs $(2) 2>/dev/null),$(3)))

# Asked of pkg-config once, when first wanted.
once = $(eval $(1) := $(2))$($(1))
YAML_CFLAGS    = $(call once,YAML_CFLAGS,$(call lib_cflags,YAML,yaml-0.1))
YAML_LIBS      = $(call once,YAML_LIBS,$(call lib_ldlibs,YAML,yaml-0.1,-lyaml))
HWLOC_CFLAGS   = $(call once,HWLOC_CFLAGS,$(call lib_cflags,HWLOC,hwloc))
HWLOC_LIBS     = $(call once,HWLOC_LIBS,$(call lib_ldlibs,HWLOC,hwloc,-lhwloc))
BLIS_CFLAGS    = $(call once,BLIS_CFLAGS,$(call lib_cflags,BLIS,blis) $(if $(BLIS_DIR),-isystem $(BLIS_DIR)/include/blis))
BLIS_LIBS      = $(call once,BLIS_LIBS,$(call lib_ldlibs,BLIS,blis,-lblis))
JANSSON_CFLAGS = $(call once,JANSSON_CFLAGS,$(call lib_cflags,JANSSON,jansson))
JANSSON_LIBS   = $(call once,JANSSON_LIBS,$(call lib_ldlibs,JANSSON,jansson,-ljansson))
ZLIB_CFLAGS    = $(call once,ZLIB_CFLAGS,$(call lib_cflags,ZLIB,zlib))
ZLIB_LIBS      = $(call once,ZLIB_LIBS,$(call lib_ldlibs,ZLIB,zlib,-lz))
MD_CFLAGS      = $(call once,MD_CFLAGS,$(call lib_cflags,MD,libmd))
MD_LIBS        = $(call once,MD_LIBS,$(call lib_ldlibs,MD,libmd,-lmd))
PCRE2_CFLAGS   = $(call once,PCRE2_CFLAGS,$(call lib_cflags,PCRE2,libpcre2-8))
PCRE2_LIBS     = $(call once,PCRE2_LIBS,$(call lib_ldlibs,PCRE2,libpcre2-8,-lpcre2-8))
XXHASH_CFLAGS  = $(call once,XXHASH_CFLAGS,$(call lib_cflags,XXHASH,libxxhash))
CMOCKA_CFLAGS  = $(call once,CMOCKA_CFLAGS,$(call lib_cflags,CMOCKA,cmocka))
CMOCKA_LIBS    = $(call once,CMOCKA_LIBS,$(call lib_ldlibs,CMOCKA,cmocka,-lcmocka))

# What the compiler of MPI programs adds to a plain one's command line, which MPICH, MVAPICH, Intel MPI and Open
# MPI say alike. A compiler that adds it by itself, as Cray's: make CC=cc MPI_CFLAGS= MPI_LIBS=
MPI_SHOWN  := $(shell $(MPICC) -show 2>/dev/null)
MPI_CFLAGS  = $(filter -I% -D%,$(MPI_SHOWN))
MPI_LIBS    = $(filter -L% -l% -Wl$(comma)-rpath%,$(MPI_SHOWN))
knows_mpi   = $(filter command environment,$(origin MPI_LIBS))$(strip $(MPI_LIBS))
no_mpi      = MPICC='$(MPICC)' does not say by -show how MPI programs are linked: the mpicc of MPICH, MVAPICH, Intel MPI \
  or Open MPI is wanted (make deps installs MPICH), or a compiler that needs no telling: make CC=cc MPI_CFLAGS= MPI_LIBS=

# ISO C17 keeps -ffp-contract=off: what is fused is fused on purpose. Binaries run on any node of their
# architecture: no -march here, instruction sets are chosen at run time. Nobody reads errno or exception
# flags after arithmetic; loops with square roots or selections vectorise only when that is said.
# Hooks of a table take what any of them needs: that one needs less is no mistake.
WARN     = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wno-unused-parameter $(if $(WERROR),-Werror)
CPPFLAGS += -I. -D_GNU_SOURCE
CFLAGS   += -std=c17 -ffp-contract=off -fno-math-errno -fno-trapping-math $(OPT) $(WARN) $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-omit-frame-pointer -DSCALEBENCH_SANITIZE)
LDFLAGS  += $(if $(SANITIZE),-fsanitize=$(SANITIZE))
LDLIBS   += -lpthread -ldl -lm

# A command is shown as what it makes, `CC build/obj/comm/wait/wait.o`: in full with V=1, not at all with -s.
silent = $(findstring s,$(filter-out --%,$(firstword -$(MAKEFLAGS))))
says   = $(if $(V),,@$(if $(silent),,printf '%-4s %s\n' $(1) $@;))

# --- Sources ------------------------------------------------------------------------------------------
sources       = $(foreach room,$(1),$(wildcard $(room)/*.c))
DESC_SRC      := $(call sources,kernels/base bench/base kernels/desc comm/cost comm/cost/strategies comm/cost/compressors)
KERNELS_SRC   := $(call sources,kernels kernels/layers kernels/ops kernels/net) kernels/optimizers/optimizer.c
SIMD_SRC      := $(filter-out kernels/optimizers/optimizer.c,$(call sources,kernels/simd kernels/simd/product kernels/optimizers))
COMM_SRC      := $(call sources,comm comm/wait comm/compressors comm/strategies)
SPEC_SRC      := $(call sources,bench/spec bench/spec/figures bench/spec/nodes bench/spec/points bench/spec/values bench/spec/yaml)
PLACE_SRC     := $(filter-out bench/place/pin.c,$(call sources,bench/place))
RESOURCES_SRC := $(call sources,bench/resources)
SITES_SRC     := $(call sources,bench/sites)
RECORD_SRC    := $(call sources,bench/record)
DOCTOR_SRC    := $(call sources,bench/doctor)
COLLECT_SRC   := $(call sources,bench/collect bench/collect/csv bench/collect/table)
FIGURES_SRC   := $(call sources,bench/figures)
RUNNER_SRC    := $(call sources,bench/runner bench/batch bench/claims bench/runner/commands bench/compare bench/forecast bench/page)
DATA_SRC      := $(call sources,bench/workloads/data)
TRAIN_SRC     := $(call sources,bench/workloads bench/workloads/checkpoint bench/workloads/read bench/workloads/train_cnn)
PEERS_SRC     := $(call sources,bench/workloads/peers)
SWEEP_SRC     := $(call sources,bench/workloads/sweeps/kernel bench/workloads/sweeps)
DOCTOR_RANKS_SRC := $(call sources,bench/workloads/doctor) bench/workloads/failure.c bench/workloads/libraries.c
COMM_SWEEP_SRC := $(call sources,bench/workloads/sweeps/comm bench/workloads/sweeps) bench/workloads/failure.c
TORCH_SRC     := $(wildcard bench/workloads/peers/torch_peer/*.py)

# Double precision is for proofs: tests build train_cnn_f64, and whoever asks for it.
PROGRAMS := $(BUILD)/scalebench $(BUILD)/train_cnn $(BUILD)/pin $(BUILD)/peer_inputs $(BUILD)/peer_torch \
            $(BUILD)/kernel_sweep $(BUILD)/comm_sweep $(BUILD)/hello_ranks $(BUILD)/doctor_ranks

obj     = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
obj_f64 = $(patsubst %.c,$(BUILD)/obj-f64/%.o,$(1))

# These are compiled once for each instruction set; the processor decides which one runs. Contraction
# into fused multiply-add is on in kernels/simd alone.
ISAS          := portable $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),avx2 avx512)
CFLAGS_avx2   := -mavx2 -mfma -mf16c
CFLAGS_avx512 := $(CFLAGS_avx2) -mavx512f -mavx512dq -mavx512bw -mavx512vl -mprefer-vector-width=512
# What takes part in products whose operands have 16 bits, for one set more; what multiplies them, for another.
ISA_BF16      := $(if $(filter avx512,$(ISAS)),avx512_bf16)
ISA_TILES     := $(if $(ISA_BF16),amx_bf16)
TILES_SRC     := $(addprefix kernels/simd/,peak.c product/winograd_product.c)
BF16_SRC      := $(TILES_SRC) $(addprefix kernels/simd/,dense.c first_conv.c norm.c winograd_tiles.c winograd_weights.c)
CFLAGS_avx512_bf16 := $(CFLAGS_avx512) -mavx512bf16
CFLAGS_amx_bf16    := $(CFLAGS_avx512_bf16) -mamx-tile -mamx-bf16
# Tiles are modelled in a test, on a processor that has none.
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
.PHONY: all deps deps-ci deps-extra bench bench-overhead bench-order bench-compare bench-verdicts bench-noise bench-replay bench-doctor references claims bench-kernels bench-comm data figures report artifact test test-rest test-all asan ubsan tsan fuzz fuzzers check-arm64 format lint schema info help clean

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

# What a program links: libraries of ours in the order of the arrows, then those of others.
RUNNER_LINK  = $(LIBRUNNER) $(LIBDOCTOR) $(LIBFIGURES) $(LIBCOLLECT) $(LIBRESOURCES) $(LIBSITES) $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
RUNNER_LIBS  = $(HWLOC_LIBS) $(YAML_LIBS) $(PCRE2_LIBS) $(JANSSON_LIBS) $(MD_LIBS) $(LDLIBS)
TRAIN_LINK     = $(BUILD)/libtrain.a $(LIBDATA) $(BUILD)/libcomm.a $(BUILD)/libkernels.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
TRAIN_LINK_F64 = $(BUILD)/libtrain_f64.a $(LIBDATA) $(BUILD)/libcomm_f64.a $(BUILD)/libkernels_f64.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
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

$(BUILD)/kernel_sweep: $(call obj,bench/workloads/sweeps/kernel/main.c) $(BUILD)/libkernel_sweep.a $(BUILD)/libkernels.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(BLIS_LIBS) $(RUNNER_LIBS)

$(BUILD)/comm_sweep: $(call obj,bench/workloads/sweeps/comm/main.c) $(BUILD)/libcomm_sweep.a $(BUILD)/libcomm.a $(BUILD)/libkernels.a $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(MPI_LIBS) $(BLIS_LIBS) $(RUNNER_LIBS)

$(BUILD)/hello_ranks: $(call obj,bench/workloads/hello/main.c) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(MPI_LIBS) $(LDLIBS)

$(BUILD)/doctor_ranks: $(call obj,$(DOCTOR_RANKS_SRC)) $(BUILD)/libcomm.a $(BUILD)/libkernels.a $(LIBDOCTOR) $(LIBRESOURCES) $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(MPI_LIBS) $(BLIS_LIBS) $(RUNNER_LIBS)

# A peer in Python stands beside the program that feeds it, its modules in a folder there.
$(BUILD)/peer_torch: bench/workloads/peers/peer_torch.py $(TORCH_SRC)
	@mkdir -p $(BUILD)/torch_peer
	@install -m 644 $(TORCH_SRC) $(BUILD)/torch_peer
	$(call says,COPY)install -m 755 $< $@

# --- Objects ----------------------------------------------------------------------------------------------
# Only the rooms that may use a library see its headers (ci/check_layers.sh holds the rest).
obj_cflags = \
  $(if $(filter kernels/gemm.c,$(1)),$(BLIS_CFLAGS)) \
  $(if $(filter comm/% bench/workloads/%,$(1)),$(MPI_CFLAGS) $(XXHASH_CFLAGS)) \
  $(if $(filter bench/place/%,$(1)),$(HWLOC_CFLAGS)) \
  $(if $(filter bench/spec/%,$(1)),$(YAML_CFLAGS) $(PCRE2_CFLAGS)) \
  $(if $(filter bench/%,$(1)),$(JANSSON_CFLAGS) $(ZLIB_CFLAGS) $(MD_CFLAGS)) \
  $(if $(findstring /tests/,$(1)),$(CMOCKA_CFLAGS))

# The harness is neither timed nor computes for long, and needs no -O3; tests need less. Tests of kernels compute references.
level_of = $(if $(findstring /tests/,$(1)),$(if $(filter kernels/%,$(1)),-O1,-O0),$(if $(filter bench/%,$(filter-out bench/workloads/%,$(1))),-O2))
level = $(if $(filter -O3,$(OPT)),$(call level_of,$(1)))

# Rebuilt when flags, compiler or libraries change.
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

# --- Tests ------------------------------------------------------------------------------------------------
# Beside the code, in tests/ of each room: test_*.c are cmocka programs, mpi_*.c run at 1, 2, 3, 4 and 7
# ranks; bench/tests/*.sh use the programs as a user does. All print TAP. ci/run_tests.sh --help tells tiers.
KERNELS_TESTS := $(wildcard kernels/tests/test_*.c kernels/*/tests/test_*.c)
COMM_TESTS    := $(wildcard comm/cost/tests/test_*.c)
MPI_TESTS     := $(wildcard comm/tests/mpi_*.c bench/workloads/*/tests/mpi_*.c)
BENCH_TESTS   := $(wildcard bench/*/tests/test_*.c bench/workloads/*/tests/test_*.c)
SPEED_TESTS   := $(wildcard bench/*/tests/speed_*.c)
# Those of single precision alone: base has no reals and is one library for both; from double nothing is rounded to
# 16 bits, neither operands nor values between ops.
SINGLE_TESTS  := $(wildcard kernels/base/tests/*.c) kernels/ops/tests/test_bf16.c kernels/ops/tests/test_narrow.c
DOUBLE_TESTS  := $(filter-out $(SINGLE_TESTS),$(KERNELS_TESTS)) $(MPI_TESTS)
tests_of = $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(1)))
TEST_PROGRAMS := $(call tests_of,$(KERNELS_TESTS) $(COMM_TESTS) $(MPI_TESTS) $(BENCH_TESTS)) \
                 $(addsuffix _f64,$(call tests_of,$(DOUBLE_TESTS)))

# A harness a reader, bench/tests/fuzz/fuzz_<reader>.c: as tests/seeds_<reader> it reads its seeds in any
# build; with clang's libFuzzer it makes up inputs. What reads safetensors calls no MPI, nor do runs and figures.
FUZZ_TESTS := $(wildcard bench/tests/fuzz/fuzz_*.c)
FUZZ_LINK   = $(call obj,$(addprefix bench/workloads/checkpoint/,safetensors_read.c checkpoint_numbers.c) kernels/cast16.c) \
              $(addprefix $(BUILD)/obj/,$(call simd_obj,kernels/simd/cast16.c)) $(LIBDATA) $(BUILD)/libreaders.a \
              $(LIBFIGURES) $(LIBCOLLECT) $(LIBRESOURCES) $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
# Of the runner and the sites they need few files, which a build with sanitizers takes long for.
$(BUILD)/libreaders.a: $(call obj,$(call sources,bench/claims bench/compare) \
  $(addprefix bench/,runner/facts.c runner/files.c runner/run_spec.c runner/runs.c sites/allocation.c sites/launcher.c))
FUZZ_LIBS   = $(RUNNER_LIBS) $(ZLIB_LIBS)
SEEDS_TESTS  := $(patsubst fuzz_%.c,$(BUILD)/tests/seeds_%,$(notdir $(FUZZ_TESTS)))
TEST_PROGRAMS += $(SEEDS_TESTS)
FUZZERS       := $(patsubst %.c,$(BUILD)/%,$(notdir $(FUZZ_TESTS)))

$(BUILD)/tests:
	@mkdir -p $@

define test_rules
$$(call tests_of,$(1)): $$(call obj,$(1)) $(2) | $(BUILD)/tests
	$$(call says,LD)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $(3) $$(CMOCKA_LIBS)
endef
define test_rules_f64
$$(call tests_of,$(1))_f64: $$(call obj_f64,$(1)) $(2) | $(BUILD)/tests
	$$(call says,LD)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $(3) $$(CMOCKA_LIBS)
endef
$(foreach t,$(KERNELS_TESTS),$(eval $(call test_rules,$(t),$(BUILD)/libkernels.a $(LIBSPEC) $(LIBDESC),$$(BLIS_LIBS) $$(YAML_LIBS) $$(MD_LIBS) $$(LDLIBS))))
$(BUILD)/tests/test_bf16: $(addprefix $(BUILD)/obj/,$(call set_obj,$(ISA_MODEL),kernels/simd/product/winograd_product.c))
$(foreach t,$(filter kernels/%,$(DOUBLE_TESTS)),$(eval $(call test_rules_f64,$(t),$(BUILD)/libkernels_f64.a $(LIBSPEC) $(LIBDESC),$$(BLIS_LIBS) $$(YAML_LIBS) $$(MD_LIBS) $$(LDLIBS))))
$(foreach t,$(COMM_TESTS),$(eval $(call test_rules,$(t),$(LIBDESC),$$(LDLIBS))))
$(foreach t,$(MPI_TESTS),$(eval $(call test_rules,$(t),$(TRAIN_LINK),$$(WORKLOAD_LIBS))))
$(foreach t,$(MPI_TESTS),$(eval $(call test_rules_f64,$(t),$(TRAIN_LINK_F64),$$(WORKLOAD_LIBS))))
$(foreach t,$(BENCH_TESTS) $(SPEED_TESTS),$(eval $(call test_rules,$(t),$(BUILD)/libtrain.a $(LIBDATA) $(RUNNER_LINK),$$(RUNNER_LIBS) $$(ZLIB_LIBS))))

$(SEEDS_TESTS): $(BUILD)/tests/seeds_%: $(call obj,bench/tests/fuzz/fuzz_%.c bench/tests/fuzz/replay.c) $(FUZZ_LINK) | $(BUILD)/tests
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(FUZZ_LIBS)

$(FUZZERS): $(BUILD)/fuzz_%: $(call obj,bench/tests/fuzz/fuzz_%.c) $(FUZZ_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)

# The first tier guards the main path, `test-rest` is all else. TEST=name runs tests of either whose name contains it.
TEST ?=
run_tests = DOUBLE_TESTS='$(notdir $(basename $(DOUBLE_TESTS)))' BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' ci/run_tests.sh
test test-rest test-all: $(if $(filter deps,$(MAKECMDGOALS)),deps)
	@$(run_tests) --check
	@$(MAKE) --no-print-directory -j$(NPROC) tests $(if $(SCALEBENCH_FUZZ_RUNS),$(if $(filter test,$@),,fuzzers))
	@$(run_tests) $(patsubst test-%,%,$(@:test=first))

.PHONY: tests
tests: $(PROGRAMS) $(BUILD)/train_cnn_f64 $(TEST_PROGRAMS) $(call tests_of,$(SPEED_TESTS))

asan:
	@$(MAKE) --no-print-directory test BUILD=$(BUILD)/asan SANITIZE=address,undefined OPT='-O1 -g'

ubsan:
	@$(MAKE) --no-print-directory test BUILD=$(BUILD)/ubsan SANITIZE=undefined OPT='-O1 -g'

# Makes up inputs for the readers, FUZZ=name for those whose name contains it, SECONDS for each.
FUZZ      ?=
SECONDS   ?= 60
FUZZ_CC   ?= clang
fuzzers:
	@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	  $(FUZZ_CC) -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null; then \
	  $(MAKE) --no-print-directory -j$(NPROC) fuzzers_here BUILD=$(BUILD)/fuzz CC=$(FUZZ_CC) WERROR= \
	    OPT='-O1 -g1 -fno-sanitize-recover=all' SANITIZE=fuzzer-no-link,address,undefined; \
	else echo 'no $(FUZZ_CC) with libFuzzer here: nothing is fuzzed (make deps-ci installs it)' >&2; fi

.PHONY: fuzzers_here
fuzzers_here: $(FUZZERS)

fuzz:
	@TEST='fuzz_$(FUZZ)' SCALEBENCH_FUZZ_SECONDS='$(SECONDS)' ci/run_tests.sh --check
	@$(MAKE) --no-print-directory fuzzers
	@BUILD='$(BUILD)' TEST='fuzz_$(FUZZ)' SCALEBENCH_FUZZ_SECONDS='$(SECONDS)' ci/run_tests.sh

# Everything that has more than one thread. gcc takes the lanes of kernels/simd for uninitialised when it
# also follows threads: its warnings are no errors here.
TSAN_PROGRAMS = $(addprefix $(BUILD)/tsan/,train_cnn $(addprefix tests/,test_base test_layers test_net test_batchnorm mpi_overlap mpi_sync mpi_counts mpi_check mpi_clocks mpi_replay mpi_loss_scale mpi_precision mpi_pipeline))
tsan:
	@$(MAKE) --no-print-directory -j$(NPROC) $(TSAN_PROGRAMS) BUILD=$(BUILD)/tsan SANITIZE=thread WERROR= OPT='-O1 -g'
	@BUILD='$(BUILD)/tsan' MPIEXEC='$(MPIEXEC)' ci/tsan.sh

# The kernels' tests for another kind of machine, under an emulator.
check-arm64:
	@ci/arm64.sh run $(notdir $(call tests_of,$(KERNELS_TESTS) $(COMM_TESTS)) $(addsuffix _f64,$(call tests_of,$(filter kernels/%,$(DOUBLE_TESTS)))))

# --- Campaigns --------------------------------------------------------------------------------------------
# `deps` on the same command line installs what is missing first, also under -j; make is then called
# anew because this one has looked for libraries already.
bench: $(if $(filter deps,$(MAKECMDGOALS)),deps)
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(BUILD)/scalebench run "$$CONFIG" --out "$$OUT" --set "$$SET" $(if $(FRESH),--fresh)

# Neither this nor the page needs MPI or BLIS.
figures:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench
	@$(BUILD)/scalebench figures "$$CONFIG" --out "$$OUT"

# A page of these runs: by themselves the latest of every campaign in OUT that has tables, those of the reports as
# ci/reports.sh keeps them apart, the sweeps there, and what is committed; fig2 before fig10. What doctor examines is none
# of them.
numbered = $(shell printf '%s\n' $(1) | sort -V)
apart = $(shell sed -n 's/^name: *"*\([^"]*\)"*$$/\1/p' $(wildcard $(OUT)/reports/*/spec.yaml) /dev/null)
examined = $(patsubst %/findings.csv,%/summary.csv,$(wildcard $(OUT)/*/latest/findings.csv))
campaigns = $(patsubst %/summary.csv,%,$(filter-out $(examined) $(patsubst %,$(OUT)/%/latest/summary.csv,$(apart)),$(wildcard $(OUT)/*/latest/summary.csv)) \
          $(call numbered,$(wildcard $(OUT)/reports/*/summary.csv results/reference/*/summary.csv)))
sweeps = $(patsubst %/,%,$(dir $(wildcard $(foreach o,$(OUT) results/reference,$(o)/comm/comm.csv $(o)/kernels/kernels.csv))))
# make parts a list at blanks.
all_runs = $(if $(or $(word 2,$(OUT)),$(findstring ',$(OUT))),$(error RUN="folder ..." is wanted where OUT has a blank or a quote: $(OUT)))$(1)
RUN  ?=
PAGE ?= report.html
report:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench
	@$(BUILD)/scalebench report $(or $(RUN),$(call all_runs,$(campaigns) $(sweeps))) --out "$$OUT" --output "$(PAGE)"

# What these runs measured, sweeps left out, with all that gnuplot alone needs to draw it again: ci/artifact.sh says how.
ARTIFACT ?= artifact.tar.gz
artifact:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench >&2
	@BUILD='$(BUILD)' OUT="$$OUT" ci/artifact.sh "$(ARTIFACT)" $(or $(RUN),$(call all_runs,$(campaigns)))

# What the harness itself costs; PAIRS= LOOKS= STEPS= RANKS= as ci/overhead.sh says.
bench-overhead:
	@$(MAKE) --no-print-directory -j$(NPROC) all $(BUILD)/tests/speed_view >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' ci/overhead.sh

# Fourteen short campaigns: whether repetitions are called the same and a slow-down is found; REPETITIONS= SLOWED=
# MINUTES= and more as ci/compare.sh says.
bench-compare:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' ci/compare.sh

# Whether launches beside a hog are flagged and others not; LAUNCHES= STEPS= MINUTES= as ci/noise.sh says.
bench-noise:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' ci/noise.sh

# Whether replayed compute takes the time of real one; LAUNCHES= STEPS= NETS= and more as ci/replay.sh says.
bench-replay:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' ci/replay.sh

# Whether `scalebench doctor` names who is slow, and nobody else; TIMES= KINDS= and more as ci/doctor.sh says.
bench-doctor:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' ci/doctor.sh

# What choosing the next launch costs in a campaign of 10,000 points and 100,000 launches.
bench-order: $(BUILD)/tests/speed_launch_order
	@$<

# How often `scalebench compare` is right about made-up campaigns; TRIALS= comparisons a row.
bench-verdicts: $(BUILD)/tests/speed_compare
	@$< $(TRIALS)

# Every figure and table of the reports; QUICK=1 their quick forms, PLAN=1 what that would take, REPORTS= some of them.
reports:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@BUILD='$(BUILD)' OUT="$$OUT" SET="$$SET" QUICK='$(QUICK)' PLAN='$(PLAN)' REPORTS='$(REPORTS)' ci/reports.sh

# MNIST and CIFAR-10, from $SCALEBENCH_MIRROR if that is set.
SETS ?=
data:
	@ci/data.sh $(SETS)

# Measures the committed runs again, or those of NAMES (kota/parts: a spec of the reports); ci/references.sh says how.
# SET= INTO= for a try.
NAMES ?=
INTO  ?=
references:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' OUT= FRESH='$(FRESH)' INTO='$(INTO)' QUICK='$(QUICK)' ci/references.sh measure $(NAMES)

# Judges the claims of the reports by the committed tables; results/claims.csv, claims.md and the tables of results/README.md
# are written anew.
claims:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@$(BUILD)/scalebench claims results/claims.yaml --update
	@ci/features.sh write

# Every op and layer against the reference plan and the roof of one core; SWEEP= as
# `kernel_sweep --help` says.
SWEEP ?=
bench-kernels:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' ci/kernels.sh $(SWEEP)

# Every strategy beside MPI_Allreduce on RANKS ranks; COMM= as `comm_sweep --help` says.
COMM  ?=
RANKS ?= 2
bench-comm:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' RANKS='$(RANKS)' FRESH='$(FRESH)' ci/comm.sh $(COMM)

# What a machine without any of this needs, in one archive; INTO= a folder.
.PHONY: bundle
bundle:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' CC='$(CC)' MPIEXEC='$(MPIEXEC)' ci/bundle.sh $(INTO)

# --- Housekeeping -----------------------------------------------------------------------------------------
deps:
	@ci/deps.sh core

deps-ci:
	@ci/deps.sh ci

deps-extra:
	@ci/deps.sh extra

C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
format:
	@clang-format -i $(C_FILES)

# What editors check specs against, committed because they read it without a build.
SCHEMA := configs/scalebench.schema.json
schema:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(BUILD)/scalebench schema >$(BUILD)/schema.json && mv $(BUILD)/schema.json $(SCHEMA)

LINTS := lint-format lint-layers lint-schema lint-scripts
.PHONY: $(LINTS)
lint:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(MAKE) --no-print-directory -j$(NPROC) $(LINTS)

lint-format:
	@clang-format --dry-run -Werror $(C_FILES)

lint-layers:
	@BUILD='$(BUILD)' ci/check_layers.sh

lint-schema:
	@$(BUILD)/scalebench schema | cmp - $(SCHEMA) || { echo 'make schema writes it anew' >&2; false; }

lint-scripts:
	@printf '%s\n' $(shell git ls-files '*.sh' '*.sbatch') .ci/run | xargs -P $(NPROC) -n 16 shellcheck

info:
	@printf '%-10s %s\n' CC '$(CC)' version "$$($(CC) --version | head -1)" MPICC '$(MPICC)' \
	  MPIEXEC '$(MPIEXEC)' MPI "$$($(MPIEXEC) --version 2>/dev/null | sed -n 's/ *Version: */MPICH /p' | head -1)" \
	  CFLAGS '$(CFLAGS)' yaml '$(YAML_LIBS)' hwloc '$(HWLOC_LIBS)' blis '$(BLIS_LIBS)' \
	  pcre2 '$(PCRE2_LIBS)' jansson '$(JANSSON_LIBS)' zlib '$(ZLIB_LIBS)' md '$(MD_LIBS)' \
	  gnuplot "$$(gnuplot --version 2>/dev/null || echo missing)" build '$(BUILD)'

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST))

clean:
	rm -rf $(BUILD)

#: make deps                          install what building, benchmarking and testing need
#: make bench CONFIG=strong_scaling.yaml   run (or go on with) a campaign; table and figures
#:      SET="train.epochs=2 matrix.ranks=[1,2]"   change options;  FRESH=1 start anew;  OUT=folder
#: make figures CONFIG=...            redraw from the CSV, no run
#: make report [RUN="folder name ..." PAGE=report.html]   a page of every figure with its numbers, for a browser
#: make artifact [RUN="folder ..." ARTIFACT=artifact.tar.gz]   their tables and figures, to be drawn by gnuplot alone
#: make bench-order                   how long the next launch takes to be chosen, as CSV
#: make bench-overhead                what the harness costs a launch and a step, as CSV
#: make bench-verdicts                how often `scalebench compare` is right about made-up campaigns, as CSV
#: make bench-compare                 whether `scalebench compare` is right about repetitions and a slow-down, as CSV
#: make bench-replay                  whether replayed compute takes the time of real one, as CSV
#: make bench-noise                   whether launches beside a hog are flagged, and no others, as CSV;
#:      MINUTES=60: launches that are left alone, for so long
#: make bench-doctor [TIMES=10]         whether `scalebench doctor` names who is slow, and nobody else, as CSV
#: make reports [QUICK=1 PLAN=1 REPORTS="kota/parts ..."]   every figure and table of the reports, or some; QUICK=1 reduced,
#:      PLAN=1 how long that takes; stopped, it goes on
#: make references [NAMES="peer kota/parts"]   measures what results/reference holds again, NAMES=reports the reports'
#:      figures and tables; stopped, it goes on; FRESH=1 starts anew, ci/references.sh plan says how long it takes
#: make claims                        what the committed tables make of the reports' claims: results/claims.csv and claims.md
#: make bench-kernels [SWEEP="--model keras_690k --plan fast,reference"]   every op of a net, CSV and roofline
#: make bench-comm [RANKS=2 COMM="--models none"]   every strategy beside MPI_Allreduce, CSV; COMM=--plan: how
#:      long that takes; stopped, it goes on; FRESH=1 starts anew
#: make bundle                        an archive for machines that have nothing installed: programs, libraries,
#:      loader, mpiexec, specs, MNIST; unpacked anywhere, ./scalebench run configs/strong_scaling.yaml
#: make data [SETS=mnist]             download MNIST and CIFAR-10 to data/ (ci/data.sh --help)
#: make test [TEST=name]              the tests of the main path, five minutes on two cores; or all whose name contains it
#: make test-all                      every test; test-rest: those that `make test` leaves out
#: make asan | ubsan                  every test under sanitizers
#: make tsan                          what has more than one thread, under the thread sanitizer
#: make fuzz [FUZZ=spec SECONDS=60]    made-up inputs for the readers, under clang's sanitizers (needs make deps-ci)
#: make check-arm64                   the kernels' tests for 64-bit ARM under qemu (needs make deps-ci)
#: make format | lint                 format the sources | check format, layers and scripts
#: make schema                        write configs/scalebench.schema.json, for editors, after an option changed
#: make deps-ci                       packages that some tests need besides (a Slurm, an emulator)
#: make deps-extra                    packages of optional parts
#: make info                          compilers, libraries and flags in use
#: make clean                         remove build/
#: Variables: CC MPICC MPIEXEC BUILD WERROR=1 V=1 <LIBRARY>_DIR (YAML HWLOC BLIS PCRE2 JANSSON ZLIB MD XXHASH CMOCKA)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
