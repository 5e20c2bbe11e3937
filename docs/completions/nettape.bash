# SPDX-License-Identifier: GPL-2.0-only
#
# Completion for bash. The programs say what a word may become: nettape-report --complete WORD...
_nettape() {
    local line='' word prefix='' i
    local -a words=()
    # bash cuts a word at = and : and completes what is behind; the programs know whole words.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ ${#words[@]} -gt 0 && ($word == [=:]* || ${words[-1]} == -*=) ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    [[ ${words[-1]} != -*=* ]] || prefix=${words[-1]%%=*}=
    COMPREPLY=()
    while read -r line; do
        case $line in
        :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${words[-1]#"$prefix"}") ;;
        :directories) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${words[-1]#"$prefix"}") ;;
        :commands) mapfile -t COMPREPLY < <(compgen -c -- "${words[-1]}") ;;
        *)
            line=${line%%$'\t'*}
            COMPREPLY+=("${line#"$prefix"}")
            ;;
        esac
    done < <("$1" --complete "${words[@]}" 2>/dev/null)
}
complete -F _nettape nettape-record nettape-report nettape-serve
