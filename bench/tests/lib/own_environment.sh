# shellcheck shell=bash
# Gives tests an environment of their own, independent of the user. ci/run_tests.sh calls it once for the suite, lib/tap.sh for
# a script that runs alone.

# Unsets variables that change how programs, scripts or make behave, apart from MPIEXEC and the settings of the suite.
# HOME, the cache of data, the locks of cores and the default of --out are then in FOLDER, and no data set is searched.
# SCALEBENCH_REAL_DATA is the folder of mnist/ and cifar10/ for tests of real images: $SCALEBENCH_DATA, else ../shared/data;
# empty if that does not exist.
own_environment() { # folder
    local name python real=${SCALEBENCH_REAL_DATA:-${SCALEBENCH_DATA:-../shared/data}}
    # Finds the interpreter itself: the launcher of a version manager is slow and may look for it in HOME.
    python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
    [ -z "$python" ] || [ "$python" = "$(command -v python3)" ] || PATH=${python%/*}:$PATH
    for name in $(compgen -e); do
        case $name in
        SCALEBENCH_BUILD | SCALEBENCH_REQUIRE | SCALEBENCH_FUZZ_*) ;;
        SCALEBENCH_* | SLURM_* | XDG_* | CONFIG | SET | OUT | FRESH | QUICK | PLAN | REPORTS | NAMES | INTO) unset "$name" ;;
        esac
    done
    SCALEBENCH_REAL_DATA=$(realpath -e "$real" 2>/dev/null)
    mkdir -p "$1/home"
    export HOME=$1/home SCALEBENCH_CACHE=$1/cache SCALEBENCH_LOCKS=$1/locks SCALEBENCH_OUT=$1/results
    export SCALEBENCH_DATA=none SCALEBENCH_REAL_DATA SCALEBENCH_OWN=$1
}
