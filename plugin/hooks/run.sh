#!/bin/sh
# run.sh SCRIPT [WORD...]: starts a hook script in Node, or, when words are given, only if the hook's input holds
# one of them: a tool call that is none of ours must not pay for starting Node. src/start.ts does the same in Node
# where there is no shell.
LC_ALL=C
start=${0%/*}/start.cjs
script=$1
shift

# NODE_OPTIONS and OPENSSL_CONF are taken out because a repository's settings can set them, and code that they load
# could answer for us; NODE_EXTRA_CA_CERTS because reading certificates can take longer than the hook, which opens no
# connection.
run() {
  if [ -f "$start" ] && command -v node >/dev/null 2>&1; then
    NODE_OPTIONS= OPENSSL_CONF=/dev/null NODE_EXTRA_CA_CERTS= exec node "$start" "$script"
  fi
  # A spawn that nobody can judge is refused, also by hosts that know no onFailure; nothing else is.
  why="spawn-guard cannot run: node is not on the PATH of Claude Code, or the plugin is not built"
  case $script in
    pre-tool-use-agent.cjs) echo "$why. Subagents are refused until that is mended; do the work yourself." >&2; exit 2 ;;
    session-start.cjs) echo "{\"systemMessage\": \"$why. Subagents are refused until that is mended.\"}" ;;
  esac
  exit 0
}

if [ $# -eq 0 ]; then run; fi
# A shell may warn of bytes that it drops, NULs. Without cat (127) nothing has been read, and Node decides.
{ input=$(cat); } 2>/dev/null || [ $? -ne 127 ] || run
found=
# Letters that are written as escapes may spell any of the words.
case $input in *'\u00'[2-7]*) found=yes ;; esac
for word do
  case $input in *"$word"*) found=yes ;; esac
done
# A here-document adds a line feed, which JSON does not mind, and saves a process.
if [ -n "$found" ]; then
  run <<INPUT
$input
INPUT
fi
