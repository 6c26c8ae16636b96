# Libraries and their packages.

# Takes each library from <NAME>_DIR (include/ and lib/ below it), else from pkg-config.
lib_cflags = $(if $($(1)_DIR),-isystem $($(1)_DIR)/include,$(shell $(PKGCONF) --cflags $(2) 2>/dev/null))
comma := ,
lib_ldlibs = $(if $($(1)_DIR),-L$($(1)_DIR)/lib -Wl$(comma)-rpath$(comma)$($(1)_DIR)/lib $(3),$(or $(shell $(PKGCONF) --libs $(2) 2>/dev/null),$(3)))

# Asks pkg-config at the first use and keeps the answer.
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

# oneDNN is optional and has no pkg-config file; empty ONEDNN_LIBS: not found, peer_onednn says so.
ONEDNN_CFLAGS  = $(if $(ONEDNN_DIR),-isystem $(ONEDNN_DIR)/include)
has_onednn    := $(shell $(CC) $(ONEDNN_CFLAGS) -E -include oneapi/dnnl/dnnl.h -x c /dev/null >/dev/null 2>&1 && echo yes)
ONEDNN_LIBS    = $(if $(has_onednn),$(if $(ONEDNN_DIR),-L$(ONEDNN_DIR)/lib -Wl$(comma)-rpath$(comma)$(ONEDNN_DIR)/lib) -ldnnl)

# Flags that mpicc adds; -show prints them with MPICH, MVAPICH, Intel MPI and Open MPI. A compiler that adds them by
# itself, such as Cray's: make CC=cc MPI_CFLAGS= MPI_LIBS=
MPI_SHOWN  := $(shell $(MPICC) -show 2>/dev/null)
MPI_CFLAGS  = $(filter -I% -D%,$(MPI_SHOWN))
MPI_LIBS    = $(filter -L% -l% -Wl$(comma)-rpath%,$(MPI_SHOWN))
knows_mpi   = $(filter command environment,$(origin MPI_LIBS))$(strip $(MPI_LIBS))
no_mpi      = MPICC='$(MPICC)' does not print linker flags with -show. Use the mpicc of MPICH, MVAPICH, Intel MPI or Open MPI \
  (make deps installs MPICH), or a compiler that adds the flags by itself: make CC=cc MPI_CFLAGS= MPI_LIBS=

.PHONY: deps deps-ci deps-extra
#: make deps                             Install the packages for building, measuring and testing
deps:
	@ci/deps.sh core

#: make deps-ci                          Install the packages that only tests need (Slurm, an emulator, fuzzers)
deps-ci:
	@ci/deps.sh ci

#: make deps-extra                       Install the packages of optional parts (PyTorch, oneDNN)
deps-extra:
	@ci/deps.sh extra
