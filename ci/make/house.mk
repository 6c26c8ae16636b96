# Formatting, checks of the sources, help.

.PHONY: format lint pages schema info help clean
C_FILES = $(shell . ci/files.sh; source_files '*.c' '*.h')
#: make format                           Format the sources
format:
	@clang-format -i $(C_FILES)

# Editors check specs with this file. It is committed, so that they need no build.
SCHEMA := configs/scalebench.schema.json
#: make schema                           Write configs/scalebench.schema.json, after a change of options
schema:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@$(BUILD)/scalebench schema >$(BUILD)/schema.json && mv $(BUILD)/schema.json $(SCHEMA)

#: make pages                            Write OPTIONS.md, COLUMNS.md and COMMANDS.md, after a change of tables
pages:
	@$(MAKE) --no-print-directory -j$(NPROC) all
	@BUILD='$(BUILD)' ci/pages.sh

LINTS := lint-format lint-layers lint-pages lint-schema lint-scripts lint-tables lint-words
.PHONY: $(LINTS)
#: make lint                             Check format, layers, generated pages, scripts and words
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
	@$(BUILD)/scalebench schema | cmp - $(SCHEMA) || { echo '$(SCHEMA) is not current: run make schema' >&2; false; }

lint-scripts:
	@printf '%s\n' $(shell . ci/files.sh; source_files '*.sh' '*.sbatch') .ci/run | xargs -P $(NPROC) -n 16 shellcheck

lint-words:
	@ci/check_words.sh

# The comment on top of every table explains how to add a row.
lint-tables:
	@tables=$$(. ci/files.sh; source_files '*.def' | xargs grep -L 'To add'); [ -z "$$tables" ] || \
	  { printf '%s: the comment on top lacks "To add ..."\n' $$tables >&2; false; }

#: make info                             Print compilers, libraries and flags
info:
	@printf '%-10s %s\n' CC '$(CC)' version "$$($(CC) --version | head -1)" MPICC '$(MPICC)' \
	  MPIEXEC '$(MPIEXEC)' MPI "$$($(MPIEXEC) --version 2>/dev/null | sed -n 's/ *Version: */MPICH /p' | head -1)" \
	  CFLAGS '$(CFLAGS)' yaml '$(YAML_LIBS)' hwloc '$(HWLOC_LIBS)' blis '$(BLIS_LIBS)' \
	  pcre2 '$(PCRE2_LIBS)' jansson '$(JANSSON_LIBS)' zlib '$(ZLIB_LIBS)' md '$(MD_LIBS)' \
	  gnuplot "$$(gnuplot --version 2>/dev/null || echo missing)" build '$(BUILD)'

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST)) $(PARTS)

#: make clean                            Remove build/
clean:
	rm -rf $(BUILD)

#: Variables: CC MPICC MPIEXEC BUILD WERROR=1 V=1 LIBRARY_DIR (YAML HWLOC BLIS PCRE2 JANSSON ZLIB MD XXHASH CMOCKA)
