#!/bin/sh
# real-pod.sh FOLDER PROGRAM ARGS... : runs a program with the files of a pod, in its own mount namespace: those of its
# service account, and names that only the servers of FOLDER/resolv.conf know.
set -eu
folder=$1
shift
mount -t tmpfs none /run
mkdir -p /run/secrets/kubernetes.io
mkdir /run/secrets/kubernetes.io/serviceaccount
mount --bind "$folder/serviceaccount" /run/secrets/kubernetes.io/serviceaccount
for file in hosts resolv.conf; do
  target=$(readlink -m "/etc/$file")
  [ -e "$target" ] || { mkdir -p "${target%/*}" && : >"$target"; }
  mount --bind "$folder/$file" "$target"
done
exec "$@"
