# Formatting, checks of the sources, help.

.PHONY: format lint pages schema info help clean
C_FILES = $(shell git ls-files -co --exclude-standard '*.c' '*.h')
#: make format | lint                 format the sources | check format, layers, scripts and words
format:
	@clang-format -i $(C_FILES)

# What editors check specs against, committed because they read it without a build.
SCHEMA := configs/scalebench.schema.json
#: make schema                        write configs/scalebench.schema.json, for editors, after an option changed
schema:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(BUILD)/scalebench schema >$(BUILD)/schema.json && mv $(BUILD)/schema.json $(SCHEMA)

#: make pages                        write the pages of options, columns and commands, after a table changed
pages:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@BUILD='$(BUILD)' ci/pages.sh

LINTS := lint-format lint-layers lint-pages lint-schema lint-scripts lint-tables lint-words
.PHONY: $(LINTS)
lint:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(MAKE) --no-print-directory -j$(NPROC) $(LINTS)

lint-format:
	@clang-format --dry-run -Werror $(C_FILES)

lint-layers:
	@BUILD='$(BUILD)' ci/check_layers.sh

lint-pages:
	@BUILD='$(BUILD)' ci/pages.sh check

lint-schema:
	@$(BUILD)/scalebench schema | cmp - $(SCHEMA) || { echo 'make schema writes it anew' >&2; false; }

lint-scripts:
	@printf '%s\n' $(shell git ls-files '*.sh' '*.sbatch') .ci/run | xargs -P $(NPROC) -n 16 shellcheck

lint-words:
	@ci/check_words.sh

# Every table says on top how a row is added.
lint-tables:
	@tables=$$(git ls-files -co --exclude-standard '*.def' | xargs grep -L 'To add'); [ -z "$$tables" ] || \
	  { printf '%s: the comment on top lacks "To add ..."\n' $$tables >&2; false; }

#: make info                          compilers, libraries and flags in use
info:
	@printf '%-10s %s\n' CC '$(CC)' version "$$($(CC) --version | head -1)" MPICC '$(MPICC)' \
	  MPIEXEC '$(MPIEXEC)' MPI "$$($(MPIEXEC) --version 2>/dev/null | sed -n 's/ *Version: */MPICH /p' | head -1)" \
	  CFLAGS '$(CFLAGS)' yaml '$(YAML_LIBS)' hwloc '$(HWLOC_LIBS)' blis '$(BLIS_LIBS)' \
	  pcre2 '$(PCRE2_LIBS)' jansson '$(JANSSON_LIBS)' zlib '$(ZLIB_LIBS)' md '$(MD_LIBS)' \
	  gnuplot "$$(gnuplot --version 2>/dev/null || echo missing)" build '$(BUILD)'

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST)) $(PARTS)

#: make clean                         remove build/
clean:
	rm -rf $(BUILD)

#: Variables: CC MPICC MPIEXEC BUILD WERROR=1 V=1 <LIBRARY>_DIR (YAML HWLOC BLIS PCRE2 JANSSON ZLIB MD XXHASH CMOCKA)
