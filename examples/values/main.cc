// Reads values from texts, works with them, and prints them; shows where an error points.
#include <iostream>
#include <string>
#include <vector>

#include "parser/parser.h"
#include "printer/printer.h"
#include "types/literal_text.h"

namespace {

using hlokit::Text;
const std::string& Text(const std::string& text) { return text; }  // some values are kept as text

bool all_good = true;

// Prints what `value` holds, or the error with the place it points at.
template <typename T>
void Show(const char* what, absl::string_view text, const absl::StatusOr<T>& value) {
  if (value.ok()) {
    std::cout << what << ": " << Text(*value) << "\n";
    return;
  }
  all_good = false;
  std::cout << hlokit::RenderStatus(value.status(), hlokit::SourceFile(what, std::string(text)));
}

#define SHOW(function, text) Show(#function, text, hlokit::function(text))

}  // namespace

int main() {
  SHOW(ParseShape, "(f32[2,<=3]{1,0}, token[])");
  SHOW(ParseLayout, "{1,0:T(8,128)S(1)}");
  SHOW(ParseLiteral, "f32[2,2] { { 1, -inf }, { nan, 1e-45 } }");
  SHOW(ParseLiteral, "f32[<=3](2) {1, 2}");  // two elements of at most three
  SHOW(ParseSharding, "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
  SHOW(ParseReplicaGroups, "[2,4]<=[4,2]T(1,0)");
  SHOW(ParseDomain, "{kind=\"sharding\", entry={replicated}, exit={maximal device=0}}");
  SHOW(ParseWindow, "size=3x3 stride=2x2 pad=0_1x0_1");
  SHOW(ParsePaddingConfig, "0_1x2_2_1");
  SHOW(ParseConvolutionDimensionNumbers, "b01f_01io->b01f");
  SHOW(ParseSlice, "{[0:2], [1:9:2]}");
  SHOW(ParseShapeIndex, "{0,1}");
  SHOW(ParseEntryLayout, "(f32[2]{0}, s32[])->f32[2]{0}");
  SHOW(ParseInputOutputAliases, "{{1}: (0, {}, may-alias)}");
  SHOW(ParseBufferDonors, "{(1, {0})}");
  SHOW(ParseOutputAliases, "{{0}: (1, {})}");
  SHOW(ParseSourceTargetPairs, "{{0,1},{1,0}}");
  SHOW(ParseBooleans, "{true,false}");
  SHOW(ParseResultAccuracy, "{tolerance={atol=0,rtol=0.001,ulps=2}}");
  SHOW(ParseSparsityConfig, "{lhs={sparsity=2x4 dimension=1 stride=1}}");
  SHOW(ParseMetadata, "{op_name=\"jit(f)/add\" source_line=3}");
  SHOW(ParseFrontendAttributes, "{a=\"b\",c={d=1}}");
  SHOW(ParseStatistics, "{visualizing_index=0,flops=1.5}");
  SHOW(ParseOrigin, "{{\"a\" {0}}}");
  if (!all_good) return 1;

  // Values are plain structs.
  const auto groups = hlokit::ParseReplicaGroups("[2,4]<=[4,2]T(1,0)");
  const std::vector<std::vector<int64_t>> lists = groups->Expand();
  std::cout << "first group:";
  for (const int64_t device : lists[0]) std::cout << " " << device;
  const auto literal = hlokit::ParseLiteral("s32[3] {5, 6, 7}");
  std::cout << "\nlast element: " << literal->as<int32_t>()[2] << "\n";

  SHOW(ParseShape, "f32[2,oops]");  // ParseShape:1:7: error: ...
  return all_good ? 1 : 0;
}
// SPDX-License-Identifier: Apache-2.0
