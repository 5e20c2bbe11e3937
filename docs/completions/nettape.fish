# SPDX-License-Identifier: GPL-2.0-only
#
# Completion for fish, installed under the name of each program. The program says what a word may become:
# nettape-report --complete WORD...
function __nettape_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] $last 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path (string replace -r -- '^--[^=]*=' '' $last)
            case :directories
                __fish_complete_directories (string replace -r -- '^--[^=]*=' '' $last)
            case :commands
                __fish_complete_command
            case '*'
                echo $line
        end
    end
end
complete -c (string replace .fish '' (status basename)) -f -a '(__nettape_complete)'
