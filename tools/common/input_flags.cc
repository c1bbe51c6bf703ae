// Flags of inputs; second names are those of XLA's run_hlo_module and hlo_runner_main.
#include <limits>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "support/status.h"
#include "tools/common/command.h"
#include "tools/common/inputs.h"

namespace hlokit {
namespace {

// Whether both ends are finite and in order.
template <typename T>
bool IsRange(const std::vector<T>& range) {
  const auto low = static_cast<double>(range[0]), high = static_cast<double>(range[1]);
  return range[0] <= range[1] && high - low <= std::numeric_limits<double>::max() && low == low;
}

}  // namespace

void AddInputFlags(CLI::App& app, InputOptions& o) {
  app.add_option("--input,--input-literals-file", o.inputs,
                 "npz, safetensors, npy, txt (an HLO literal), pb (LiteralProto, "
                 "RunHloModuleLiterals) or bin (raw); repeatable, in parameter order")
      ->type_name("FILE");
  app.add_option("--weights-map", o.weights_map,
                 "a JSON object {\"parameter\": \"array\"}: which arrays of .npz and .safetensors "
                 "inputs the parameters are")
      ->type_name("FILE");
  app.add_flag("--use-large-float-range", o.large_floats,
               "random floats of all magnitudes that their type has");
  app.add_flag("--random-init-input-literals", o.random_inputs, "false: inputs are zeros");
  app.add_option_function<std::string>(
         "--hlo-argument-mode",
         [&o](const std::string& mode) {
           o.random_inputs = mode == "use_random_inputs" || mode == "use_shared_random_inputs";
           o.shared_inputs = mode == "use_shared_random_inputs";
           o.normal_inputs = mode == "use_random_normal_inputs";
           o.random_inputs |= o.normal_inputs;
           o.device_inputs = mode == "use_device_id_as_input";
         },
         "use_random_inputs, use_random_normal_inputs (of mean 0 and variance 1), "
         "use_shared_random_inputs (the same on each device), use_device_id_as_input, "
         "use_zeros_as_input or uninitialized (zeros)")
      ->check(CLI::IsMember({"use_random_inputs", "use_random_normal_inputs",
                             "use_shared_random_inputs", "use_device_id_as_input",
                             "use_zeros_as_input", "uninitialized"}));
  app.add_option("--seed,--random-seed", o.seed,
                 "of random inputs, the same for every platform and tool");
  app.add_option("--random-float-range", o.float_range, "random floats lie in [a, b)")
      ->delimiter(',')
      ->expected(2);
  app.add_option("--random-int-range", o.int_range, "random integers lie in [a, b]")
      ->delimiter(',')
      ->expected(2);
  app.add_option(
         "--elided-constants", o.elided_constants,
         "what constant({...}) stands for: refuse, zeros, random, or what XLA's reader takes (xla)")
      ->check(CLI::IsMember({"refuse", "zeros", "random", "xla"}))
      ->envname("HLOKIT_ELIDED_CONSTANTS");
}

std::vector<std::string> InputFlags(const InputOptions& o) {
  const InputOptions usual;
  std::vector<std::string> flags;
  const auto add = [&](absl::string_view flag, const auto& value) {
    flags.push_back(ShellWord(absl::StrCat(flag, "=", value)));
  };
  for (const std::string& file : o.inputs) add("--input", file);
  if (!o.weights_map.empty()) add("--weights-map", o.weights_map);
  if (o.seed != usual.seed) add("--seed", o.seed);
  if (o.float_range != usual.float_range)
    add("--random-float-range", absl::StrJoin(o.float_range, ","));
  if (o.int_range != usual.int_range) add("--random-int-range", absl::StrJoin(o.int_range, ","));
  if (o.large_floats) add("--use-large-float-range", "true");
  if (o.device_inputs) {
    add("--hlo-argument-mode", "use_device_id_as_input");
  } else if (!o.random_inputs) {
    add("--random-init-input-literals", "false");
  }
  if (o.normal_inputs) add("--hlo-argument-mode", "use_random_normal_inputs");
  if (o.shared_inputs) add("--hlo-argument-mode", "use_shared_random_inputs");
  if (o.elided_constants != usual.elided_constants) add("--elided-constants", o.elided_constants);
  return flags;
}

absl::Status CheckInputOptions(const InputOptions& o) {
  const char* wrong = !IsRange(o.float_range) ? "--random-float-range"
                      : !IsRange(o.int_range) ? "--random-int-range"
                                              : nullptr;
  if (wrong == nullptr) return absl::OkStatus();
  return InvalidArgument(wrong, ": expected two finite numbers, the lower one first");
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
