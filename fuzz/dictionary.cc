// Collects the words of ops.def, element_types.def, the attribute structs and the enumerations.
#include "fuzz/dictionary.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ir/attributes.h"
#include "ir/enums.h"
#include "types/element_type.h"

namespace hlokit {
namespace {

// Names that the reader knows by itself, and values at the edges of what it takes.
constexpr const char* kOtherWords[] = {
    "HloModule", "ENTRY", "ROOT", "->", "<=", "{...}", "/*index=5*/", "// -----\n", "{}", "()",
    // of the module's line and its tables
    "is_scheduled=true", "entry_computation_layout={(f32[2]{0})->f32[2]{0}}",
    "input_output_alias={ {0}: (0, {}, may-alias) }", "must-alias", "buffer_donor={ (0, {}) }",
    "replica_count=2", "num_partitions=2", "alias_passthrough_params=true",
    "allow_spmd_sharding_propagation_to_parameters={true}",
    "allow_spmd_sharding_propagation_to_output={true,false}", "origin_recovery_table={}",
    "FileNames", "FunctionNames", "FileLocations", "StackFrames",
    "{file_name_id=1 function_name_id=1 line=2 end_line=2 column=3 end_column=4}",
    "{file_location_id=1 parent_frame_id=1}",
    // of every instruction
    "to_apply=", "calls=", "condition=", "body=", "branch_computations={",
    "true_computation=", "false_computation=", "called_computations={",
    "select=", "scatter=", "execution_thread=\"t\"", "metadata={op_name=\"a\" stack_frame_id=1}",
    "op_type=\"b\"", "source_line=3", "profile_type={1}", "backend_config={\"a\":1}",
    "backend_config=\"x\"", "frontend_attributes={a=\"b\"}", "control-predecessors={",
    "statistics={a=1.5}", "origin={{}}",
    // shardings and device groups
    "sharding={replicated}", "{manual}", "{unknown}", "{unreduced}", "{maximal device=1}",
    "devices=[2,2]<=[4]", "[2,2]<=[2,2]T(1,0)", "last_tile_dim_replicate",
    "last_tile_dims={manual}", "shard_as 1", "shard_like 2", "metadata={op_name=\"c\"}",
    "mesh['a'=2,'b'=4]", "device_ids=([4]T(0))", "{{0,1},{2,3}}", "@mesh<a=2,b=2>",
    // windows, convolutions, padding, slices
    "window={size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=2x2 rhs_dilate=2x2 rhs_reversal=1x0}",
    "dim_labels=b01f_01io->b01f", "padding=0_1_2x-1_0", "slice={[0:2], [1:9:2]}",
    "replica_groups={{0,1}}", "source_target_pairs={{0,1},{1,0}}", "dimensions={0,1}",
    "dimensions={}", "iota_dimension=0",
    // shapes, layouts, numbers
    "f32[]", "f32[2,3]{1,0}", "s32[<=4]", "f32[?]", "{1,0:T(8,128)(2,1)S(1)}", "{0:E(4)}",
    "{1,0:D(D,C)}", "{0:L(8)}", "{0:M(2)}", "{0:#(u32)}", "token[]", "opaque[]", "(f32[], s32[2])",
    "inf", "-inf", "nan", "-nan(0x1)", "true", "false", "-0", "1e-45", "0x1p-3",
    "9223372036854775807", "-9223372036854775808", "18446744073709551615", "4294967296", "65536",
    "-1", "I0521 12:04:45.883 123 service.cc:186] "};

template <typename A>
void AddFields(std::vector<std::string>& words) {
  ForEachField<A>([&](const auto& field) { words.push_back(absl::StrCat(field.name, "=")); });
}

std::vector<std::string> Collect() {
  std::vector<std::string> words(std::begin(kOtherWords), std::end(kOtherWords));
#define HLO_OP(enumerator, text, arity, attrs, calls, traits, infer, evaluate, ...) \
  words.push_back(text);                                                            \
  AddFields<attrs>(words);
#include "ir/ops.def"
#undef HLO_OP
#define HLO_TYPE(enumerator, text, number, bits, klass) words.push_back(text);
#include "types/element_types.def"
#undef HLO_TYPE
#define X(enumerator, text) words.push_back(text);
#define HLOKIT_ADD_ENUM(name, rows) rows
  HLOKIT_ENUMS(HLOKIT_ADD_ENUM)
#undef HLOKIT_ADD_ENUM
#undef X
  std::erase(words, "");
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

const std::vector<std::string>& Dictionary() {
  static const auto& words = *new std::vector<std::string>(Collect());
  return words;
}

std::string DictionaryFile() {
  std::string out = "# Words of HLO, written by replay.cc from the tables.\n";
  for (const std::string& word : Dictionary()) {
    out += '"';
    for (const char c : word) {
      if (c == '"' || c == '\\') out += '\\';
      if (c == '\n') {
        out += "\\x0A";
      } else {
        out += c;
      }
    }
    out += "\"\n";
  }
  return out;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
