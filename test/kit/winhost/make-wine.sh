#!/bin/bash
# make-wine.sh FOLDER : puts Wine 10 and OpenSSH's server into FOLDER, from Debian packages that are unpacked but not installed:
# no program of the machine changes and no SSH server starts. Needs root and apt. Download 125 MB, disk 750 MB, 20 s where the compiler is there already.
# Wine comes from Debian 13 with the libraries it needs, so that it runs on Debian 12 beside the libraries of that one.
# Progress goes to the error output. Two runs at once do not do the work twice: the second waits for the first.
set -euo pipefail
folder=$(readlink -m "$1")
start=$(date +%s)
say() { echo "winhost: $* ($(($(date +%s) - start)) s)" >&2; }
fail() { echo "winhost: $1" >&2; exit 1; }

mkdir -p "$(dirname "$folder")"
exec 9>"$(dirname "$folder")/winhost.lock"
flock --nonblock 9 || { say "another run is making Wine; waiting for it"; flock 9; }
[ -x "$folder/wine" ] && exit 0

command -v apt-get >/dev/null || fail "apt-get is missing: the Windows lab needs Debian 12 or newer"
[ "$(id -u)" = 0 ] || fail "not root: run 'sudo $0 $folder' once"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
[ -e "$keys" ] || fail "$keys is missing: the Windows lab needs Debian 12 or newer"
mirror=$(grep -hoE '^URIs: \S+' /etc/apt/sources.list.d/debian.sources 2>/dev/null | head -1 | cut -d' ' -f2 || true)
[ -n "$mirror" ] || mirror=$(grep -hE '^deb ' /etc/apt/sources.list 2>/dev/null | grep -oE 'https?://\S+' | head -1 || true)
[ -n "$mirror" ] || fail "neither /etc/apt/sources.list.d/debian.sources nor /etc/apt/sources.list names a Debian mirror"

# What is missing on the machine and harmless to install. The lists of a new machine are empty.
[ -n "$(find /var/lib/apt/lists -name '*_Packages*' -print -quit 2>/dev/null)" ] || apt-get update -qq
missing=()
command -v x86_64-w64-mingw32-gcc >/dev/null || missing+=(gcc-mingw-w64-x86-64-win32)
command -v ssh >/dev/null && command -v ssh-keygen >/dev/null || missing+=(openssh-client)
command -v ip >/dev/null || missing+=(iproute2)
command -v unshare >/dev/null || missing+=(util-linux)
if [ ${#missing[@]} -gt 0 ]; then
  say "installing ${missing[*]}"
  log=$(mktemp)
  { apt-get install -y --no-install-recommends "${missing[@]}" ||
    { apt-get update -qq && apt-get install -y --no-install-recommends "${missing[@]}"; }; } >"$log" 2>&1 ||
    { tail -5 "$log" >&2; fail "apt-get cannot install ${missing[*]}: the Debian mirror must be reachable"; }
  rm -f "$log"
fi

partial=$folder.partial
rm -rf "$partial"
mkdir -p "$partial/root" "$partial/patchelf" "$partial/openssh" "$partial/download/lists/partial" "$partial/download/wine" "$partial/download/openssh"
trap 'rm -rf "$partial"' EXIT

say "downloading Wine 10 from Debian 13"
cat >"$partial/download/both.sources" <<SOURCES
Types: deb
URIs: $mirror
Suites: trixie bookworm
Components: main
Signed-By: $keys
SOURCES
apt=(apt-get -qq -o "Dir::Etc::sourcelist=$partial/download/both.sources" -o Dir::Etc::sourceparts=/dev/null
  -o "Dir::State::lists=$partial/download/lists" -o "Dir::Cache=$partial/download/cache" -o APT::Sandbox::User=root)
packages=(libwine wine64 libc6 libgcc-s1 libunwind8 libgnutls30t64 libp11-kit0 libidn2-0 libunistring5 libtasn1-6 libnettle8t64
  libhogweed6t64 libgmp10 libffi8 libfreetype6 libfontconfig1 libexpat1 fonts-wine zlib1g libpng16-16t64 libbrotli1 libbz2-1.0
  liblzma5 libz-mingw-w64)
cd "$partial/download/wine"
{ "${apt[@]}" update && "${apt[@]}" download "${packages[@]/%//trixie}" patchelf/bookworm; } >"$partial/download/apt.log" 2>&1 ||
  { tail -5 "$partial/download/apt.log" >&2; fail "Wine cannot be downloaded: the Debian mirror must be reachable"; }
# The second line adds what openssh-server depends on and this machine lacks.
cd "$partial/download/openssh"
mkdir partial
{ apt-get -qq -o APT::Sandbox::User=root download openssh-server openssh-sftp-server &&
  apt-get -qq -y -o "Dir::Cache::archives=$PWD" -o Debug::NoLocking=1 -o APT::Sandbox::User=root install --download-only \
    --no-install-recommends openssh-server; } >"$partial/download/apt.log" 2>&1 ||
  { tail -5 "$partial/download/apt.log" >&2; fail "openssh-server cannot be downloaded: the Debian mirror must be reachable"; }

say "unpacking"
for package in "$partial"/download/wine/*.deb; do
  case $package in */patchelf_*) dpkg -x "$package" "$partial/patchelf" ;; *) dpkg -x "$package" "$partial/root" ;; esac
