#!/bin/sh
# pod.sh ROOTFS ADDRESS MOUNT... -- PROGRAM ARGS... : in namespaces of its own, gives an unpacked image the folders that a
# kubelet gives a pod, makes the rest read-only, and runs a program outside of it. MOUNT is `tmpfs PATH` or
# `bind SOURCE PATH`, as one word.
set -eu
rootfs=$1
ip link set lo up
ip address add "$2/32" dev lo
shift 2
mount --bind "$rootfs" "$rootfs"
# A link could lead out of the image.
inside() {
  target=$(realpath -m "$rootfs$1")
  [ "$target" = "$rootfs$1" ] || { echo "$1 is behind a link" >&2; exit 1; }
}
mount -t proc proc "$rootfs/proc"
mount -t tmpfs -o mode=755 tmpfs "$rootfs/dev"
for device in null zero full random urandom; do
  : >"$rootfs/dev/$device"
  mount --bind "/dev/$device" "$rootfs/dev/$device"
done
while [ "$1" != -- ]; do
  kind=${1%% *}
  path=${1##* }
  source=${1#* }
  source=${source% *}
  inside "$path"
  case $kind in
    tmpfs)
      mkdir -p "$target"
      mount -t tmpfs -o mode=777 tmpfs "$target"
      ;;
    bind)
      if [ -d "$source" ]; then mkdir -p "$target"; else mkdir -p "${target%/*}" && : >"$target"; fi
      mount --bind "$source" "$target"
      mount -o remount,bind,ro "$target"
      ;;
  esac
  shift
done
shift
mount -o remount,bind,ro "$rootfs"
exec "$@"
