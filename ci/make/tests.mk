# Tests and fuzzers.

# In tests/ of each folder test_*.c are cmocka programs, and mpi_*.c run at 1, 2, 3, 4 and 7 ranks. bench/tests/*.sh
# use the programs as a user does. All print TAP. ci/run_tests.sh --help explains the tiers.
KERNELS_TESTS := $(wildcard kernels/tests/test_*.c kernels/*/tests/test_*.c)
COMM_TESTS    := $(wildcard comm/cost/tests/test_*.c)
MPI_TESTS     := $(wildcard comm/tests/mpi_*.c bench/workloads/*/tests/mpi_*.c)
BENCH_TESTS   := $(wildcard bench/*/tests/test_*.c bench/workloads/*/tests/test_*.c)
SWEEP_TESTS   := $(wildcard bench/workloads/sweeps/tests/test_*.c)
SPEED_TESTS   := $(wildcard bench/*/tests/speed_*.c)
COMM_SPEED    := $(wildcard comm/cost/tests/speed_*.c)
# Tests that have no double form: base has no reals and is one library for both, and doubles are never rounded to 16
# bits, neither operands nor values between operations.
SINGLE_TESTS  := $(wildcard kernels/base/tests/*.c) kernels/ops/tests/test_bf16.c kernels/ops/tests/test_narrow.c
DOUBLE_TESTS  := $(filter-out $(SINGLE_TESTS),$(KERNELS_TESTS)) $(MPI_TESTS)
tests_of = $(patsubst %.c,$(BUILD)/tests/%,$(notdir $(1)))
TEST_PROGRAMS := $(call tests_of,$(KERNELS_TESTS) $(COMM_TESTS) $(MPI_TESTS) $(BENCH_TESTS)) \
                 $(addsuffix _f64,$(call tests_of,$(DOUBLE_TESTS)))

# One fuzzer per reader, bench/tests/fuzz/fuzz_<reader>.c. As tests/seeds_<reader> it reads its seeds in any build; with
# clang's libFuzzer it generates inputs. No reader calls MPI.
FUZZ_TESTS := $(wildcard bench/tests/fuzz/fuzz_*.c)
FUZZ_LINK   = $(call obj,bench/workloads/checkpoint/checkpoint_numbers.c kernels/cast16.c) \
              $(addprefix $(BUILD)/obj/,$(call simd_obj,kernels/simd/cast16.c)) $(LIBDATA) $(BUILD)/libreaders.a \
              $(LIBFIGURES) $(LIBCOLLECT) $(LIBRESOURCES) $(LIBRECORD) $(LIBPLACE) $(LIBSPEC) $(LIBDESC)
# The few files of runner and sites that fuzzers need, since a build of all of them with sanitizers takes long.
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
$(BUILD)/tests/test_bf16: $(addprefix $(BUILD)/obj/,$(call set_obj,$(ISA_MODEL),kernels/simd/winograd/winograd_product.c))
$(foreach t,$(filter kernels/%,$(DOUBLE_TESTS)),$(eval $(call test_rules_f64,$(t),$(BUILD)/libkernels_f64.a $(LIBSPEC) $(LIBDESC),$$(BLIS_LIBS) $$(YAML_LIBS) $$(MD_LIBS) $$(LDLIBS))))
$(foreach t,$(COMM_TESTS) $(COMM_SPEED),$(eval $(call test_rules,$(t),$(LIBDESC),$$(LDLIBS))))
$(foreach t,$(MPI_TESTS),$(eval $(call test_rules,$(t),$(TRAIN_LINK),$$(WORKLOAD_LIBS))))
$(foreach t,$(MPI_TESTS),$(eval $(call test_rules_f64,$(t),$(TRAIN_LINK_F64),$$(WORKLOAD_LIBS))))
$(foreach t,$(filter-out $(SWEEP_TESTS),$(BENCH_TESTS)) $(SPEED_TESTS),$(eval $(call test_rules,$(t),$(BUILD)/libtrain.a $(LIBDATA) $(RUNNER_LINK),$$(RUNNER_LIBS) $$(ZLIB_LIBS))))
$(foreach t,$(SWEEP_TESTS),$(eval $(call test_rules,$(t),$(SWEEP_LINK),$$(BLIS_LIBS) $$(RUNNER_LIBS))))

$(SEEDS_TESTS): $(BUILD)/tests/seeds_%: $(call obj,bench/tests/fuzz/fuzz_%.c bench/tests/fuzz/replay.c) $(FUZZ_LINK) | $(BUILD)/tests
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(FUZZ_LIBS)

$(FUZZERS): $(BUILD)/fuzz_%: $(call obj,bench/tests/fuzz/fuzz_%.c) $(FUZZ_LINK)
	$(call says,LD)$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)

# `make test` runs the first tier, `make test-rest` the second. TEST=NAME selects from both.
TEST ?=
run_tests = DOUBLE_TESTS='$(notdir $(basename $(DOUBLE_TESTS)))' BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' ci/run_tests.sh
.PHONY: test test-rest test-all asan ubsan tsan fuzz fuzzers check-arm64
#: make test [TEST=NAME]                 Run the tests of the main path (five minutes), or each test whose name contains NAME
#: make test-rest                        Run the tests that `make test` leaves out
#: make test-all                         Run every test
test test-rest test-all: $(if $(filter deps,$(MAKECMDGOALS)),deps)
	@$(run_tests) --check
	@$(MAKE) --no-print-directory -j$(NPROC) tests $(if $(SCALEBENCH_FUZZ_RUNS),$(if $(filter test,$@),,fuzzers))
	@$(run_tests) $(patsubst test-%,%,$(@:test=first))

.PHONY: tests
tests: $(PROGRAMS) $(BUILD)/train_cnn_f64 $(TEST_PROGRAMS) $(call tests_of,$(SPEED_TESTS) $(COMM_SPEED))

#: make asan                             Run the tests with the address and undefined-behaviour sanitizers
asan:
	@$(MAKE) --no-print-directory test BUILD=$(BUILD)/asan SANITIZE=address,undefined OPT='-O1 -g'

#: make ubsan                            Run the tests with the undefined-behaviour sanitizer
ubsan:
	@$(MAKE) --no-print-directory test BUILD=$(BUILD)/ubsan SANITIZE=undefined OPT='-O1 -g'

# FUZZ=NAME selects the readers whose name contains NAME; each is fuzzed for SECONDS.
FUZZ      ?=
SECONDS   ?= 60
FUZZ_CC   ?= clang
fuzzers:
	@if echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' | \
	  $(FUZZ_CC) -fsanitize=fuzzer,address,undefined -x c -o /dev/null - 2>/dev/null; then \
	  $(MAKE) --no-print-directory -j$(NPROC) fuzzers_here BUILD=$(BUILD)/fuzz CC=$(FUZZ_CC) WERROR= \
	    OPT='-O1 -g1 -fno-sanitize-recover=all' SANITIZE=fuzzer-no-link,address,undefined; \
	else echo '$(FUZZ_CC) with libFuzzer not found: nothing is fuzzed. Install it with make deps-ci.' >&2; fi

.PHONY: fuzzers_here
fuzzers_here: $(FUZZERS)

#: make fuzz [FUZZ=spec SECONDS=60]      Fuzz the readers with clang's sanitizers (needs make deps-ci)
fuzz:
	@TEST='fuzz_$(FUZZ)' SCALEBENCH_FUZZ_SECONDS='$(SECONDS)' ci/run_tests.sh --check
	@$(MAKE) --no-print-directory fuzzers
	@BUILD='$(BUILD)' TEST='fuzz_$(FUZZ)' SCALEBENCH_FUZZ_SECONDS='$(SECONDS)' ci/run_tests.sh

# Programs with more than one thread. With the thread sanitizer gcc wrongly reports the lanes of kernels/simd as
# uninitialised, so WERROR is off.
TSAN_PROGRAMS = $(addprefix $(BUILD)/tsan/,train_cnn $(addprefix tests/,test_base test_layers test_net test_batchnorm mpi_overlap mpi_sync mpi_counts mpi_check mpi_clocks mpi_replay mpi_loss_scale mpi_precision mpi_pipeline))
#: make tsan                             Run the programs that have several threads with the thread sanitizer
tsan:
	@$(MAKE) --no-print-directory -j$(NPROC) $(TSAN_PROGRAMS) BUILD=$(BUILD)/tsan SANITIZE=thread WERROR= OPT='-O1 -g'
	@BUILD='$(BUILD)/tsan' MPIEXEC='$(MPIEXEC)' ci/tsan.sh

#: make check-arm64                      Run the kernels' tests for 64-bit ARM in qemu (needs make deps-ci)
check-arm64:
	@ci/arm64.sh run $(notdir $(call tests_of,$(KERNELS_TESTS) $(COMM_TESTS)) $(addsuffix _f64,$(call tests_of,$(filter kernels/%,$(DOUBLE_TESTS)))))