done
for package in "$partial"/download/openssh/*.deb; do dpkg -x "$package" "$partial/openssh"; done
lacking=$(LD_LIBRARY_PATH=$partial/openssh/usr/lib/x86_64-linux-gnu ldd "$partial/openssh/usr/sbin/sshd" | grep 'not found' || true)
[ -z "$lacking" ] || fail "OpenSSH's server lacks libraries on this machine:$lacking"
cd "$partial/root/usr"
library=lib/x86_64-linux-gnu
rm -rf "$library/wine/i386-windows" share/doc share/man share/wine/applications
# Its own loader and libraries, by the names they will have in the end.
for program in wine64 wineserver64; do
  "$partial/patchelf/usr/bin/patchelf" --set-interpreter "$folder/root/usr/$library/ld-linux-x86-64.so.2" --force-rpath \
    --set-rpath "$folder/root/usr/$library" "lib/wine/$program"
done
# Wine's server looks for its tables in share/wine/wine, where the packages do not put them.
ln -s . share/wine/wine
# What installing libwine does: mark this library as one of Wine's own.
zlib=x86_64-w64-mingw32/lib/zlib1.dll
{ head -c 64 "$zlib"; printf 'Wine builtin DLL'; head -c 16 /dev/zero; tail -c +97 "$zlib"; } >"$library/wine/x86_64-windows/zlib1.dll"

cat >lib/wine/wineserver <<SERVER
#!/bin/sh
exec $folder/root/usr/lib/wine/wineserver64 -p0 "\$@"
SERVER
cat >"$partial/wineserver" <<SERVER
#!/bin/sh
exec $folder/root/usr/lib/wine/wineserver64 "\$@"
SERVER
cat >"$partial/wine" <<LOADER
#!/bin/sh
export WINELOADER=$folder/root/usr/lib/wine/wine64 WINESERVER=$folder/root/usr/lib/wine/wineserver64
export WINEDLLPATH=$folder/root/usr/$library/wine WINEARCH=win64 WINEDEBUG=\${WINEDEBUG:--all} DISPLAY=
export FONTCONFIG_FILE=$folder/fonts.conf
exec \$WINELOADER "\$@"
LOADER
# Wine does not start without fonts; those of the machine are none of its business.
echo "<fontconfig><dir>$folder/root/usr/share/wine/fonts</dir></fontconfig>" >"$partial/fonts.conf"
chmod +x lib/wine/wineserver "$partial/wineserver" "$partial/wine"
rm -rf "$partial/download" "$partial/patchelf"
mv "$partial" "$folder"
"$folder/wine" --version >/dev/null || { rm -rf "$folder"; fail "Wine was unpacked but does not run on this machine"; }
say "Wine is ready"
