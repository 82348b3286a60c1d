#!/bin/bash
# shell.sh -c COMMAND : login shell of a simulated Windows host. Runs what the SSH client asked for as OpenSSH for Windows does:
# by cmd.exe in the user's profile folder. SSH's server has put the folder of the host into WINHOST.
. "$WINHOST/settings"
export WINEPREFIX=$WINHOST/prefix WINEDEBUG=-all XDG_RUNTIME_DIR=/run/wine HOME=/root LC_ALL=C.UTF-8
command=${2-}
[ -e "$WINHOST/down" ] && exit 255
cd "$WINEPREFIX/drive_c/users/Administrator" || exit 255
unset MAIL SHELL OLDPWD SHLVL

case $command in
'')
  exec "$wine/wine" cmd
  ;;
*sftp-server*)
  # Clients name files C:/k/x or /C:/k/x: a root folder in which drive C has that name.
  exec unshare --mount --propagation private bash -euc '
    root=/run/sftp
    mkdir -p "$root"
    mount -t tmpfs -o mode=755 none "$root"
    cd "$root"
    mkdir C: usr lib lib64 dev etc
    ln -s C: c:
    mount --rbind "$WINEPREFIX/drive_c" C:
    for place in usr lib lib64 dev; do [ ! -e "/$place" ] || mount --rbind "/$place" "$place"; done
    cp /etc/passwd /etc/group etc/
    exec chroot . /usr/lib/openssh/sftp-server -d /'
  ;;
*)
  [ -t 0 ] && exec "$wine/wine" cmd /c "$command"
  # Every process of Wine has the error output of the one that started it, so one that stays in the background would keep the
  # session open. The errors of the command therefore go by a file that is followed while wpump runs.
  errors=/run/wine/errors.$$
  : >"$errors"
  WPUMP_SHELL=$command WPUMP_ERRORS="Z:$errors" "$wine/wine" wpump.exe <&0 2>/dev/null &
  pump=$!
  tail --bytes=+1 --follow --sleep-interval=0.05 --pid="$pump" "$errors" >&2 &
  wait "$pump"
  code=$?
  wait
  rm -f "$errors"
  exit "$code"
  ;;
esac
