#!/bin/sh
# guard.sh FOLDER : reads process ids from its input, one a line. When the input ends, the process that started the cluster is gone,
# in good order or by a crash: kill what is left of those processes and remove the folder.
# A process belongs to the run only while its command line names the folder, so a number that was used again is safe.
folder=$1
pids=
while read -r pid; do pids="$pids $pid"; done
for pid in $pids; do
  if tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "$folder"; then kill -9 "$pid" 2>/dev/null; fi
done
# A process that is being killed may still write; a second try is enough.
rm -rf "$folder" 2>/dev/null || { sleep 1; rm -rf "$folder"; }
