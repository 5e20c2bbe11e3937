#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shell completion as `make install` puts it: what the programs say a word may become, and that bash, zsh and fish
# complete by that.
# shellcheck source=tests/cli/lib.sh
source "$(dirname "$0")/lib.sh"
make -s install DESTDIR="$work/root" PREFIX=/usr >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
share=$work/root/usr/share
export PATH=$work/root/usr/bin:$PATH
cd "$work"
mkdir tapes tapes/a.tape tapes/b.tape
touch "tapes/c d.db"

# says PROGRAM WORD... = CANDIDATE...: the last word may become these, and nothing else
says() {
    local program=$1 words=() wanted
    shift
    while [[ $1 != = ]]; do words+=("$1") && shift; done
    shift
    wanted="$*"
    is "$program ${words[*]}" "$("$program" --complete "${words[@]}" | cut -f 1 | tr '\n' ' ' | sed 's/ $//')" "$wanted"
}
says nettape-report sum = summary
says nettape-report ex = export
says nettape-report export p = perfetto prometheus
says nettape-report help export h = html
says nettape-report help ti = timeline
says nettape-report timeline --e = --each-cpu
says nettape-report timeline "" = :files
says nettape-report summary t.tape --by p = program process port peer
says nettape-report latency --by p = program process port
says nettape-report stages --by t = time
says nettape-report stages --owner net_rx,se = net_rx,send
says nettape-report timeline --worst n = network net_rx net_tx
says nettape-report latency --between ip-start udp-socket = udp-socket-enqueued udp-socket-read
says nettape-report flame --user = --user-stacks
says nettape-report query t.tape -f "" = :files
says nettape-report query --symbols "" = :directories
if [[ -x $work/root/usr/bin/nettape-serve ]]; then
    says nettape-serve --li = --listen --limit
    says nettape-serve "" = :directories
    nothing "an argument too many for the server" "$(nettape-serve --complete a "")"
fi
says nettape-record -o x --probes sched,so = sched,softirq sched,socket
says nettape-record --stacks "" = network all
says nettape-record --d = --duration
says nettape-record -- sle = :commands
says nettape-record -- sleep "" = :files
nothing "an argument too many" "$(nettape-report --complete summary a "")"
nothing "SQL" "$(nettape-report --complete query a "")"
nothing "no such command" "$(nettape-report --complete frobnicate "")"
nothing "no word" "$(nettape-report --complete)"
# Each row has its help, but for values.
all "options without help" "$(for command in summary "export html" stages; do
    # shellcheck disable=SC2086  # a command may be two words
    nettape-report --complete $command --
done | awk -F '\t' '{ bad += $2 == "" } END { print NR, bad + 0 }')"

# ask_bash WORD...: what bash's completion has for the last word
ask_bash() {
    # shellcheck disable=SC1090
    source "$share/bash-completion/completions/$1"
    # shellcheck disable=SC2034
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _nettape "$1" 2>/dev/null
    echo "${COMPREPLY[*]}"
}
# in_bash WORD... = CANDIDATE...: bash completes the last word so
in_bash() {
    local words=()
    while [[ $1 != = ]]; do words+=("$1") && shift; done
    shift
    is "bash: ${words[*]}" "$(ask_bash "${words[@]}")" "$*"
}
in_bash nettape-report sum = summary
in_bash nettape-report summary --js = --json
in_bash nettape-report check tapes/ = tapes/a.tape tapes/b.tape "tapes/c d.db"
in_bash nettape-record -o tapes/ = tapes/a.tape tapes/b.tape
in_bash nettape-record -- nettape-rep = nettape-report
# equals WORD... CANDIDATES: the same of words that have a =, with the last argument for what follows it
equals() {
    is "bash: ${*:1:$#-1}" "$(ask_bash "${@:1:$#-1}")" "${*: -1}"
}
equals nettape-report summary --by = "program process port peer cgroup socket iface"
in_bash nettape-report summary x --names tapes/ = tapes/a.tape tapes/b.tape "tapes/c d.db"
equals nettape-report summary --by = pro "program process"
equals nettape-record --output = tapes/ "tapes/a.tape tapes/b.tape"

# typed SHELL COMMAND...: in a terminal, two Tab keys make a whole command of its beginning
typed() {
    local shell=$1
    shift
    has "$shell on a terminal" "$(python3 "$OLDPWD/tests/cli/type.py" 'nettape-report exp\tperf\t; exit' "$@" 2>&1)" \
        "'export perfetto' needs"
}
if ! command -v python3 >/dev/null; then without "python3 is not installed, which types into shells"; else
    printf '%s\n' "PS1='ready> '" "source $share/bash-completion/completions/nettape-report" >bashrc
    typed bash bash --noprofile --rcfile bashrc -i
fi
if ! command -v zsh >/dev/null; then without "zsh is not installed"; elif command -v python3 >/dev/null; then
    printf '%s\n' "PS1='ready> '" "fpath=($share/zsh/site-functions \$fpath)" "autoload compinit" \
        "compinit -u -D" >.zshrc
    ZDOTDIR=$work typed zsh zsh -i
fi
# in_fish LINE = CANDIDATE...
in_fish() {
    local line=$1
    shift 2
    is "fish: $line" "$(HOME=$work fish -c "complete -C '$line'" | cut -f 1 | tr '\n' ' ' | sed 's/ $//')" "$*"
}
if ! command -v fish >/dev/null; then without "fish is not installed"; else
    export XDG_DATA_DIRS=$share:/usr/share
    in_fish "nettape-report sum" = summary
    in_fish "nettape-report summary --js" = --json
    in_fish "nettape-report summary --by=pro" = --by=process --by=program
    in_fish "nettape-report check tapes/" = tapes/a.tape/ tapes/b.tape/ "tapes/c d.db"
    in_fish "nettape-record -o tapes/" = tapes/a.tape/ tapes/b.tape/
fi
finish
