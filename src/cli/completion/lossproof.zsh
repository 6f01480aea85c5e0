#compdef lossproof
# zsh completion for lossproof; written by: lossproof completion zsh
_lossproof() {
  local -a lines entries
  local line says command kind at=${words[(i)--]}
  if (( at < CURRENT )); then
    shift $at words
    (( CURRENT -= at ))
    _normal
    return
  fi
  command=${${(Q)words[1]}/#\~\//$HOME/}
  lines=("${(@f)$("$command" __complete "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}")
  kind=$lines[1]
  for line in "${(@)lines[2,-1]}"; do
    says=${line#*$'\t'}
    entries+=("${${line%%$'\t'*}//:/\\:}${says:+:$says}")
  done
  (( $#entries )) && _describe -t lossproof lossproof entries
  if [[ $kind == :files || $kind == :folders ]]; then
    [[ $PREFIX == --*=* ]] && compset -P '*='
    if [[ $kind == :folders ]]; then _files -/; else _files; fi
  fi
}

if [[ $funcstack[1] == _lossproof ]]; then
  _lossproof "$@"
else
  compdef _lossproof lossproof
fi
