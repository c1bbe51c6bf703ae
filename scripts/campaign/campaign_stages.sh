#!/usr/bin/env bash
# Random modules of every stage: CPU against interpreter (hlokit_backends_cpu_test) and every pass, pipeline and random lists
# (hlokit_passes_test), in parallel on seeds of which none is used twice. Needs bash, coreutils, grep and the two programs alone.
#
# Usage: campaign_stages.sh BIN PROCESSES FIRST_SEED SECONDS [FOLDER]
#   BIN     folder of hlokit_backends_cpu_test and hlokit_passes_test (build/release/bin)
#   SECONDS of the clock; then everything is stopped (what a stopped process had done is counted)
#   FOLDER  ./campaign_stages by default; must be new or empty:
#     lines.tsv    a line for each run: program, stage, seeds, modules done, result (ok, slow, failed, crashed, hung, stopped), seconds
#     summary.tsv  a line for each program and stage: modules, failing seeds
#     failing/PROGRAM_STAGE_SEED/  output, the module, repeat.sh;  failing/runs/ the whole output of runs with failures
# Environment: STAGES="fused tpu" and PROGRAMS="cpu passes" choose; CPU_MODULES=60, PASSES_MODULES=60 modules a run; HANG=240
# seconds after which one run is given up; HLOKIT_RANDOM_WAYS=1 (the default) compiles each module once, with or without passes in
# turn, 2 compiles it twice. The next free seed is printed at the end. Exit status 1: something failed.
set -u
export HLOKIT_RANDOM_WAYS=${HLOKIT_RANDOM_WAYS:-1}
if (($# < 4)); then sed -n '2,15s/^# \{0,1\}//p' "$0" >&2; exit 2; fi
bin=$(cd "$1" && pwd) || exit 2
processes=$2 first=$3 deadline=$((EPOCHSECONDS + $4))
folder=${5:-campaign_stages}
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 2
[[ -z $(ls -A "$folder") ]] || { echo "campaign_stages: $folder is not empty" >&2; exit 2; }
mkdir -p "$folder"/{claims,tmp,failing/runs}
: > "$folder/lines.tsv"

declare -A program=([cpu]=$bin/hlokit_backends_cpu_test [passes]=$bin/hlokit_passes_test)
declare -A modules=([cpu]=${CPU_MODULES:-60} [passes]=${PASSES_MODULES:-60})
read -ra programs <<< "${PROGRAMS:-cpu passes}"
for p in "${programs[@]}"; do [[ -x ${program[$p]} ]] || { echo "campaign_stages: no ${program[$p]}" >&2; exit 2; }; done
stages=${STAGES:-$("${program[${programs[0]}]}" --gtest_list_tests --gtest_filter='Random/StagesTest.*' | grep -oE '^ +[A-Za-z]+/[a-z_0-9]+' | grep -oE '[a-z_0-9]+$')}
kinds=()
for s in $stages; do for p in "${programs[@]}"; do kinds+=("$p $s"); done; done
((${#kinds[@]})) || { echo "campaign_stages: no stages" >&2; exit 2; }
stride=${modules[cpu]}; ((modules[passes] > stride)) && stride=${modules[passes]}  # seeds set aside for a run

# one_run PROGRAM STAGE SEED COUNT TMP LIMIT: runs the test, its output in TMP/output; its exit status
one_run() {
  mkdir -p "$5"
  HLOKIT_RANDOM_STAGE=$2 HLOKIT_RANDOM_SEED=$3 HLOKIT_RANDOM_MODULES=$4 TEST_TMPDIR=$5/ \
    timeout -s KILL "$6" "${program[$1]}" --gtest_filter='RandomModulesSlowTest.*' > "$5/output" 2>&1
} 2> /dev/null  # where bash tells of children that died

# keep PROGRAM STAGE SEED OUTPUT [MODULE]: the folder of a failing seed
keep() {
  local at=$folder/failing/$1_$2_$3
  mkdir -p "$at"
  cp "$4" "$at/output"
  [[ -n ${5:-} && -e $5 ]] && cp "$5" "$at/module.hlo"
  printf '#!/bin/sh\n# Usage: repeat.sh BIN\nHLOKIT_RANDOM_STAGE=%s HLOKIT_RANDOM_SEED=%s HLOKIT_RANDOM_MODULES=1 exec "$1/%s" --gtest_filter="RandomModulesSlowTest.*"\n' \
    "$2" "$3" "${program[$1]##*/}" > "$at/repeat.sh"
  chmod +x "$at/repeat.sh"
}

# The seed that a run was at: gtest's temporary folder holds it (/tmp with a gtest that does not read TEST_TMPDIR).
seed_of() {
  local name=random_current_seed_$2
  [[ $1 == passes ]] && name=passes_current_seed_$2
  local file=$3/$name
  [[ -e $file ]] || file=/tmp/$name
  local stage seed rest
  if [[ -e $file ]]; then read -r stage seed rest < "$file"; fi
  echo "${seed:-$2}"
}

# run_range PROGRAM STAGE FIRST COUNT: goes on behind a module that crashed or hung
run_range() {
  local p=$1 stage=$2 from=$3 end=$(($3 + $4)) tmp rc left limit at seeds seed start result done
  while ((from < end && EPOCHSECONDS < deadline)); do
    tmp=$folder/tmp/$p.$stage.$from
    start=$EPOCHSECONDS
    left=$((deadline - EPOCHSECONDS)) limit=${HANG:-240}
    ((left < limit)) && limit=$left
    one_run "$p" "$stage" "$from" $((end - from)) "$tmp" "$limit"
    rc=$?
    done=$((end - from)) result=ok at=$end
    if ((rc > 1)); then  # killed, or died by a signal
      at=$(seed_of "$p" "$from" "$tmp") done=$((at - from))
      if ((rc != 137)); then result=crashed; elif ((EPOCHSECONDS >= deadline)); then result=stopped; else result=hung; fi
      # a busy machine may have been slow: only a module that hangs alone too is a finding
      if [[ $result == hung ]]; then
        ((left = deadline - EPOCHSECONDS, left > limit)) && left=$limit
        if ((left > 1)) && one_run "$p" "$stage" "$at" 1 "$tmp.alone" "$left"; then result=slow done=$((done + 1)); fi
        ((EPOCHSECONDS >= deadline)) && [[ $result == hung ]] && result=stopped
        rm -rf "$tmp.alone"
      fi
    elif ((rc == 1)); then
      result=failed
    fi
    # what failed before the end of this run, whatever its end was
    seeds=$(grep -oE "(random_${stage}_|random_)[0-9]+\.hlo" "$tmp/output" | grep -oE '[0-9]+\.hlo' | grep -oE '[0-9]+' | sort -un)
    [[ -n $seeds && $result == stopped ]] && result=failed,stopped
    [[ -n $seeds && $result == slow ]] && result=failed,slow
    if [[ $result != ok && $result != stopped && $result != slow ]]; then
      { cat "$tmp/output"; echo "exit status $rc at seed $at"; } > "$folder/failing/runs/$p.$stage.$from"
      [[ $result == crashed || $result == hung ]] && keep "$p" "$stage" "$at" "$folder/failing/runs/$p.$stage.$from"
      for seed in $seeds; do
        keep "$p" "$stage" "$seed" "$tmp/output" "$(ls "$tmp"/*random_*"$seed".hlo /tmp/*random_*"$seed".hlo 2>/dev/null | head -1)"
        ((left = deadline - EPOCHSECONDS, left > 1)) || continue
        one_run "$p" "$stage" "$seed" 1 "$tmp.$seed" $((left < 120 ? left : 120))
        (($? == 0)) && echo "alone it passes" >> "$tmp.$seed/output"
        keep "$p" "$stage" "$seed" "$tmp.$seed/output" "$(ls "$tmp.$seed"/*random_*.hlo 2>/dev/null | head -1)"
        rm -rf "$tmp.$seed"
      done
    fi
    printf '%s\t%s\t%s-%s\t%s\t%s\t%s\n' "$p" "$stage" "$from" $((from + done - 1)) "$done" "$result${seeds:+ $(echo $seeds)}" \
      $((EPOCHSECONDS - start)) >> "$folder/lines.tsv"
    rm -rf "$tmp"
    from=$((at + 1))
    ((at >= end)) && from=$end
  done
}

worker() {
  local k p stage
  for ((k = 0; EPOCHSECONDS < deadline; ++k)); do
    mkdir "$folder/claims/$k" 2>/dev/null || continue
    read -r p stage <<< "${kinds[k % ${#kinds[@]}]}"
    run_range "$p" "$stage" $((first + k * stride)) "${modules[$p]}"
  done
}

for ((w = 0; w < processes; ++w)); do worker & done
wait
claimed=$(ls "$folder/claims" | sort -n | tail -1)
while read -r p stage; do
  total=0
  while IFS=$'\t' read -r a b _ n _; do [[ $a == "$p" && $b == "$stage" ]] && total=$((total + n)); done < "$folder/lines.tsv"
  bad=$(cd "$folder/failing" && ls -d "${p}_${stage}_"* 2>/dev/null | grep -oE '[0-9]+$' | tr '\n' ' ')
  printf '%s\t%s\t%s modules\t%s\n' "$p" "$stage" "$total" "${bad:+failing: $bad}"
done < <(printf '%s\n' "${kinds[@]}") > "$folder/summary.tsv"
rm -rf "$folder/claims" "$folder/tmp"
cat "$folder/summary.tsv"
echo "next free seed: $((first + (claimed + 1) * stride))"
! grep -q 'failing:' "$folder/summary.tsv"
# SPDX-License-Identifier: Apache-2.0
