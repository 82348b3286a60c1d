#!/bin/bash
# make-template.sh WINE FOLDER : makes drive C and the registry of a bare Windows Server 2022, from which hosts are cloned.
# Needs root. 10 s, 770 MB, once. Two runs at once do not do the work twice.
set -euo pipefail
wine=$1
folder=$(readlink -m "$2")
here=$(dirname "$(readlink -f "$0")")
exec 9>"$(dirname "$folder")/winhost.lock"
flock 9
[ -d "$folder" ] && exit 0
[ "$(id -u)" = 0 ] || { echo "winhost: not root: run 'sudo $0 $*' once" >&2; exit 1; }
echo "winhost: making the template of a Windows host" >&2
partial=$folder.partial
rm -rf "$partial"
mkdir -p "$partial"
export WINEPREFIX=$partial WINEDEBUG=-all LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=$partial.runtime HOME=$partial.runtime
mkdir -p -m 700 "$XDG_RUNTIME_DIR"
trap 'rm -rf "$partial" "$partial.runtime" "$partial.passwd" "$partial.reg" "$partial.log"' EXIT

# Programs of which the double is wanted although Wine has one of the same name.
overrides=$(while read -r program; do printf '"%s.exe"="native"\n' "$program"; done <"$here/doubles/unexpected.txt")
server='HKEY_LOCAL_MACHINE\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
# winekeeper has the highest tag so that it is the first service to start. The devices below ROOT\WINE cannot start here.
cat >"$partial.reg" <<REG
REGEDIT4

[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\winekeeper]
"DisplayName"="winekeeper"
"ImagePath"="C:\\\\windows\\\\system32\\\\hostd.exe service"
"ObjectName"="LocalSystem"
"ErrorControl"=dword:00000001
"Start"=dword:00000002
"Tag"=dword:ffffffff
"Type"=dword:00000010

[-HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Enum\\ROOT\\WINE]

[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Control]
"AutoStartDelay"=dword:000003e8

[HKEY_CURRENT_USER\\Software\\Wine\\Drivers]
"Graphics"="null"
"Audio"=""

[HKEY_CURRENT_USER\\Software\\Wine\\WineDbg]
"ShowCrashDialog"=dword:00000000

[HKEY_CURRENT_USER\\Software\\Wine\\DllOverrides]
"shutdown.exe"="native"
"powershell.exe"="native"
"dism.exe"="native"
$overrides

[$server]
"ProductName"="Windows Server 2022 Datacenter"
"CurrentBuild"="20348"
"CurrentBuildNumber"="20348"
"InstallationType"="Server Core"
"UBR"=dword:00000a8c
REG

# Without this, Wine would look for a screen before the lines above are read.
cat >"$partial/user.reg" <<REG
WINE REGISTRY Version 2

#arch=win64

[Software\\\\Wine\\\\Drivers]
"Graphics"="null"
REG

# The user who makes it is the one whose profile and registry it has.
echo 'Administrator:x:0:0:Administrator:/root:/bin/sh' >"$partial.passwd"
# In a process namespace of its own, so that nothing of Wine stays whatever happens.
unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash -euc '
  mount --bind "$2.passwd" /etc/passwd
  timeout 120 "$1/wine" wineboot --init
  "$1/wine" winecfg -v win10
  "$1/wine" regedit /S "Z:$2.reg"
  "$1/wineserver" -w' make-template "$wine" "$partial" >"$partial.log" 2>&1 || { tail -5 "$partial.log" >&2; exit 1; }
rm -f "$partial/wineserver" "$partial"/dosdevices/com*
[ -s "$partial/system.reg" ] || { echo "winhost: Wine did not write its registry" >&2; exit 1; }
mv "$partial" "$folder"
