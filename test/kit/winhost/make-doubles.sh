#!/bin/bash
# make-doubles.sh FOLDER : compiles the doubles of Windows programs into FOLDER, as a tree that is laid over drive C of every host.
# Two runs at once do not do the work twice.
set -euo pipefail
folder=$(readlink -m "$1")
source=$(dirname "$(readlink -f "$0")")/doubles
exec 9>"$(dirname "$folder")/winhost.lock"
flock 9
[ -d "$folder" ] && exit 0
partial=$folder.partial
rm -rf "$partial"
trap 'rm -rf "$partial"' EXIT
system=$partial/windows/system32
mkdir -p "$system/WindowsPowerShell/v1.0" "$partial/lab/programs"

compile() {
  local target=$1
  shift
  x86_64-w64-mingw32-gcc -std=gnu11 -O2 -s -Wall -Werror -Wno-unused-function -municode -o "$target" "$@"
}
compile "$system/hostd.exe" "$source/hostd.c"
compile "$system/wpump.exe" "$source/wpump.c"
compile "$system/shutdown.exe" "$source/shutdown.c"
compile "$system/dism.exe" "$source/dism.c"
compile "$system/WindowsPowerShell/v1.0/powershell.exe" "$source/powershell.c" -lcrypt32
compile "$system/vmcompute.dll" -shared "$source/vmcompute.c" -lole32 -liphlpapi
compile "$system/hnscall.exe" "$source/hnscall.c" -lole32
compile "$system/routerow.exe" "$source/routerow.c"
compile "$partial/lab/programs/service.exe" "$source/service.c" -lole32
compile "$partial/lab/programs/kube-log-runner.exe" "$source/log-runner.c"
compile "$partial/lab/programs/unexpected.exe" "$source/unexpected.c"
while read -r program; do ln "$partial/lab/programs/unexpected.exe" "$system/$program.exe"; done <"$source/unexpected.txt"
mv "$partial" "$folder"
