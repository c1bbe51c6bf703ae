#!/usr/bin/env bash
# wheel_test.sh WHEEL [--bare]: installs the wheel into a virtual environment and runs what it brings; with --bare (as root,
# debootstrap) into a bare Debian 12, where nothing of hlokit's build is at hand.
set -euo pipefail
wheel=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What is run inside; $1: the folder of python and the tools.
cat > "$work/try.sh" << 'TRY'
set -euo pipefail
bin=$1
cd "$(dirname "$0")"
printf 'HloModule t\nENTRY e { x = f32[3] parameter(0)  ROOT y = f32[3] exponential(x) }\n' > t.hlo
"$bin/python3" -c 'import hlokit, numpy; assert (hlokit.Module.load("t.hlo")(numpy.zeros(3, "float32")) == 1).all()'
"$bin/hlo-run" t.hlo --reference-platform=interpreter > /dev/null
"$bin/hlo-run" t.hlo --platform=ptx-sim > /dev/null
"$bin/hlo-opt" --passes=algsimp t.hlo | grep -q exponential
"$bin/hlo-opt" --stage=asm t.hlo | grep -q globl
"$bin/hlo-opt" --stage=ptx t.hlo | grep -q .visible
"$bin/hlo-viz" t.hlo -o t.svg && grep -q exponential t.svg
"$bin/hlo-aot" t.hlo --name=t -o t.a --format=static --header=t.h
"$bin/hlo-aot" t.hlo --name=t -o t.o --header=t.h --target-triple=aarch64-linux-gnu
"$bin/hlo-diff" t.hlo t.hlo > /dev/null
TRY

if [[ ${2:-} == --bare ]]; then
  root=$work/root
  debootstrap --variant=minbase --include=python3-numpy,python3-pip bookworm "$root" > "$work/log" || { tail "$work/log"; exit 1; }
  mount -t proc proc "$root/proc"
  trap 'umount "$root/proc"; rm -rf "$work"' EXIT
  cp "$wheel" "$work/try.sh" "$root/tmp/"
  begin=$(date +%s%N)
  chroot "$root" pip install -q --root-user-action=ignore --break-system-packages --no-deps "/tmp/$(basename "$wheel")"
  chroot "$root" ln -sf /usr/bin/python3 /usr/local/bin/python3
  chroot "$root" bash /tmp/try.sh /usr/local/bin
  echo "bare Debian 12: installed and run in $((($(date +%s%N) - begin) / 1000000)) ms"
  exit
fi
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q "$wheel"
bash "$work/try.sh" "$work/venv/bin"
# Nothing is taken from outside but what every Linux has.
package=$("$work/venv/bin/python3" -c 'import hlokit, os; print(os.path.dirname(hlokit.__file__))')
if ldd "$package"/bin/hlokit "$package"/lib/*.so | grep '=>' | grep -v "$package" |
    grep -Ev 'lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so'; then
  echo "wheel_test.sh: these libraries lie outside the wheel" >&2
  exit 1
fi
echo "$(basename "$wheel"): all tools run"
# SPDX-License-Identifier: Apache-2.0
