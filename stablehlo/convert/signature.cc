// What the attributes of the entry's arguments and results say.
//
//   func.func @main(%x: tensor<8xf32> {tf.aliasing_output = 0 : i32},
//                   %y: tensor<8xf32> {jax.buffer_donor = true}) -> ...
//   ->  input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }
// Shardings and frontend attributes of arguments become those of the parameters. In a program of
// several partitions a sharding of Shardy's is also stated as HLO's, which the partitioner reads.
#include <algorithm>

#include "stablehlo/convert/converter_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

// The attributes of argument or result `i`; empty where it has none.
const MlirAttributes& AttributesAt(const MlirAttribute* all, size_t i) {
  static const auto& kNone = *new MlirAttributes();
  return all == nullptr || i >= all->elements.size() ? kNone : all->elements[i]->fields;
}

absl::Status ConvertArgument(const OpAttributes& attributes, int64_t number, size_t results,
                             Module& module) {
  ModuleHeader& header = module.header();
  if (attributes.Has("tf.aliasing_output")) {
    ASSIGN_OR_RETURN(const int64_t output, attributes.Int("tf.aliasing_output"));
    if (output < 0 || output >= static_cast<int64_t>(results))
      return InvalidArgument("argument ", number, ": there is no result ", output, " to alias");
    InputOutputAlias alias;
    if (results != 1) alias.output = {output};
    alias.parameter = number;
    header.aliases.push_back(std::move(alias));
  }
  ASSIGN_OR_RETURN(const bool donated, attributes.Bool("jax.buffer_donor", false));
  if (donated) header.donors.push_back({number, {}});
  Instruction* parameter = module.entry()->parameter(number);
  RETURN_IF_ERROR(SetExtraAttributes(attributes.all(), *parameter));
  if (header.num_partitions == 1 || !attributes.Has("sdy.sharding") ||
      parameter->sharding() != nullptr || !parameter->shape().IsArray())
    return absl::OkStatus();
  ASSIGN_OR_RETURN(Sharding sharding, StatedSharding(*parameter));
  parameter->mutable_extras().sharding = std::make_unique<Sharding>(std::move(sharding));
  return absl::OkStatus();
}

}  // namespace

absl::Status ConvertSignature(const MlirOperation& entry, Module& module) {
  EntryLayout layout;
  for (const Instruction* parameter : module.entry()->parameters())
    layout.parameters.push_back(parameter->shape());
  layout.result = module.entry()->root()->shape();
  module.header().entry_layout = std::move(layout);
  const MlirAttribute* type = entry.Find("function_type");
  const size_t results = type == nullptr || type->type == nullptr ? 0 : type->type->results.size();
  const MlirAttribute* arguments = entry.Find("arg_attrs");
  for (int64_t i = 0; i < module.entry()->parameter_count(); ++i)
    RETURN_IF_ERROR(
        ConvertArgument(OpAttributes("func.func", AttributesAt(arguments, i)), i, results, module));
  std::sort(module.header().aliases.begin(), module.header().aliases.end(),
            [](const auto& a, const auto& b) { return a.output < b.output; });
  return absl::OkStatus();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
