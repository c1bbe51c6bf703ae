// JAX's cumsum of f32[64,4096] along its rows:
//
//   reduce-window(x, 0), window={size=1x4096 pad=0_0x4095_0}, to_apply=add     64 rows of 4096
//
// Dimensions of size one may stand behind the scanned one. Cost: that of looking at the window.
#include "analysis/row_scan.h"

#include "ir/computation.h"
#include "ops/evaluate/reducer.h"

namespace hlokit {
namespace {

constexpr int64_t kLeast = 128, kShortRow = 8192, kManyRows = 64, kLongest = 1 << 16;

// Of any length.
std::optional<RowScan> AnyRowScanOf(const Instruction& i) {
  if (i.opcode() != Opcode::kReduceWindow || !i.shape().IsArray() || i.operand_count() != 2)
    return std::nullopt;
  const Shape& from = i.operand(0)->shape();
  if (from.HasDynamicDims() || from.type != i.shape().type || from.dims != i.shape().dims ||
      !from.IsRowMajor() || !i.shape().IsRowMajor() || from.ElementCount() == 0)
    return std::nullopt;
  if (!IsInteger(from.type) && from.type != ElementType::kF32 && from.type != ElementType::kF64)
    return std::nullopt;
  if (IsSubByte(from.type)) return std::nullopt;
  const Window& window = i.attr<WindowAttrs>().window;
  int64_t scanned = from.rank() - 1;
  while (scanned > 0 && from.dims[scanned] == 1) --scanned;
  for (int64_t d = 0; d < from.rank(); ++d)
    if (d != scanned && window[d] != WindowDim()) return std::nullopt;
  if (scanned < 0) return std::nullopt;
  RowScan scan{from.ElementCount() / from.dims[scanned], from.dims[scanned]};
  WindowDim forward, backward;
  forward.size = backward.size = scan.length;
  forward.pad_low = backward.pad_high = scan.length - 1;
  scan.reverse = window[scanned] == backward;
  if (!scan.reverse && window[scanned] != forward) return std::nullopt;
  const std::optional<Opcode> combiner = SimpleReducer(*i.to_apply());
  const Instruction& start = *i.operand(1);
  if (!combiner || !start.IsConstant() || start.literal() == nullptr ||
      !IsIdentityElement(*start.literal(), *combiner) || scan.length < kLeast)
    return std::nullopt;
  return scan;
}

bool FitsKernel(const RowScan& scan) {
  return scan.length <= kShortRow || (scan.rows >= kManyRows && scan.length <= kLongest);
}

}  // namespace

std::optional<RowScan> RowScanOf(const Instruction& i) {
  const std::optional<RowScan> scan = AnyRowScanOf(i);
  return scan && FitsKernel(*scan) ? scan : std::nullopt;
}

bool IsLongRowScan(const Instruction& i) {
  const std::optional<RowScan> scan = AnyRowScanOf(i);
  return scan && !FitsKernel(*scan);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
