#!/bin/sh
# run.sh SCRIPT [WORD...]: starts a hook script in Node, or, when words are given, only if the hook's input holds
# one of them: a tool call that is none of ours must not pay for starting Node.
# NODE_OPTIONS is emptied because a repository's settings can set it, and a preloaded module could answer for us.
LC_ALL=C
script=${0%/*}/$1
shift
if [ $# -eq 0 ]; then
  NODE_OPTIONS= exec node "$script"
fi
input=$(cat && echo x)
for word do
  case $input in
    *"$word"*)
      printf '%s' "${input%x}" | NODE_OPTIONS= node "$script"
      exit
      ;;
  esac
done
