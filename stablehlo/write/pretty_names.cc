// Values counted region by region.
#include "stablehlo/write/pretty_names_internal.h"

#include <set>
#include <vector>

#include "absl/strings/str_cat.h"

namespace hlokit {
namespace {

class NameGiver {
 public:
  ValueNames Take(const MlirOperation& function) {
    for (const MlirRegion& region : function.regions) NameRegion(region, function, {});
    return std::move(names_);
  }

 private:
  // The next numbers in a region; regions of one operation begin with the same ones.
  struct Counters {
    int64_t value = 0, argument = 0, conflict = 0;
    std::set<std::string> taken;
  };

  static std::string Unique(std::string name, Counters& counters) {
    const std::string base = name;
    while (!counters.taken.insert(name).second) name = absl::StrCat(base, "_", counters.conflict++);
    return absl::StrCat("%", name);
  }

  // The names that MLIR's operations give their own results.
  static std::vector<std::string> OwnNames(const MlirOperation& op) {
    if (op.name == "stablehlo.constant") {
      const Shape& shape = op.results[0].type->shape;
      return {IsFloat(shape.type) || IsComplex(shape.type) ? "cst" : "c"};
    }
    if (op.name == "stablehlo.batch_norm_grad")
      return {"grad_operand", "grad_scale", "grad_offset"};
    if (op.name == "stablehlo.batch_norm_training") return {"output", "batch_mean", "batch_var"};
    if (op.name == "stablehlo.rng_bit_generator") return {"output_state", "output"};
    if (op.name == "chlo.top_k") return {"values", "indices"};
    return {};
  }

  void NameResults(const MlirOperation& op, Counters& counters) {
    const std::vector<std::string> own = OwnNames(op);
    if (own.size() == op.results.size()) {
      for (size_t k = 0; k < own.size(); ++k) names_[op.results[k].id] = Unique(own[k], counters);
      return;
    }
    const std::string name = absl::StrCat("%", counters.value++);
    for (size_t k = 0; k < op.results.size(); ++k)
      names_[op.results[k].id] = op.results.size() == 1 ? name : absl::StrCat(name, "#", k);
  }

  // All of a region first, then the regions inside.
  void NameRegion(const MlirRegion& region, const MlirOperation& parent, Counters counters) {
    for (const auto& block : region.blocks) {
      for (const MlirValue& value : block->arguments)
        names_[value.id] = parent.name == "stablehlo.while"
                               ? Unique("iterArg", counters)
                               : absl::StrCat("%arg", counters.argument++);
      for (const auto& op : block->operations)
        if (!op->results.empty()) NameResults(*op, counters);
    }
    for (const auto& block : region.blocks)
      for (const auto& op : block->operations)
        for (const MlirRegion& inner : op->regions) NameRegion(inner, *op, counters);
  }

  ValueNames names_;
};

}  // namespace

ValueNames NamesOfFunction(const MlirOperation& function) { return NameGiver().Take(function); }

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
