# bash completion for lossproof; written by: lossproof completion bash
# Also of bash 3.2, which macOS has: no mapfile, and compopt only where there is one.
_lossproof() {
  local raw=${COMP_WORDS[COMP_CWORD]} at word value prefix kind='' quote=''
  local words=()
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    if [[ ${COMP_WORDS[at]} == -- ]]; then
      _lossproof_behind "$((at + 1))"
      return
    fi
  done
  # bash cuts words at = and :, the program does not.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word=${COMP_WORDS[at]}
    if ((${#words[@]} > 0)) && [[ $word == [=:] || ${COMP_WORDS[at - 1]} == [=:] ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  [[ $raw == [=:] ]] && raw=''
  word=${words[${#words[@]} - 1]}
  prefix=${word%"$raw"}
  [[ $raw == [\'\"]* ]] && quote=${raw:0:1}
  words[${#words[@]} - 1]=$prefix${raw#"$quote"}
  while IFS=$'\t' read -r value _; do
    if [[ -z $kind ]]; then
      kind=$value
      continue
    fi
    value=${value#"$prefix"}
    [[ -z $quote && $value == *[!A-Za-z0-9_./,=:@%+-]* ]] && printf -v value %q "$value"
    COMPREPLY+=("$value")
  done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]}" 2>/dev/null)
  if [[ $kind == :folders ]]; then
    compopt -o dirnames 2>/dev/null
  elif [[ $kind == :files ]] && ((${#COMPREPLY[@]} == 0)); then
    compopt -o default 2>/dev/null
  elif [[ $kind == :files ]]; then
    while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "${raw#"$quote"}")
    compopt -o filenames 2>/dev/null
  fi
}

# The trainer's command: as if it stood alone, where bash-completion is there to do it.
_lossproof_behind() {
  local offset
  for offset in _comp_command_offset _command_offset; do
    if declare -F "$offset" >/dev/null; then
      "$offset" "$1"
      return
    fi
  done
  if ((COMP_CWORD == $1)); then
    while IFS= read -r offset; do COMPREPLY+=("$offset"); done < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
  fi
  compopt -o default 2>/dev/null
}

if type compopt >/dev/null 2>&1; then
  complete -F _lossproof lossproof
else
  complete -o default -F _lossproof lossproof
fi
