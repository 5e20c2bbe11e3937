# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The rule for bars that only a quiet machine can judge. To be sourced by the scripts that run tests.
#
# A test that missed nothing but bars (exit status 75; tests/live/lib.sh) has the result `missed`. It is judged at the
# end: run again alone, once the load has fallen, with the seed that it had. It must pass twice. Then it has passed, and
# is named as unsteady. Anything else is a failure:
#   - more than JUDGE_TESTS (3) tests missed bars;
#   - the JUDGE_SECONDS (300) for all of them are over;
#   - the test was already unsteady in two of the last five whole runs of this tree: such a test is to be mended.
# If the load does not fall within QUIET_SECONDS (60), the test is unjudged, and counts as skipped.
#
# build/unsteady keeps one line for each whole run: date, commit, suite, and the unsteady tests.
unsteady_file=build/unsteady

# of RESULT RESULTS: the tests that have it. RESULTS has a line "RESULT NAME..." for each test.
of() { awk -v result="$1" '$1 == result { print $2 }' "$2"; }

# seed_of LOG: the seed that a test printed, or nothing
seed_of() { sed -n 's/.*NT_SEED=\([0-9a-fA-Fx]*\).*/\1/p' "$1" 2>/dev/null | tail -1; }

# was_unsteady SUITE NAME: in two of the last five whole runs
was_unsteady() {
    local runs
    runs=$({ grep " $1:" "$unsteady_file" 2>/dev/null || true; } | tail -5 | grep -c " $2\( \|$\)" || true)
    ((runs >= 2))
}

# judge_test SUITE NAME COMMAND DEADLINE: prints the verdict (passed, FAILED or unjudged) and why
judge_test() {
    local suite=$1 name=$2 command=$3 deadline=$4 try status
    if was_unsteady "$suite" "$name"; then
        echo "FAILED it was unsteady in two of the last five runs ($unsteady_file): mend it"
        return
    fi
    if ! bash tests/quiet.sh "${QUIET_SECONDS:-60}"; then
        echo "unjudged this machine is too busy to judge its bars"
        return
    fi
    for try in 1 2; do
        if ((SECONDS >= deadline)); then
            echo "FAILED no time was left to run it again"
            return
        fi
        status=0
        "$command" "$name" "$try" $((deadline - SECONDS)) >/dev/null || status=$?
        case $status in
        0) ;;
        75) echo "FAILED bars missed again, alone"; return ;;
        77) echo "unjudged it was skipped when it was run again"; return ;;
        *) echo "FAILED exit status $status when it was run again"; return ;;
        esac
    done
    echo "passed twice, alone: unsteady"
}

# judge_missed SUITE RESULTS COMMAND: gives each missed test its verdict in RESULTS. `COMMAND NAME TRY SECONDS` runs it
# again, without output, within SECONDS, and gives its exit status. Unsteady tests are left in $unsteady.
judge_missed() {
    local suite=$1 results=$2 command=$3 deadline=$((SECONDS + ${JUDGE_SECONDS:-300})) name verdict why
    local names=()
    mapfile -t names < <(of missed "$results")
    unsteady=
    [[ ${#names[@]} != 0 ]] || return 0
    echo "nettape: judging again, alone: ${names[*]}"
    for name in "${names[@]}"; do
        if ((${#names[@]} > ${JUDGE_TESTS:-3})); then
            verdict=FAILED why="bars missed in ${#names[@]} tests: that is no chance"
        else
            read -r verdict why < <(judge_test "$suite" "$name" "$command" "$deadline")
        fi
        printf '%-8s %-34s %s\n' "$verdict" "$name" "$why"
        sed -i "s,^missed *$name\( .*\)\?$,$verdict $name," "$results"
        [[ $verdict != passed ]] || unsteady+=" $name"
    done
}

# close_results SUITE RESULTS WHOLE: the closing lines; remembers what was unsteady, where all tests ran (WHOLE is not
# empty). Fails if a test failed, or none ran.
close_results() {
    local suite=$1 results=$2 whole=$3 skipped unjudged commit
    skipped=$(of skipped "$results" | sort | paste -sd' ')
    unjudged=$(of unjudged "$results" | paste -sd' ')
    if [[ $whole ]]; then
        mkdir -p "$(dirname "$unsteady_file")"
        commit=$(git rev-parse --short HEAD 2>/dev/null) || commit=-
        echo "$(date -u +%FT%TZ) $commit $suite:$unsteady" >>"$unsteady_file"
    fi
    [[ -z $skipped ]] || echo "nettape: skipped, for the reasons above: $skipped"
    [[ -z $unjudged ]] || echo "unjudged: $unjudged"
    [[ -z $unsteady ]] || echo "unsteady:$unsteady"
    sum_of_results "" "$results"
    [[ -z $(of FAILED "$results") && -s $results ]]
}

# sum_of_results HEAD RESULTS...: "HEAD" and "N passed, N failed, N skipped"
sum_of_results() {
    awk -v head="$1" '{ n[$1]++ } END { printf "%s%d passed, %d failed, %d skipped\n", head, n["passed"], n["FAILED"],
        n["skipped"] + n["unjudged"] }' "${@:2}"
}
