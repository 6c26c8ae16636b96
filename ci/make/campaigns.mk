# Campaigns and other measurements, and their pages.

# `deps` on the same command line installs what is missing first, also under -j; make is then called
# anew because this one has looked for libraries already.
.PHONY: bench figures report artifact reports data references claims bundle
#: make bench CONFIG=strong_scaling.yaml   run (or go on with) a campaign; table and figures
#:      SET="train.epochs=2 matrix.ranks=[1,2]"   change options;  FRESH=1 start anew;  OUT=folder
bench: $(if $(filter deps,$(MAKECMDGOALS)),deps)
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(BUILD)/scalebench run "$$CONFIG" --out "$$OUT" $(if $(SET),--set "$$SET") $(if $(FRESH),--fresh)

# Neither this nor the page needs MPI or BLIS.
#: make figures CONFIG=...            redraw from the CSV, no run
figures:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench
	@$(BUILD)/scalebench figures "$$CONFIG" --out "$$OUT"

RUN  ?=
PAGE ?= report.html
#: make report [RUN="folder name ..." PAGE=report.html]   a page of every figure with its numbers, for a browser
report:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench
	@$(BUILD)/scalebench report $(RUN) --out "$$OUT" --output "$(PAGE)"

ARTIFACT ?= artifact.tar.gz
#: make artifact [RUN="folder ..." ARTIFACT=artifact.tar.gz]   their tables and figures, to be drawn by gnuplot alone
artifact:
	@$(MAKE) --no-print-directory -j$(NPROC) $(BUILD)/scalebench >&2
	@BUILD='$(BUILD)' OUT="$$OUT" ci/artifact.sh "$(ARTIFACT)" $(RUN)

# The comment on top of ci/NAME.sh says which variables change a measurement.
#: make bench-overhead                what the harness costs a launch and a step, as CSV
#: make bench-compare                 whether `scalebench compare` is right about repetitions and a slow-down, as CSV
#: make bench-replay                  whether replayed compute takes the time of real one, as CSV
#: make bench-noise                   whether launches beside a hog are flagged, and no others, as CSV;
#:      MINUTES=60: launches that are left alone, for so long
#: make bench-doctor [TIMES=10]         whether `scalebench doctor` names who is slow, and nobody else, as CSV
measurements := $(addprefix bench-,overhead compare noise replay doctor)
bench-overhead: other_programs = $(BUILD)/tests/speed_view
.PHONY: $(measurements)
$(measurements): bench-%:
	@$(MAKE) --no-print-directory -j$(NPROC) all $(other_programs) >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' RANKS='$(RANKS)' FRESH='$(FRESH)' ci/$*.sh

#: make bench-kernels [SET="workload.options.net=keras_690k workload.options.plan=fast,reference"]   every op of a net,
#:      CSV and roofline; stopped, it goes on
#: make bench-comm [SET="ranks=4 workload.options.strategies=ring,shm"]   every strategy beside MPI_Allreduce, CSV and
#:      curves; stopped, it goes on
.PHONY: bench-kernels bench-comm
bench-kernels bench-comm: bench-%:
	$(if $(SWEEP)$(COMM)$(RANKS),$(error SWEEP=, COMM= and RANKS= are not supported: use SET="workload.options.NAME=VALUE ranks=N", as configs/$*.yaml has them))
	@$(MAKE) --no-print-directory bench CONFIG=configs/$*.yaml

.PHONY: bench-order bench-verdicts
#: make bench-order                   how long the next launch takes to be chosen, as CSV
bench-order: $(BUILD)/tests/speed_launch_order
	@$<

#: make bench-verdicts [TRIALS=...]   how often `scalebench compare` is right about made-up campaigns, as CSV
bench-verdicts: $(BUILD)/tests/speed_compare
	@$< $(TRIALS)

#: make reports [QUICK=1 PLAN=1 REPORTS="kota/parts ..."]   every figure and table of the reports, or some; QUICK=1 reduced,
#:      PLAN=1 how long that takes; stopped, it goes on
reports:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@BUILD='$(BUILD)' OUT="$$OUT" SET="$$SET" QUICK='$(QUICK)' PLAN='$(PLAN)' REPORTS='$(REPORTS)' ci/reports.sh

# SET= INTO= for a try.
NAMES ?=
INTO  ?=
#: make references [NAMES="peer kota/parts"]   measures what results/reference holds again, NAMES=reports the reports'
#:      figures and tables; stopped, it goes on; FRESH=1 starts anew, ci/references.sh plan says how long it takes
references:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' MPIEXEC='$(MPIEXEC)' OUT= FRESH='$(FRESH)' INTO='$(INTO)' QUICK='$(QUICK)' ci/references.sh measure $(NAMES)

#: make claims                        what the committed tables make of the reports' claims: results/claims.csv and claims.md;
#:      fails if a number of results/README.md is not that of the claims
claims:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@ci/features.sh write
	@$(BUILD)/scalebench claims results/claims.yaml --update

#: make bundle [INTO=folder]          an archive for machines that have nothing installed: programs, libraries,
#:      loader, mpiexec, specs, MNIST; unpacked anywhere, ./scalebench run configs/strong_scaling.yaml
bundle:
	@$(MAKE) --no-print-directory -j$(NPROC) all >&2
	@BUILD='$(BUILD)' CC='$(CC)' MPIEXEC='$(MPIEXEC)' ci/bundle.sh $(INTO)

# From $SCALEBENCH_MIRROR if that is set.
SETS ?=
#: make data [SETS=mnist]             download MNIST and CIFAR-10 to data/ (ci/data.sh --help)
data:
	@ci/data.sh $(SETS)
