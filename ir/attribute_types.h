// Values that attributes hold: windows, dimension numbers, device groups and the like.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/enums.h"
#include "support/shared_text.h"
#include "types/literal.h"
#include "types/shape.h"

namespace hlokit {

// A word of a list that XLA extends often (a dot's algorithm): checked by the readers.
struct RawText {
  std::string text;
  bool operator==(const RawText&) const = default;
};

// One dimension of a window: `window={size=3x3 stride=2x2 pad=0_1x0_1 rhs_reversal=1x0}`, which may
// have `lhs_dilate=` and `rhs_dilate=` too.
struct WindowDim {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t pad_low = 0;  // may be negative (crops)
  int64_t pad_high = 0;
  // lhs_dilate: zeros (or init values) between operand elements, plus one
  int64_t base_dilation = 1;
  int64_t window_dilation = 1;  // rhs_dilate
  bool reversal = false;
  bool operator==(const WindowDim&) const = default;
};
using Window = std::vector<WindowDim>;

// `dim_labels=b01f_01io->b01f`.
struct ConvDims {
  int64_t input_batch = 0, input_feature = 0;
  DimVector input_spatial;
  int64_t kernel_input_feature = 0, kernel_output_feature = 0;
  DimVector kernel_spatial;
  int64_t output_batch = 0, output_feature = 0;
  DimVector output_spatial;
  bool operator==(const ConvDims&) const = default;
};

// `padding=0_1x2_2_1`: low_high[_interior] a dimension.
struct PaddingDim {
  int64_t low = 0, high = 0, interior = 0;
  bool operator==(const PaddingDim&) const = default;
};
using PaddingConfig = std::vector<PaddingDim>;

// `slice={[0:2], [1:9:2]}`.
struct SliceDim {
  int64_t start = 0, limit = 0, stride = 1;
  bool operator==(const SliceDim&) const = default;
};
using SliceSpec = std::vector<SliceDim>;

// `replica_groups=`: lists {{0,1},{2,3}}, iota [2,4]<=[4,2]T(1,0), or a mesh kept as text besides
// its expansion.
struct ReplicaGroups {
  enum class Form : uint8_t { kLists, kIota, kMesh };
  Form form = Form::kLists;
  std::vector<std::vector<int64_t>> lists;  // kLists
  DimVector iota_dims;                      // kIota: groups x members
  DimVector reshape_dims, transpose_perm;   // kIota; transpose_perm empty: identity
  std::string mesh_text;                    // kMesh
  // The groups spelled out (kMesh: as resolved by the reader, in `lists`).
  std::vector<std::vector<int64_t>> Expand() const;
  bool empty() const { return form == Form::kLists && lists.empty(); }
  bool operator==(const ReplicaGroups&) const = default;
};

using IntPairs = std::vector<std::pair<int64_t, int64_t>>;  // source_target_pairs={{0,1},{1,0}}

// One entry of output_to_operand_aliasing={{0}: (1, {})}.
struct OutputAlias {
  ShapeIndex output;
  int64_t operand = 0;
  ShapeIndex operand_index;
  bool operator==(const OutputAlias&) const = default;
};

// How exact an elementwise function is to be: `{mode=highest}`, or a bound on its error,
// `{tolerance={atol=0.1,rtol=0,ulps=2}}`.
struct ResultAccuracy {
  enum class Kind : uint8_t { kDefault, kHighest, kTolerance };
  Kind kind = Kind::kDefault;
  double atol = 0, rtol = 0;  // kTolerance: absolute and relative to the exact result
  int64_t ulps = 0;           // kTolerance: in units of the result's last place
  bool operator==(const ResultAccuracy&) const = default;
};

// Of every `block_size` elements along a dimension `num_non_zero` are kept: `{sparsity=2x4
// dimension=1 stride=3}`.
struct OperandSparsity {
  int64_t num_non_zero = 0, block_size = 0, dimension = 0, stride = 0;
  bool operator==(const OperandSparsity&) const = default;
};

// `sparsity_config={lhs={..} rhs={..}}`.
struct SparsityConfig {
  std::optional<OperandSparsity> lhs, rhs;
  bool operator==(const SparsityConfig&) const = default;
};

// `metadata={op_type="..." op_name="..." source_file="..." source_line=3 ...}`.
struct OpMetadata {
  SharedText op_type, op_name, source_file, deduplicated_name, scheduling_name;
  int64_t source_line = 0, source_end_line = 0, source_column = 0, source_end_column = 0;
  int64_t stack_frame_id = 0;
  int64_t size_of_generated_code_in_bytes = 0, size_of_memory_working_set_in_bytes = 0;
  SharedText profile_type;      // text of profile_type={1}, braces included, where given
  SharedText metadata_payload;  // unquoted and unescaped
  SharedText others;            // parts that this version does not know, as text
  bool operator==(const OpMetadata&) const = default;
};

// A constant's value. Shared: equal constants may point at one literal. A literal that was elided
// in the text
// (`constant({...})`) is null.
using SharedLiteral = std::shared_ptr<const Literal>;

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
