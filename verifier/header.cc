// The module line: entry layout, aliasing of inputs and outputs, buffer donors, device counts.
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "ops/dim_lists.h"
#include "verifier/verifier_internal.h"

namespace hlokit {
namespace {

// Where the text's HloModule line names `key`; no place for modules that were not read from text.
SourcePlace PlaceOf(const VerifyRun& run, absl::string_view key) {
  if (run.module.source() == nullptr) return {};
  const absl::string_view text = run.module.source()->text();
  const size_t line = text.find("HloModule");
  if (line == absl::string_view::npos) return {};
  const size_t at = text.find(key, line);
  if (at == absl::string_view::npos || at > text.find('\n', line)) return {};
  return {static_cast<uint32_t>(at), static_cast<uint32_t>(key.size())};
}

// [entry-c1] the stated layout has the entry's parameters and result; [entry-c2] layouts are
// permutations.
void CheckEntryLayout(VerifyRun& run) {
  const Computation& entry = *run.module.entry();
  if (!run.module.header().entry_layout) return;
  const EntryLayout& stated = *run.module.header().entry_layout;
  if (static_cast<int64_t>(stated.parameters.size()) != entry.parameter_count()) {
    run.out.Error(entry.place(), "entry-c1", "entry_computation_layout has ",
                  stated.parameters.size(), " parameters, but ", entry.name(), " has ",
                  entry.parameter_count());
    return;
  }
  for (int64_t p = 0; p < entry.parameter_count(); ++p)
    if (!Compatible(stated.parameters[p], entry.parameter(p)->shape()))
      run.Error(*entry.parameter(p), "entry-c1", "entry_computation_layout has ",
                Text(stated.parameters[p]), " for parameter ", p, ", found ",
                Text(entry.parameter(p)->shape()));
  if (!Compatible(stated.result, entry.root()->shape()))
    run.Error(*entry.root(), "entry-c1", "entry_computation_layout has ", Text(stated.result),
              " as result, found ", Text(entry.root()->shape()));
}

void CheckStatedLayouts(VerifyRun& run, const Shape& shape) {
  for (const Shape& element : shape.elements) CheckStatedLayouts(run, element);
  if (!shape.has_layout) return;
  const DimVector order(shape.layout.minor_to_major.begin(), shape.layout.minor_to_major.end());
  if (!IsPermutation(order, shape.rank()))
    run.out.Error(PlaceOf(run, "entry_computation_layout"), "entry-c2",
                  "entry_computation_layout: layout ", ListText(order),
                  " is not a permutation of the dimensions of ", Text(shape));
}

// The array at `index` of parameter `number`, or null.
const Shape* ParameterPart(const Computation& entry, int64_t number, const ShapeIndex& index) {
  if (number < 0 || number >= entry.parameter_count()) return nullptr;
  return SubShape(entry.parameter(number)->shape(), index);
}

std::string PartText(int64_t number, const ShapeIndex& index) {
  return absl::StrCat("(", number, ", ", ListText(index), ")");
}

// [alias-c1] the output exists; [alias-c2] the parameter exists; [alias-c3] neither is aliased
// twice; [alias-c4] both take the same space. [donor-c1] a donor exists; [donor-c2] once, and is
// not aliased as well.
void CheckAliases(VerifyRun& run) {
  const Computation& entry = *run.module.entry();
  absl::flat_hash_set<std::string> outputs, parameters;
  auto fail = [&](absl::string_view label, const auto&... parts) {
    const bool donor = absl::StartsWith(label, "donor");
    run.out.Error(PlaceOf(run, donor ? "buffer_donor" : "input_output_alias"), label, parts...);
  };
  for (const InputOutputAlias& alias : run.module.header().aliases) {
    const std::string output = ListText(alias.output);
    const std::string parameter = PartText(alias.parameter, alias.parameter_index);
    const Shape* to = SubShape(entry.root()->shape(), alias.output);
    const Shape* from = ParameterPart(entry, alias.parameter, alias.parameter_index);
    if (to == nullptr) {
      fail("alias-c1", "input_output_alias: no output ", output, " in ",
           Text(entry.root()->shape()));
    } else if (from == nullptr) {
      fail("alias-c2", "input_output_alias: no parameter ", parameter);
    } else if (!outputs.insert(output).second || !parameters.insert(parameter).second) {
      fail("alias-c3", "input_output_alias: output ", output, " or parameter ", parameter,
           " is aliased twice");
    } else if (!run.options.for_passes &&
               (from->IsArray() != to->IsArray() || from->ByteSize() != to->ByteSize())) {
      fail("alias-c4", "input_output_alias: output ", output, " is ", Text(*to), ", but parameter ",
           parameter, " is ", Text(*from));
    }
  }
  for (const BufferDonor& donor : run.module.header().donors) {
    const std::string parameter = PartText(donor.parameter, donor.index);
    if (ParameterPart(entry, donor.parameter, donor.index) == nullptr) {
      fail("donor-c1", "buffer_donor: no parameter ", parameter);
    } else if (!parameters.insert(parameter).second) {
      fail("donor-c2", "buffer_donor: parameter ", parameter, " is donated or aliased already");
    }
  }
}

}  // namespace

void CheckHeader(VerifyRun& run) {
  const ModuleHeader& header = run.module.header();
  if (header.replica_count < 1 || header.num_partitions < 1)
    run.out.Error(PlaceOf(run, header.replica_count < 1 ? "replica_count" : "num_partitions"),
                  "module-c4", "replica_count=", header.replica_count,
                  " and num_partitions=", header.num_partitions, " must be positive");
  if (header.entry_layout) {
    for (const Shape& shape : header.entry_layout->parameters) CheckStatedLayouts(run, shape);
    CheckStatedLayouts(run, header.entry_layout->result);
  }
  CheckEntryLayout(run);
  CheckAliases(run);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
