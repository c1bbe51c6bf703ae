// Operations that libraries of NVIDIA's compute, as the custom calls that XLA's GPU compiler makes
// of them: CUB's radix sorts and sums, cuBLAS's triangular solve.
//   sort(keys)               ->  get-tuple-element(custom-call(keys), index=0)
//   triangular-solve(a, b)   ->  get-tuple-element(custom-call(a, b), index=0)
// The last part of a call's result is its workspace, whose size a later pass finds. Which sorts CUB
// is faster at is a table of measurements by device, as XLA has it.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ops/dim_lists.h"
#include "passes/framework/pass.h"
#include "passes/framework/pass_arguments.h"
#include "passes/gpu/backend_config.h"
#include "passes/rewrite/dead_code.h"
#include "passes/rewrite/expander.h"
#include "passes/rewrite/hlo_writer.h"
#include "passes/rewrite/matchers.h"
#include "types/number_literal.h"

namespace hlokit {
namespace {

constexpr absl::string_view kSortTarget = "__cub$DeviceRadixSortUnassignedScratchSize";
constexpr absl::string_view kScanTarget = "xla.gpu.ext.cub_scan_unassigned_scratch_size";
constexpr absl::string_view kSolveTarget = "__cublas$triangularSolve";

Instruction* AddCall(Rewriter& r, absl::string_view target, Shape result,
                     absl::Span<Instruction* const> operands, const BackendConfig& config) {
  CustomCallAttrs attrs;
  attrs.target = std::string(target);
  Instruction* call = r.Add(Opcode::kCustomCall, result, operands, std::move(attrs));
  call->mutable_extras().backend_config = SharedText(config.Json());
  return call;
}

// ---- sums along a dimension

struct Scan {
  Instruction *input, *seed;
  int64_t dimension, length, columns;
  bool is_reverse;
};

// A running sum along the dimension that is minor-most in memory, of which both results are the
// sums.
std::optional<Scan> ReadScan(const Instruction& i) {
  const auto& attrs = i.attr<ScanAttrs>();
  const Computation& body = *i.to_apply();
  const Instruction* root = body.root();
  if (!attrs.is_associative.value_or(false) || attrs.num_carries != 1 || i.operand_count() != 2 ||
      root->opcode() != Opcode::kTuple || root->operand_count() != 2 ||
      root->operand(0) != root->operand(1) || CombiningOpcode(*root->operand(0)) != Opcode::kAdd ||
      attrs.dimensions.size() != 1)
    return std::nullopt;
  Scan scan{i.operand(0), i.operand(1), attrs.dimensions[0], 0, 1, attrs.is_reverse};
  const Shape& shape = scan.input->shape();
  if (!shape.IsArray() || shape != i.shape().elements[0] || shape.HasDynamicDims() ||
      !(IsFloat(shape.type) || IsInteger(shape.type)))
    return std::nullopt;
  scan.length = shape.dims[scan.dimension];
  bool found = false;
  for (const int64_t d : shape.MinorToMajor()) {
    if (d == scan.dimension) {
      found = true;
    } else if (found) {
      scan.columns *= shape.dims[d];
    } else if (shape.dims[d] != 1) {  // of size 0 too: the call could not tell which is the row
      return std::nullopt;
    }
  }
  return scan.length == 0 ? std::nullopt : std::optional(scan);
}

bool StartsAtZero(const Instruction* seed) {
  const Literal* value = SplatValue(seed);
  return value != nullptr ? IsSplat(seed, 0)
                          : seed->IsConstant() && seed->literal() != nullptr && [&] {
                              for (int64_t k = 0; k < seed->literal()->element_count(); ++k)
                                if (seed->literal()->GetDouble(k) != 0) return false;
                              return true;
                            }();
}

absl::StatusOr<bool> RewriteScan(Instruction* i, Computation& c) {
  const std::optional<Scan> scan = ReadScan(*i);
  if (!scan) return false;
  std::vector<Instruction*> parts;
  bool takes_last = false;
  for (Instruction* user : i->users()) {
    if (user->users().empty() && !user->IsRoot()) continue;
    if (user->opcode() != Opcode::kGetTupleElement) return false;
    takes_last |= user->tuple_index() == 1;
    parts.push_back(user);
  }
  if (parts.empty() || i->IsRoot()) return false;
  Rewriter r(c);
  r.set_subject(i);
  HloWriter w(r);
  BackendConfig config("");
  config.SetInt("vector_length", 1);
  config.SetInt("row_length", scan->length);
  config.SetInt("column_length", scan->columns);
  config.SetText("kind", "SUM");
  config.SetBool("is_reverse", scan->is_reverse);
  const Shape& shape = scan->input->shape();
  Instruction* call =
      AddCall(r, kScanTarget, Shape::Tuple({shape, RowMajor(ElementType::kU8, {0})}), {scan->input},
              config);
  call->mutable_attr<CustomCallAttrs>().operand_layout_constraints = {shape};
  Instruction* sums = w.Part(call, 0);
  if (!StartsAtZero(scan->seed)) {
    DimVector kept;
    for (int64_t d = 0; d < shape.rank(); ++d)
      if (d != scan->dimension) kept.push_back(d);
    sums = r.Add(Opcode::kAdd, shape, {sums, r.Broadcast(scan->seed, shape, kept)});
  }
  Instruction* last = nullptr;
  if (takes_last) {
    const int64_t at = scan->is_reverse ? 0 : scan->length - 1;
    Instruction* end = w.SliceOf(sums, scan->dimension, at, at + 1);
    end->mutable_shape().layout = shape.layout;
    last = r.Reshape(end, i->shape().elements[1]);
  }
  for (Instruction* part : parts) part->ReplaceAllUsesWith(part->tuple_index() == 0 ? sums : last);
  return true;
}

absl::StatusOr<bool> RewriteScans(Computation& c, RewriteControl& control) {
  bool changed = false;
  for (Instruction* i : c.PostOrder())
    if (i->opcode() == Opcode::kScan && control.Permit("scan-rewriter", *i, *i)) {
      auto done = RewriteScan(i, c);
      if (!done.ok()) return done.status();
      changed |= *done;
    }
  if (changed) RemoveDead(c);
  return changed;
}

// ---- sorts

// What a comparison of a sort orders by.
struct SortOrder {
  int64_t key = 0;  // which operand
  bool descending = false;
  bool is_numpy = false;  // -0 equals 0, and all NaNs come last
};

// select(x != x, nan, select(x == 0, 0, x)), or null.
const Instruction* NumpyKey(const Instruction* i) {
  if (i->opcode() != Opcode::kSelect) return nullptr;
  const auto compares = [](const Instruction* which, ComparisonDirection direction) {
    return which->opcode() == Opcode::kCompare &&
           which->attr<CompareAttrs>().direction == direction;
  };
  const Instruction *is_nan = i->operand(0), *rest = i->operand(2);
  if (!compares(is_nan, ComparisonDirection::kNe) || is_nan->operand(0) != is_nan->operand(1) ||
      !i->operand(1)->IsConstant() || rest->opcode() != Opcode::kSelect)
    return nullptr;
  const Literal* nan = i->operand(1)->literal();
  if (nan == nullptr || nan->element_count() != 1 || nan->GetDouble(0) == nan->GetDouble(0))
    return nullptr;
  const Instruction *is_zero = rest->operand(0), *x = rest->operand(2);
  if (!compares(is_zero, ComparisonDirection::kEq) || !x->IsParameter() ||
      is_nan->operand(0) != x || !IsSplat(rest->operand(1), 0))
    return nullptr;
  const bool ordered = (is_zero->operand(0) == x && IsSplat(is_zero->operand(1), 0)) ||
                       (is_zero->operand(1) == x && IsSplat(is_zero->operand(0), 0));
  return ordered ? x : nullptr;
}

std::optional<SortOrder> ReadOrder(const Instruction& sort) {
  const Instruction* root = sort.to_apply()->root();
  if (root->opcode() != Opcode::kCompare) return std::nullopt;
  const ComparisonDirection direction = root->attr<CompareAttrs>().direction;
  if (direction == ComparisonDirection::kEq || direction == ComparisonDirection::kNe)
    return std::nullopt;
  SortOrder order;
  const Instruction *a = root->operand(0), *b = root->operand(1);
  if (!a->IsParameter() || !b->IsParameter()) {
    a = NumpyKey(a);
    b = NumpyKey(b);
    if (a == nullptr || b == nullptr) return std::nullopt;
    order.is_numpy = true;
  }
  const int64_t first = std::min(a->parameter_number(), b->parameter_number());
  if (first % 2 != 0 || std::max(a->parameter_number(), b->parameter_number()) != first + 1)
    return std::nullopt;
  order.key = first / 2;
  const bool greater =
      direction == ComparisonDirection::kGt || direction == ComparisonDirection::kGe;
  order.descending = greater != (a->parameter_number() != first);
  return order;
}

// Types of keys and of the values that go along with them, as CUB's kernels are compiled.
bool HasKernel(ElementType key, std::optional<ElementType> value) {
  switch (key) {
    case ElementType::kBF16:
    case ElementType::kF16:
    case ElementType::kF64:
    case ElementType::kS8:
    case ElementType::kS16:
    case ElementType::kS64:
      return !value;
    case ElementType::kU8:
    case ElementType::kU16:
    case ElementType::kS32:
    case ElementType::kU32:
    case ElementType::kU64:
    case ElementType::kF32:
      return !value || BitWidth(*value) >= 16;
    default:
      return false;
  }
}

// A kind of device by its measurements: from `batch` rows on, CUB is faster at rows of more than
// `length` keys.
struct Measured {
  int bits;
  int64_t batch, length;
};
constexpr Measured kHopper[] = {
    {16, 12, 1 << 16}, {16, 14, 1 << 15}, {16, 16, 1 << 14}, {16, 18, 1 << 13}, {16, 33, 1 << 12},
    {16, 66, 1 << 11}, {32, 26, 1 << 17}, {32, 31, 1 << 16}, {32, 38, 1 << 15}, {32, 44, 1 << 14},
    {32, 52, 1 << 13}, {64, 55, 1 << 17}, {64, 70, 1 << 16}, {64, 92, 1 << 15}, {64, 354, 1 << 14}};
constexpr Measured kAmpere[] = {
    {16, 9, 1 << 17},  {16, 13, 1 << 13}, {16, 27, 1 << 12}, {16, 54, 1 << 11}, {32, 24, 1 << 17},
    {32, 30, 1 << 16}, {32, 36, 1 << 15}, {32, 39, 1 << 14}, {32, 52, 1 << 13}, {32, 144, 1 << 12},
    {64, 46, 1 << 17}, {64, 55, 1 << 16}, {64, 72, 1 << 15}, {64, 289, 1 << 14}};

bool Exceeds(absl::Span<const Measured> table, int bits, int64_t rows, int64_t length) {
  return std::any_of(table.begin(), table.end(), [&](const Measured& m) {
    return m.bits == bits && rows > m.batch && length > m.length;
  });
}

bool IsFasterOnHopper(int bits, int64_t rows, int64_t length, int64_t processors) {
  if (bits == 8) return rows == 1 || (length > 1300 && (rows > 8 || length < 26000));
  const int64_t alone = bits == 16 ? 1 << 9 : bits == 32 ? 22000 : 1 << 17;
  if (rows == 1) return length > alone;
  if (bits == 32 && rows > 88 && rows <= processors && length > 1 << 12) return true;
  if (bits == 64 && rows > 160 && rows <= 2 * processors && length > 1 << 14) return true;
  return Exceeds(kHopper, bits, rows, length);
}

bool IsFasterOnAmpere(int bits, int64_t rows, int64_t length, int64_t processors) {
  if (bits == 8) return rows == 1 || (length > 1000 && (rows > 5 || length < 43000));
  const int64_t alone = bits == 32 ? 2 << 14 : 1 << 16;
  if (rows == 1) return length > alone;
  if (bits == 64 && rows > 138 && rows <= 2 * processors && length > 1 << 14) return true;
  return Exceeds(kAmpere, bits, rows, length);
}

bool IsFasterOnBlackwell(int bits, int64_t rows, int64_t length, int64_t processors,
                         bool has_values) {
  if (length <= 1024) return false;
  if (bits == 16) return length >= 4096;
  if (bits == 64) return !has_values && length >= 16384;
  if (bits != 32) return IsFasterOnHopper(bits, rows, length, processors);
  if (rows == 1) return length >= 4096;
  constexpr int64_t kLeastRows[][2] = {
      {131072, 26}, {65536, 31}, {32768, 38}, {16384, 44}, {8192, 52}};
  for (const auto& [least, more] : kLeastRows)
    if (length >= least) return rows > more;
  return length >= 4096 && rows > 88 && rows < 128;
}

struct SortDevice {
  std::string name;  // ampere, hopper, blackwell, other
  bool always;
};

bool IsFaster(const SortDevice& device, const Instruction& sort) {
  const Shape& shape = sort.operand(0)->shape();
  const int64_t length = shape.dims.back();
  if (length == 0) return false;
  if (device.always) return true;
  const int64_t rows = shape.ElementCount() / length;
  const int bits = BitWidth(shape.type);
  if (device.name == "ampere") return IsFasterOnAmpere(bits, rows, length, 84);
  if (device.name == "hopper") return IsFasterOnHopper(bits, rows, length, 132);
  if (device.name == "blackwell")
    return IsFasterOnBlackwell(bits, rows, length, 148, sort.operand_count() == 2);
  return shape.ElementCount() > 16384;
}

// Unsigned numbers that are ordered as NumPy orders the floats `x`.
Instruction* NumpyOrdered(HloWriter& w, Instruction* x) {
  const ElementType type = x->shape().type;
  const ElementType bits = UnsignedOfWidth(BitWidth(type));
  Instruction* zero = w.FillNumber(x->shape(), 0);
  Instruction* is_zero = w.Compare(x, zero, ComparisonDirection::kEq);
  Instruction* no_sign = w.Select(is_zero, zero, x);
  Instruction* nan = w.Fill(x->shape(), w.Number(type, std::numeric_limits<double>::quiet_NaN()));
  Instruction* is_nan = w.Compare(x, x, ComparisonDirection::kNe);
  Instruction* one_nan = w.Select(is_nan, nan, no_sign);
  Instruction* is_negative = w.Compare(one_nan, zero, ComparisonDirection::kLt);
  Instruction* pattern = w.Bitcast(one_nan, bits);
  Instruction* sign = w.FillInteger(pattern->shape(), int64_t{1} << (BitWidth(type) - 1));
  Instruction* flipped = w.Binary(Opcode::kXor, sign, pattern);
  return w.Select(is_negative, w.Unary(Opcode::kNot, pattern), flipped);
}

// The value's bits below the key's, in one unsigned number.
Instruction* Packed(HloWriter& w, Instruction* key, Instruction* value, bool descending) {
  const int key_bits = BitWidth(key->shape().type), value_bits = BitWidth(value->shape().type);
  const ElementType whole = key_bits + value_bits <= 32 ? ElementType::kU32 : ElementType::kU64;
  Instruction* low = w.Bitcast(value, UnsignedOfWidth(value_bits));
  if (descending) low = w.Unary(Opcode::kNot, low);
  Instruction* high = w.Convert(w.Bitcast(key, UnsignedOfWidth(key_bits)), whole);
  Instruction* shift = w.FillInteger(high->shape(), value_bits);
  return w.Binary(Opcode::kOr, w.Binary(Opcode::kShiftLeft, high, shift), w.Convert(low, whole));
}

// The key and the value again.
std::pair<Instruction*, Instruction*> Unpacked(HloWriter& w, Instruction* packed, const Shape& key,
                                               const Shape& value, bool descending) {
  const int key_bits = BitWidth(key.type), value_bits = BitWidth(value.type);
  Instruction* shift = w.FillInteger(packed->shape(), value_bits);
  Instruction* high = w.Binary(Opcode::kShiftRightLogical, packed, shift);
  Instruction* old_key = w.Bitcast(w.Convert(high, UnsignedOfWidth(key_bits)), key.type);
  Instruction* low = w.Convert(packed, UnsignedOfWidth(value_bits));
  if (descending) low = w.Unary(Opcode::kNot, low);
  return {old_key, w.Bitcast(low, value.type)};
}

Instruction* SortByCub(Rewriter& r, absl::Span<Instruction* const> operands, bool descending) {
  std::vector<Shape> parts;
  for (const Instruction* operand : operands) parts.push_back(operand->shape());
  parts.push_back(RowMajor(ElementType::kU8, {0}));
  BackendConfig config("");
  config.SetBool("descending", descending);
  return AddCall(r, kSortTarget, Shape::Tuple(std::move(parts)), operands, config);
}

absl::StatusOr<Instruction*> RewriteSort(Instruction* i, Rewriter& r, const SortDevice& device) {
  if (i->opcode() != Opcode::kSort || i->operand_count() > 2) return nullptr;
  const Shape& shape = i->operand(0)->shape();
  for (const Instruction* operand : i->operands())
    if (operand->shape().HasDynamicDims() || !operand->shape().IsRowMajor()) return nullptr;
  if (shape.rank() == 0 || i->attr<SortAttrs>().dimensions[0] != shape.rank() - 1 ||
      !IsFaster(device, *i))
    return nullptr;
  const std::optional<SortOrder> order = ReadOrder(*i);
  if (!order) return nullptr;
  Instruction* keys = i->operand(order->key);
  const bool has_value = i->operand_count() == 2;
  Instruction* values = has_value ? i->operand(1 - order->key) : nullptr;
  const ElementType type = keys->shape().type;
  HloWriter w(r);
  if (!order->is_numpy) {
    if (!HasKernel(type, has_value ? std::optional(values->shape().type) : std::nullopt))
      return nullptr;
    if (!has_value) return w.Part(SortByCub(r, {keys}, order->descending), 0);
    Instruction* sorted = SortByCub(r, {keys, values}, order->descending);
    return w.Tuple({w.Part(sorted, order->key), w.Part(sorted, 1 - order->key)});
  }
  const bool wide = type == ElementType::kF64;
  if (!wide && type != ElementType::kF32 && type != ElementType::kF16 && type != ElementType::kBF16)
    return nullptr;
  if (!has_value) return w.Part(SortByCub(r, {NumpyOrdered(w, keys), keys}, order->descending), 1);
  const ElementType value = values->shape().type;
  if (wide || (value != ElementType::kS32 && value != ElementType::kS16)) return nullptr;
  constexpr int64_t kMaxBytes = int64_t{2} << 30;  // what packing may take
  const int packed_bytes = BitWidth(type) + BitWidth(value) <= 32 ? 4 : 8;
  if (shape.ElementCount() * (ByteWidth(type) + packed_bytes) >= kMaxBytes) return nullptr;
  Instruction* packed = Packed(w, keys, values, order->descending);
  Instruction* sorted = SortByCub(r, {NumpyOrdered(w, keys), packed}, order->descending);
  auto [key, old_value] =
      Unpacked(w, w.Part(sorted, 1), keys->shape(), values->shape(), order->descending);
  return order->key == 0 ? w.Tuple({key, old_value}) : w.Tuple({old_value, key});
}

// ---- triangular solves

absl::StatusOr<Instruction*> RewriteSolve(Instruction* i, Rewriter& r) {
  if (i->opcode() != Opcode::kTriangularSolve) return nullptr;
  const auto& attrs = i->attr<TriangularSolveAttrs>();
  const Shape& b = i->operand(1)->shape();
  int64_t batch = 1;
  for (int64_t d = 0; d + 2 < b.rank(); ++d) batch *= b.dims[d];
  constexpr int64_t kPointers = 16;  // bytes a matrix: the addresses of both operands
  const Shape space = RowMajor(ElementType::kS8, {batch == 1 ? 0 : kPointers * batch});
  BackendConfig config("");
  config.SetBool("left_side", attrs.left_side);
  config.SetBool("lower", attrs.lower);
  config.SetBool("unit_diagonal", attrs.unit_diagonal);
  config.SetText("transpose_a", attrs.transpose_a == TriangularTranspose::kTranspose ? "TRANSPOSE"
                                : attrs.transpose_a == TriangularTranspose::kAdjoint
                                    ? "ADJOINT"
                                    : "NO_TRANSPOSE");
  HloWriter w(r);
  return w.Part(AddCall(r, kSolveTarget, Shape::Tuple({i->shape(), space}),
                        {i->operand(0), i->operand(1)}, config),
                0);
}

}  // namespace

// scan-rewriter: a scan that sums up rows which lie contiguous in memory becomes CUB's; a seed is
// added after it, the last carry is a slice of the sums. Reassociates floats.
std::unique_ptr<Pass> CreateScanRewriter() {
  return MakeComputationPass("scan-rewriter", RewriteScans);
}

// sort-rewriter: a sort of keys, or of keys and values, along the last dimension by a plain
// comparison becomes CUB's radix sort where that is faster on the device; NumPy's order (-0 equals
// 0, NaNs last) sorts by numbers made of the keys. Options: `device` (ampere, hopper, blackwell,
// other), `always` (whatever is faster). Exact; keys that compare equal but for their sign keep no
// order among them.
std::unique_ptr<Pass> CreateSortRewriter(PassArguments& arguments) {
  SortDevice device;
  device.name =
      arguments.String("device", "ampere", "whose measurements: ampere, hopper, blackwell, other");
  device.always = arguments.Flag("always", "rewrites whatever it can");
  return MakeExpander("sort-rewriter",
                      [device](Instruction* i, Rewriter& r) { return RewriteSort(i, r, device); });
}

// triangular-solve-rewriter: triangular-solve becomes cuBLAS's call. Exact.
std::unique_ptr<Pass> CreateTriangularSolveRewriter() {
  return MakeExpander("triangular-solve-rewriter", RewriteSolve);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
