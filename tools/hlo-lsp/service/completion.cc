// What can stand at the cursor: opcodes behind a shape, names between parentheses, attributes
// behind them, computations behind attributes that call one.
//
//   x = f32[4] ad|          opcodes that begin with `ad`
//   x = f32[4] add(a, |     instructions of this computation, those defined above first
//   ... reduce(a, b), |     attributes of reduce, by kAttributes, and those of every instruction
//   ... to_apply=|          computations
// Only the line up to the cursor is scanned, and the table of computations. At most kMaxItems are
// sent, and the editor is told to ask again where there were more.
#include <algorithm>
#include <array>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "ir/opcode.h"
#include "tools/hlo-lsp/service/features.h"

namespace hlokit {
namespace {

constexpr size_t kMaxItems = 500;
constexpr int kItemFunction = 3, kItemVariable = 6, kItemProperty = 10, kItemModule = 9,
              kItemKeyword = 14;

// Attributes by what they are of; of any opcode where none is named.
struct AttributeName {
  absl::string_view name;
  std::array<absl::string_view, 6> opcodes;
};
constexpr AttributeName kAttributes[] = {
    {"metadata", {}},
    {"sharding", {}},
    {"frontend_attributes", {}},
    {"backend_config", {}},
    {"control-predecessors", {}},
    {"origin", {}},
    {"dimensions", {"broadcast", "reduce", "transpose", "concatenate", "reverse", "sort"}},
    {"dimensions", {"map", "all-gather", "reduce-scatter", "all-to-all"}},
    {"to_apply", {"reduce", "call", "map", "reduce-window", "sort", "scatter"}},
    {"to_apply", {"all-reduce", "reduce-scatter", "scan"}},
    {"calls", {"fusion", "async-start", "call"}},
    {"kind", {"fusion"}},
    {"body", {"while"}},
    {"condition", {"while"}},
    {"branch_computations", {"conditional"}},
    {"true_computation", {"conditional"}},
    {"false_computation", {"conditional"}},
    {"lhs_contracting_dims", {"dot"}},
    {"rhs_contracting_dims", {"dot"}},
    {"lhs_batch_dims", {"dot"}},
    {"rhs_batch_dims", {"dot"}},
    {"operand_precision", {"dot", "convolution"}},
    {"algorithm", {"dot", "rng-bit-generator"}},
    {"window", {"convolution", "reduce-window", "select-and-scatter"}},
    {"dim_labels", {"convolution"}},
    {"feature_group_count", {"convolution"}},
    {"batch_group_count", {"convolution"}},
    {"slice", {"slice"}},
    {"padding", {"pad"}},
    {"index", {"get-tuple-element"}},
    {"direction", {"compare"}},
    {"type", {"compare"}},
    {"iota_dimension", {"iota"}},
    {"dynamic_slice_sizes", {"dynamic-slice"}},
    {"offset_dims", {"gather"}},
    {"collapsed_slice_dims", {"gather"}},
    {"start_index_map", {"gather"}},
    {"slice_sizes", {"gather"}},
    {"index_vector_dim", {"gather", "scatter"}},
    {"update_window_dims", {"scatter"}},
    {"inserted_window_dims", {"scatter"}},
    {"scatter_dims_to_operand_dims", {"scatter"}},
    {"indices_are_sorted", {"gather", "scatter"}},
    {"unique_indices", {"scatter"}},
    {"is_stable", {"sort", "topk"}},
    {"replica_groups",
     {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-broadcast"}},
    {"channel_id",
     {"all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "send"}},
    {"use_global_device_ids", {"all-reduce", "all-gather", "reduce-scatter"}},
    {"source_target_pairs", {"collective-permute"}},
    {"custom_call_target", {"custom-call"}},
    {"api_version", {"custom-call"}},
    {"custom_call_has_side_effect", {"custom-call"}},
    {"called_computations", {"custom-call"}},
    {"fft_type", {"fft"}},
    {"fft_length", {"fft"}},
    {"lower", {"cholesky", "triangular-solve"}},
    {"left_side", {"triangular-solve"}},
    {"unit_diagonal", {"triangular-solve"}},
    {"transpose_a", {"triangular-solve"}},
    {"exponent_bits", {"reduce-precision"}},
    {"mantissa_bits", {"reduce-precision"}},
    {"distribution", {"rng"}},
    {"epsilon", {"batch-norm-training"}},
    {"feature_index", {"batch-norm-training"}},
    {"select", {"select-and-scatter"}},
    {"scatter", {"select-and-scatter"}},
};

class Items {
 public:
  explicit Items(absl::string_view prefix) : prefix_(prefix) {}
  void Add(absl::string_view label, int kind, absl::string_view detail = "") {
    if (!absl::StartsWith(label, prefix_) || !seen_.insert(std::string(label)).second) return;
    if (items_.size() >= kMaxItems) {
      incomplete_ = true;
      return;
    }
    Json item = {{"label", std::string(label)}, {"kind", kind}};
    if (!detail.empty()) item["detail"] = std::string(detail);
    items_.push_back(std::move(item));
  }
  Json Take() { return {{"isIncomplete", incomplete_}, {"items", std::move(items_)}}; }

 private:
  const absl::string_view prefix_;
  std::set<std::string> seen_;
  Json items_ = Json::array();
  bool incomplete_ = false;
};

void AddInstructions(Document& document, const ComputationSpan& in, uint32_t before, Items& items) {
  const TextBuffer& buffer = document.buffer();
  // Those of the lines above, the nearest first.
  for (int64_t line = buffer.LineOf(before) - 1; line >= buffer.LineOf(in.body); --line) {
    const auto definition = ReadDefinition(buffer.Line(line), buffer.LineStart(line));
    if (!definition) continue;
    const auto text_of = [&](TextSpan span) {
      return buffer.text().substr(span.begin, span.end - span.begin);
    };
    items.Add(text_of(definition->name), kItemVariable, text_of(definition->opcode));
  }
}

void AddAttributes(absl::string_view opcode, Items& items) {
  for (const AttributeName& attribute : kAttributes) {
    const auto& of = attribute.opcodes;
    if (of[0].empty() || std::find(of.begin(), of.end(), opcode) != of.end())
      items.Add(attribute.name, kItemProperty, opcode);
  }
}

}  // namespace

Json Completions(Document& document, TextPosition at) {
  const TextBuffer& buffer = document.buffer();
  const uint32_t offset = buffer.OffsetOf(at);
  const uint32_t start = buffer.LineStart(at.line);
  const absl::string_view line = buffer.Line(at.line).substr(0, offset - start);
  size_t word = line.size();
  while (word > 0 && IsNameByte(line[word - 1])) --word;
  Items items(line.substr(word));
  const ComputationSpan* const in = ComputationAt(document.computations(), offset);
  if (in == nullptr || offset < in->body) {
    items.Add("HloModule", kItemKeyword);
    items.Add("ENTRY", kItemKeyword);
    return items.Take();
  }
  const auto definition = ReadDefinition(line, start);
  if (!definition) {
    items.Add("ROOT", kItemKeyword);
    return items.Take();
  }
  size_t before = word;
  while (before > 0 && (line[before - 1] == ' ' || line[before - 1] == '%')) --before;
  const char last = before > 0 ? line[before - 1] : '\n';
  if (definition->opcode.end == 0) {  // `name = f32[2] `
    if (last == ']' || last == '}' || last == ')')
      for (int k = 0; k < kOpcodeCount; ++k) items.Add(Text(static_cast<Opcode>(k)), kItemFunction);
    return items.Take();
  }
  if (last == '=' || (last == '{' && absl::StrContains(line, "_computations={"))) {
    for (const ComputationSpan& span : document.computations())
      if (!(span.name_span == in->name_span)) items.Add(span.name, kItemModule);
    return items.Take();
  }
  int depth = 0;
  for (size_t k = definition->opcode.end - start; k < line.size(); ++k)
    depth += line[k] == '(' ? 1 : line[k] == ')' ? -1 : 0;
  if (depth > 0) {
    AddInstructions(document, *in, offset, items);
  } else if (last == ',') {
    AddAttributes(buffer.text().substr(definition->opcode.begin,
                                       definition->opcode.end - definition->opcode.begin),
                  items);
  }
  return items.Take();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
