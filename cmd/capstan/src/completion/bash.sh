_clap_complete_NAME() {
    # bash splits words at the characters of COMP_WORDBREAKS, such as `:` and `=`. Join them.
    local rest="${COMP_LINE:0:COMP_POINT}" at count=0 word behind
    local words=()
    for ((at = 0; at <= COMP_CWORD; at++)); do
        behind="${rest#"${rest%%[![:space:]]*}"}"
        word="${COMP_WORDS[at]}"
        ((at == COMP_CWORD)) && word="$behind"
        if ((count > 0)) && [[ "$behind" == "$rest" ]]; then
            words[count - 1]+="$word"
        else
            words[count]="$word"
            count=$((count + 1))
        fi
        rest="${behind#"$word"}"
    done
    local IFS=$'\013'
    COMPREPLY=($(
        _CLAP_IFS="$IFS" _CLAP_COMPLETE_INDEX=$((count - 1)) VARIABLE=bash "PROGRAM" -- "${words[@]}"
    ))
    if [[ $? != 0 ]]; then
        unset COMPREPLY
        return
    fi
    local breaks="" current="${words[count - 1]}"
    [[ "$COMP_WORDBREAKS" == *:* ]] && breaks+=":"
    [[ "$COMP_WORDBREAKS" == *=* ]] && breaks+="="
    if [[ -n "$breaks" ]]; then
        # The line already contains the part up to the last separator.
        COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*["$breaks"]}"}"}")
    fi
    if ((${#COMPREPLY[@]} == 1)) && [[ "${COMPREPLY[0]}" != *[=/:] ]]; then
        compopt +o nospace 2> /dev/null
    fi
}
if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -o nospace -o bashdefault -o nosort -F _clap_complete_NAME PROGRAM
else
    complete -o nospace -o bashdefault -F _clap_complete_NAME PROGRAM
fi
