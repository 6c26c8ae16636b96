# Campaigns, other measurements and pages.

# `make deps bench` installs packages first, also with -j. The inner make looks for libraries again, since this one
# looked before the installation.
.PHONY: bench figures report artifact reports data references claims bundle dist install uninstall
#: make bench CONFIG=quick.yaml [SET="KEY=VALUE ..." QUICK=1 FRESH=1 OUT=results]   Run or resume a campaign
bench: $(if $(filter deps,$(MAKECMDGOALS)),deps)
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(BUILD)/scalebench run "$$CONFIG" --out "$$OUT" $(if $(QUICK),--set form=quick) $(if $(SET),--set "$$SET") $(if $(FRESH),--fresh)

# Builds scalebench alone, so that neither MPI nor BLIS is needed.
#: make figures CONFIG=quick.yaml        Redraw the figures of a run from its CSV files
figures:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench
	@$(BUILD)/scalebench figures "$$CONFIG" --out "$$OUT"

RUN  ?=
PAGE ?= report.html
#: make report [RUN="FOLDER NAME ..." PAGE=report.html]   Write a web page of all figures with their numbers
report:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench
	@$(BUILD)/scalebench report $(RUN) --out "$$OUT" --output "$(PAGE)"

ARTIFACT ?= artifact.tar.gz
#: make artifact [RUN="FOLDER ..." ARTIFACT=artifact.tar.gz]   Pack tables and figures that gnuplot alone can redraw
artifact:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench >&2
	@BUILD='$(BUILD)' OUT="$$OUT" ci/artifact.sh "$(ARTIFACT)" $(RUN)

# ci/measure/NAME.sh --help lists the variables that change a measurement.
#: make bench-overhead                   Measure the harness's own time per launch and per step
#: make bench-compare                    Count right verdicts of `scalebench compare` on repeated and slowed campaigns
#: make bench-replay                     Compare times of replayed compute and real compute
#: make bench-noise [MINUTES=60]         Check that disturbed launches are flagged, and that other launches are not
#: make bench-doctor [TIMES=10]          Count slow nodes that `scalebench doctor` finds, and its false alarms
measurements := $(addprefix bench-,overhead compare noise replay doctor)
bench-overhead: other_programs = $(BUILD)/tests/speed_view
.PHONY: $(measurements)
$(measurements): bench-%:
	@$(MAKE) --no-print-directory -j$(NPROC) all $(other_programs) >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' RANKS='$(RANKS)' FRESH='$(FRESH)' ci/measure/$*.sh

#: make bench-kernels [SET="workload.options.plan=fast,reference"]   Time every operation of a network; draw the roofline
#: make bench-limits [SET="matrix.workload.options.net=[lenet_21k]"]   Time every operation beside the limits of one core
#: make bench-comm [SET="ranks=4 workload.options.strategies=ring,shm"]   Time every strategy beside MPI_Allreduce
.PHONY: bench-kernels bench-limits bench-comm
bench-kernels bench-limits bench-comm: bench-%:
	$(if $(SWEEP)$(COMM)$(RANKS),$(error SWEEP=, COMM= and RANKS= are not supported: use SET="workload.options.NAME=VALUE ranks=N", as configs/$*.yaml has them))
	@$(MAKE) --no-print-directory bench CONFIG=configs/$*.yaml

.PHONY: bench-order bench-verdicts bench-sweep
#: make bench-order                      Measure how long scalebench takes to choose the next launch
bench-order: $(BUILD)/tests/speed_launch_order
	@$<

#: make bench-verdicts [TRIALS=N]        Count right verdicts of `scalebench compare` on generated campaigns
bench-verdicts: $(BUILD)/tests/speed_compare
	@$< $(TRIALS)

#: make bench-sweep                      Measure how long a prediction for thousands of ranks takes
bench-sweep: $(BUILD)/tests/speed_sweep
	@$<

# Builds scalebench alone. RUN= names runs as for `make report`.
.PHONY: bench-predict
#: make bench-predict [RUN="FOLDER NAME ..."]   Predict committed step times without their strategy, network or ranks
bench-predict:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench >&2
	@$(BUILD)/scalebench predict $(RUN) --out "$$OUT"

#: make reports [REPORTS="kota/parts ..." QUICK=1 PLAN=1]   Measure the reports' figures and tables; PLAN=1: forecast only
reports:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@BUILD='$(BUILD)' OUT="$$OUT" SET="$$SET" QUICK='$(QUICK)' PLAN='$(PLAN)' REPORTS='$(REPORTS)' ci/reports.sh

# SET= and INTO= change a trial run.
NAMES ?=
INTO  ?=
#: make references [NAMES="peer kota/parts" FRESH=1]   Measure the runs of results/reference again (NAMES=reports: those of the reports)
references:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' OUT= FRESH='$(FRESH)' INTO='$(INTO)' QUICK='$(QUICK)' ci/references.sh measure $(NAMES)

#: make claims [PLAN=1]                  Judge the claims of the reports: write results/claims.csv and claims.md, check results/README.md.
#:                                       PLAN=1: print which launches would decide the undecided claims, and write nothing
claims:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
ifneq ($(PLAN),)
	@$(BUILD)/scalebench claims results/claims.yaml --plan
else
	@ci/features.sh write
	@$(BUILD)/scalebench claims results/claims.yaml --update
endif

#: make bundle [INTO=FOLDER]             Pack programs, libraries, mpiexec, specs and MNIST for a machine without packages
bundle:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' CC='$(CC)' MPIEXEC='$(MPIEXEC)' ci/bundle.sh $(INTO)

#: make dist [INTO=FOLDER]               Pack the sources as scalebench-VERSION.tar.gz, which builds and tests without git's history
dist:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench >&2
	@BUILD='$(BUILD)' ci/dist.sh $(INTO)

PREFIX  ?= /usr/local
DESTDIR ?=
#: make install [PREFIX=/usr/local DESTDIR=]   Install programs, specs, plot scripts, man page and completions; uninstall removes them
install:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@BUILD='$(BUILD)' PROGRAMS='$(PROGRAMS)' PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' ci/install.sh

uninstall:
	@PREFIX='$(PREFIX)' DESTDIR='$(DESTDIR)' ci/install.sh remove

# Downloads from $SCALEBENCH_MIRROR if it is set.
SETS ?=
#: make data [SETS=mnist]                Download MNIST and CIFAR-10 to data/
data:
	@ci/data.sh $(SETS)
