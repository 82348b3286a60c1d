#!/bin/bash
# supervisor.sh FOLDER : first process of a simulated Windows host, in its own namespaces. Sets up network and files, boots
# Wine, serves SSH, and boots again when shutdown.exe asks for it. Its settings are in FOLDER/settings.
set -u
folder=$1
. "$folder/settings"
export WINEPREFIX=$folder/prefix XDG_RUNTIME_DIR=/run/wine HOME=/root LC_ALL=C.UTF-8
lab=$WINEPREFIX/drive_c/lab/host

# Pauses for so many seconds, without a process: it does so twenty times a second.
exec {pause}<> <(:)
pause() { read -rt "$1" -u "$pause"; }

# Wine takes its name from Linux, so a new name in the registry is taken over here, at boot as on Windows.
set_name() {
  local parameters='System\\\\ControlSet001\\\\Services\\\\Tcpip\\\\Parameters' wanted=
  [ ! -e "$folder/boots" ] || wanted=$(sed -n "/^\[$parameters\]/,/^$/s/^\"Hostname\"=\"\(.*\)\"\$/\1/p" "$WINEPREFIX/system.reg")
  name=${wanted:-$name}
  hostname "$name"
  grep -q " $name\$" "$folder/etc/hosts" || echo "$address $name" >>"$folder/etc/hosts"
}

boot() {
  set_name
  rm -f "$lab/up" "$lab/shutdown.request" "$lab/shutdown.pending" "$folder/down"
  ip link set eth0 up
  ip route replace default via "$gateway"
  # Messages of Wine about functions it lacks go to wine.log.
  WINEDEBUG=$debug "$wine/wine" hostd.exe </dev/null >/dev/null 2>>"$folder/wine.log" &
  hostd=$!
  for turn in $(seq 2400); do [ -s "$lab/up" ] && break || pause 0.05; done
  [ -s "$lab/up" ] || { echo "Wine did not boot within 2 minutes" && exit 1; }
  LD_LIBRARY_PATH=$wine/openssh/usr/lib/x86_64-linux-gnu "$wine/openssh/usr/sbin/sshd" -D -e -f "$folder/sshd_config" 2>>"$folder/sshd.log" &
  sshd=$!
  until (: >"/dev/tcp/$address/22") 2>/dev/null; do
    kill -0 "$sshd" 2>/dev/null || { echo "SSH's server does not run" && exit 1; }
    pause 0.02
  done
}

# Open SSH sessions break off, as they do on Windows; then the registry is written and the cable is pulled until the next boot.
shut_down() {
  : >"$folder/down"
  { kill -KILL "$sshd" $(cat "/proc/$sshd/task/$sshd/children"); wait "$sshd"; } 2>/dev/null
  timeout 10 "$wine/wineserver" -k
  timeout 10 "$wine/wineserver" -w
  wait "$hostd" 2>/dev/null
  ip link set eth0 down
}

# Its own files, network and names.
set_up() {
  mount --make-rprivate /
  mount -t tmpfs none /run
  mkdir -m 755 /run/sshd
  mkdir -m 700 /run/wine
  for file in passwd shadow group hosts resolv.conf; do
    target=$(readlink -m "/etc/$file")
    [ -e "$target" ] || { mkdir -p "${target%/*}" && : >"$target"; }
    mount --bind "$folder/etc/$file" "$target"
  done
  mount --bind "$wine/openssh/usr/lib/openssh" /usr/lib/openssh

  # The link comes from outside, once this process has reported its network namespace.
  : >"$folder/waits-for-link"
  until ip link show eth0 >/dev/null 2>&1; do pause 0.02; done
  rm -f "$folder/waits-for-link"
  ip link set lo up
  ip addr add "$address/24" dev eth0
}

# A function, so that the shell has read all of it before it waits: the file may be edited meanwhile.
main() {
  local boots
  boots=$(cat "$folder/boots" 2>/dev/null || echo 0)
  set_up
  while :; do
    boot
    boots=$((boots + 1))
    echo "$boots" >"$folder/boots.new" && mv "$folder/boots.new" "$folder/boots"
    echo "boot $boots"
    while [ -e "/proc/$hostd" ] && [ ! -e "$lab/shutdown.request" ]; do pause 0.05; done
    request=$(cat "$lab/shutdown.request" 2>/dev/null || echo "restart by Wine")
    echo "down: $request"
    shut_down
    [ "$request" = off ] && exec sleep infinity
    sleep "$boot_delay"
  done
}
main
