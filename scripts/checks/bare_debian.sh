#!/usr/bin/env bash
# bare_debian.sh DEBS [ROOT]: installs the packages of scripts/release.sh in the folder DEBS into a bare Debian 12 (debootstrap's
# minbase, made in ROOT where that is no such root yet; default a temporary folder) and tries there, by chroot, what they promise:
# hlo-run runs a module, `man hlo-run` has a page, bash completes flags, pkg-config's flags build a program with the C interface,
# neovim opens a module with our colours, python3 imports hlokit. Needs root and Debian's archive. Prints a line a check and ends
# with 1 where one fails.
set -euo pipefail
debs=$(realpath "${1:?usage: bare_debian.sh DEBS [ROOT]}")
root=$(realpath -m "${2:-$(mktemp -d)}")
failed=0

[[ -x $root/usr/bin/apt-get ]] || debootstrap --variant=minbase bookworm "$root" http://deb.debian.org/debian > "$root.log" 2>&1
cp /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/packages"
mkdir "$root/packages"
cp "$debs"/*.deb "$root/packages"
mount --bind /proc "$root/proc"
trap 'umount "$root/proc"' EXIT

inside() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# check NAME PATTERN COMMAND: a shell command inside ends with 0, and its output holds the pattern.
check() {
  local output status=0
  output=$(inside bash -c "$3" 2>&1) || status=$?
  if ((status == 0)) && grep -qE -- "$2" <<< "$output"; then
    echo "ok      $1"
  else
    echo "FAILED  $1: exit status $status, or no $2 in"
    head -20 <<< "$output"
    failed=1
  fi
}

inside apt-get update -qq
inside apt-get install -y -qq --no-install-recommends man-db bash-completion pkg-config g++ neovim > "$root/packages/tools.log" 2>&1
inside bash -c 'apt-get install -y -qq --no-install-recommends /packages/*.deb' > "$root/packages/install.log" 2>&1 ||
  { tail -20 "$root/packages/install.log"; exit 1; }

cat > "$root/packages/m.hlo" << 'END'
HloModule m
ENTRY e {
  p = f32[2]{0} constant({1, 2})
  ROOT t = f32[2]{0} multiply(p, p)
}
END
cat > "$root/packages/c.c" << 'END'
extern const void* GetPjrtApi(void);
int main(void) { return GetPjrtApi() == 0; }
END

for tool in hlo-run hlo-opt hlo-diff hlo-reduce hlo-cost hlo-aot hlo-viz hlo-gen hlo-lsp run_hlo_module interactive_graphviz; do
  check "$tool --version" "hlokit" "$tool --version"
done
check "hlo-run runs a module" '\{1, 4\}' "hlo-run /packages/m.hlo"
check "run_hlo_module compares" "agree" "run_hlo_module --platform=CPU /packages/m.hlo"
check "hlo-viz draws" "<svg" "hlo-viz /packages/m.hlo -o /packages/m.svg; head -c 600 /packages/m.svg"
check "hlo-aot compiles" "m.o" "hlo-aot /packages/m.hlo --name=m -o /packages/m.o; ls /packages"
check "topologies are found" "h100-pod" "hlo-opt --list-topologies"
for page in hlo-run hlo-opt run_hlo_module; do
  check "man $page" "reference.platform|--passes" "man -P cat $page"
done
for flag in "hlo-run --ref" "run_hlo_module --ref"; do
  check "bash completes $flag" "reference.platform" "source /usr/share/bash-completion/bash_completion
    COMP_WORDS=($flag); COMP_CWORD=1; COMP_LINE='$flag'; COMP_POINT=\${#COMP_LINE}
    _completion_loader \${COMP_WORDS[0]}
    \$(complete -p \${COMP_WORDS[0]} | sed 's/.*-F \\([^ ]*\\).*/\\1/') \${COMP_WORDS[0]} --ref ''
    printf '%s\\n' \"\${COMPREPLY[@]}\""
done
check "pkg-config hlokit" "^[0-9]" "pkg-config --modversion hlokit"
check "a C program links" "linked" "cd /packages && gcc c.c \$(pkg-config --cflags --libs hlokit) -o c && ./c && echo linked"
check "pkg-config hlokit-runtime" "-lhlokit_runtime" "pkg-config --libs hlokit-runtime"
check "an AOT program links" "linked" "cd /packages && hlo-aot m.hlo --name=m -o m.o --header=m.h && printf '#include \"m.h\"\nint main() { return 0; }\n' > a.cc &&
  g++ -std=c++20 \$(pkg-config --cflags hlokit-runtime) a.cc m.o \$(pkg-config --libs hlokit-runtime) -o a && ./a && echo linked"
check "neovim knows the file type" "filetype=hlo" "mkdir -p ~/.config/nvim && cp -r /usr/share/hlokit/editors/vim/* ~/.config/nvim/ &&
  nvim --headless /packages/m.hlo +'set filetype?' +qa"
check "the VS Code extension" "package.json" "ls /usr/share/hlokit/editors/vscode"
check "python3 runs a module" "^ran .*4" "python3 -c 'import hlokit
print(\"ran\", hlokit.Module.load(\"/packages/m.hlo\").compile()())'"
exit $failed
# SPDX-License-Identifier: Apache-2.0
