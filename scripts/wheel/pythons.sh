#!/usr/bin/env bash
# Every Python from 3.9 to 3.14 of this machine, a line each: `3.9 works FILE`, `3.13 broken FILE`, `3.14 absent`. A name in the PATH
# may be a shim of pyenv that starts nothing: the Python that it is for lies in pyenv's own folder, and Debian's in /usr/bin.
set -u
try='import ensurepip, ssl, sys, venv, zlib; print("3.%d" % sys.version_info[1])'
for minor in 9 10 11 12 13 14; do
  found='' broken=''
  for python in "python3.$minor" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"3.$minor".*/bin/python3 "/usr/bin/python3.$minor" "/usr/local/bin/python3.$minor"; do
    file=$(command -v "$python") || continue
    if [ "$("$file" -c "$try" 2>/dev/null)" = "3.$minor" ]; then
      found=$file
      break
    fi
    broken=$file
  done
  if [ -n "$found" ]; then
    echo "3.$minor works $found"
  elif [ -n "$broken" ]; then
    echo "3.$minor broken $broken"
  else
    echo "3.$minor absent"
  fi
done
