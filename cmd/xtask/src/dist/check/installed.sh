#!/bin/sh
# Installs a package in an empty root without a network, uses it, and removes it.
# Usage: installed.sh INSTALL REMOVE
set -eu

fail() {
  echo "$*" >&2
  exit 1
}

# The files of the system. Databases of packages, manual pages and logs may change.
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /var/lib/dpkg -o -path /var/lib/rpm -o -path /usr/lib/sysimage -o -name .rpmdb \
    -o -path /var/cache -o -path /var/log -o -path /files-before -o -path /files-after \) -prune -o -print | sort
}

# The words that bash offers for a command line, whose last word is incomplete.
candidates() {
  bash -c '
    . /usr/share/bash-completion/bash_completion
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_TYPE=9 COMP_KEY=9
    COMP_POINT=${#COMP_LINE}
    __load_completion "$1"
    function=$(builtin complete -p "$1" | sed "s/.*-F \([^ ]*\) .*/\1/")
    "$function" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
    printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

files > /files-before
$1

capstan --version | grep -q '^capstan [0-9]' || fail 'capstan prints no version'
kubectl-capi --version > /dev/null
[ "$(readlink -f /usr/bin/clusterctl)" = /usr/bin/capstan ] || fail 'clusterctl is another program'
clusterctl help move | grep -q 'clusterctl move' || fail 'clusterctl shows another name'

# Names resolve by the files of the system, whatever services it is configured to use.
cp -p /etc/hosts /hosts-before 2> /dev/null || true
cp -p /etc/nsswitch.conf /nsswitch-before
echo '127.0.0.1 hub.example' > /etc/hosts
echo 'hosts: mymachines' > /etc/nsswitch.conf
capstan generate yaml --from https://hub.example:9/x.yaml 2>&1 | grep -q 'Connection refused' || fail 'no name resolves'
mv /nsswitch-before /etc/nsswitch.conf
if [ -e /hosts-before ]; then mv /hosts-before /etc/hosts; else rm /etc/hosts; fi

capstan quickstart --quiet < /dev/null > /dev/null
capstan quickstart --remove --quiet < /dev/null > /dev/null
rm -rf "$HOME/.cache" "$HOME/.local" "$HOME/.config"

for program in capstan clusterctl; do
  candidates "$program" move --to-dir | grep -q -e '--to-directory' || fail "bash completes no flag of $program"
done
man --pager=cat capstan-move | grep -q -e '--to-kubeconfig' || fail 'the page of capstan-move lacks a flag'
man --where clusterctl > /dev/null
man --where kubectl-capi > /dev/null

$2

files > /files-after
cmp -s /files-before /files-after || fail "files stay: $(comm -3 /files-before /files-after | head -20)"
