// Video instructions: ISA, "Video Instructions". Scalar ones compute on a byte, half or word of
// each operand; SIMD ones on two halves or four bytes at once:
//   vadd.s32.u32.u32.sat d, a.b1, b.h0    d = saturated a[15:8] + b[15:0]
//   vabsdiff4.u32.u32.u32.add d, a, b, c  d = c + the four |a[i] - b[i]|
#include <algorithm>
#include <bit>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

enum class VideoOp : uint8_t { kAdd, kSub, kAbsDiff, kMin, kMax, kAverage, kShl, kShr, kMad, kSet };
enum class Second : uint8_t { kNone, kAdd, kMin, kMax, kMerge };
enum class Compare : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

// A piece of a register.
struct Part {
  int shift = 0, bits = 32;
};

struct VideoForm {
  VideoOp op = VideoOp::kAdd;
  Second second = Second::kNone;
  Compare compare = Compare::kEq;
  bool d_signed = false, a_signed = false, b_signed = false;
  bool saturates = false, wraps = false, plus_one = false;
  bool minus_product = false, minus_c = false;  // of vmad
  int scale = 0;                                // bits that vmad shifts its result right by
  // Scalar: one part of each. SIMD: `width` bits an element, the elements that a result element
  // takes (below 32 / width: of a, else of b), and which elements of the result are written.
  Part d, a, b;
  int width = 0;
  int from_a[4] = {0, 1, 2, 3}, from_b[4] = {0, 1, 2, 3};
  unsigned mask = 0;
};

int64_t Extract(uint32_t word, Part part, bool is_signed) {
  const uint32_t bits = word >> part.shift;
  if (part.bits == 32) return is_signed ? int64_t{static_cast<int32_t>(bits)} : int64_t{bits};
  const uint32_t value = bits & ((1u << part.bits) - 1);
  const bool negative = is_signed && (value >> (part.bits - 1)) != 0;
  return static_cast<int64_t>(value) - (negative ? int64_t{1} << part.bits : 0);
}

int64_t Saturate(int64_t value, int bits, bool is_signed) {
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return std::clamp(value, low, high);
}

bool Holds(Compare compare, int64_t a, int64_t b) {
  switch (compare) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a != b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

int64_t Compute(const VideoForm& form, int64_t a, int64_t b, int64_t c) {
  switch (form.op) {
    case VideoOp::kAdd:
      return a + b;
    case VideoOp::kSub:
      return a - b;
    case VideoOp::kAbsDiff:
      return a < b ? b - a : a - b;
    case VideoOp::kMin:
      return std::min(a, b);
    case VideoOp::kMax:
      return std::max(a, b);
    case VideoOp::kAverage:
      return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case VideoOp::kShl:
    case VideoOp::kShr: {
      const int64_t count = form.wraps ? b & 31 : std::min<int64_t>(b, 32);
      return form.op == VideoOp::kShl ? static_cast<int64_t>(static_cast<uint64_t>(a) << count)
                                      : a >> count;
    }
    case VideoOp::kMad:
      return ((form.minus_product ? -(a * b) : a * b) + (form.minus_c ? -c : c) +
              (form.plus_one ? 1 : 0)) >>
             form.scale;
    default:
      return Holds(form.compare, a, b) ? 1 : 0;
  }
}

int64_t CutIfSum(const VideoForm& form, int64_t value) {
  if (form.op != VideoOp::kAdd && form.op != VideoOp::kSub) return value;
  return form.d_signed ? int64_t{static_cast<int32_t>(value)}
                       : int64_t{static_cast<uint32_t>(value)};
}

// d = (a op b) op2 c, or the low bits of a op b in a part of c.
uint32_t Scalar(const VideoForm& form, uint32_t a, uint32_t b, uint32_t c) {
  const int64_t third = form.d_signed ? int64_t{static_cast<int32_t>(c)} : int64_t{c};
  int64_t value =
      Compute(form, Extract(a, form.a, form.a_signed), Extract(b, form.b, form.b_signed), third);
  if (form.saturates) value = Saturate(value, form.d.bits, form.d_signed);
  switch (form.second) {
    case Second::kAdd:
      return static_cast<uint32_t>(value + third);
    // Of the whole result; sums are cut to 32 bits first (as an H200 has it).
    case Second::kMin:
      return static_cast<uint32_t>(std::min(CutIfSum(form, value), third));
    case Second::kMax:
      return static_cast<uint32_t>(std::max(CutIfSum(form, value), third));
    case Second::kMerge: {
      const uint32_t mask = ((1u << form.d.bits) - 1) << form.d.shift;
      return (c & ~mask) | (static_cast<uint32_t>(value) << form.d.shift & mask);
    }
    default:
      return static_cast<uint32_t>(value);
  }
}

uint32_t Simd(const VideoForm& form, uint32_t a, uint32_t b, uint32_t c) {
  const int count = 32 / form.width;
  const auto element = [&](int from, bool is_signed) {
    const Part part = {from % count * form.width, form.width};
    return Extract(from < count ? a : b, part, is_signed);
  };
  uint32_t d = c;
  for (int i = 0; i < count; ++i) {
    if (!(form.mask >> i & 1)) continue;
    int64_t value = Compute(form, element(form.from_a[i], form.a_signed),
                            element(form.from_b[i], form.b_signed), 0);
    if (form.saturates) value = Saturate(value, form.width, form.d_signed);
    if (form.second == Second::kAdd) {
      d += static_cast<uint32_t>(value);
      continue;
    }
    const uint32_t mask = ((1u << form.width) - 1) << i * form.width;
    d = (d & ~mask) | (static_cast<uint32_t>(value) << i * form.width & mask);
  }
  return d;
}

void RunVideo(const Op& op, Warp& warp, LaneMask mask) {
  const auto& form = *static_cast<const VideoForm*>(warp.code().forms[op.list].get());
  const uint32_t* a = In<uint32_t>(warp.frame(), op.a);
  const uint32_t* b = In<uint32_t>(warp.frame(), op.b);
  const uint32_t* c = In<uint32_t>(warp.frame(), op.c);
  uint32_t* d = Out<uint32_t>(warp.frame(), op.d);
  for (int i = 0; i < kLanes; ++i)
    if (mask >> i & 1)
      d[i] = form.width == 0 ? Scalar(form, a[i], b[i], c[i]) : Simd(form, a[i], b[i], c[i]);
}

// Splits `%r1.b2` into its register and its selector `b2`.
Operand WithoutSelector(const Operand& operand, std::string& selector) {
  Operand plain = operand;
  if (operand.kind != Operand::kName) return plain;
  const size_t dot = operand.name.rfind('.');
  if (dot == std::string::npos) return plain;
  selector = operand.name.substr(dot + 1);
  plain.name = operand.name.substr(0, dot);
  return plain;
}

bool ParsePart(const std::string& selector, Part& part) {
  if (selector.empty()) return true;
  if (selector.size() != 2) return false;
  const int number = selector[1] - '0';
  const int bits = selector[0] == 'b' ? 8 : selector[0] == 'h' ? 16 : 0;
  if (bits == 0 || number < 0 || number >= 32 / bits) return false;
  part = {number * bits, bits};
  return true;
}

// `h10`, `b7654`: the element of each result element, the highest first.
bool ParseElements(const std::string& selector, const VideoForm& form, int elements[4]) {
  if (selector.empty()) return true;
  const int count = 32 / form.width;
  if (static_cast<int>(selector.size()) != count + 1 ||
      selector[0] != (form.width == 8 ? 'b' : 'h'))
    return false;
  for (int i = 0; i < count; ++i) {
    elements[i] = selector[static_cast<size_t>(count - i)] - '0';
    if (elements[i] < 0 || elements[i] >= 2 * count) return false;
  }
  return true;
}

// `h1`, `b320`: the elements that are written.
bool ParseMask(const std::string& selector, const VideoForm& form, unsigned& mask) {
  const int count = 32 / form.width;
  mask = (1u << count) - 1;
  if (selector.empty()) return true;
  mask = 0;
  for (const char digit : selector.substr(1)) {
    if (digit < '0' || digit >= '0' + count) return false;
    mask |= 1u << (digit - '0');
  }
  return selector[0] == (form.width == 8 ? 'b' : 'h');
}

VideoOp OpNamed(absl::string_view name) {
  if (name == "vadd") return VideoOp::kAdd;
  if (name == "vsub") return VideoOp::kSub;
  if (name == "vabsdiff") return VideoOp::kAbsDiff;
  if (name == "vmin") return VideoOp::kMin;
  if (name == "vmax") return VideoOp::kMax;
  if (name == "vavrg") return VideoOp::kAverage;
  if (name == "vshl") return VideoOp::kShl;
  if (name == "vshr") return VideoOp::kShr;
  if (name == "vmad") return VideoOp::kMad;
  return VideoOp::kSet;
}

Compare CompareOf(const Binder& b) {
  if (b.Has("eq")) return Compare::kEq;
  if (b.Has("ne")) return Compare::kNe;
  if (b.Has("lt")) return Compare::kLt;
  if (b.Has("le")) return Compare::kLe;
  return b.Has("gt") ? Compare::kGt : Compare::kGe;
}

Second SecondOf(const Binder& b) {
  return b.Has("add")   ? Second::kAdd
         : b.Has("min") ? Second::kMin
         : b.Has("max") ? Second::kMax
                        : Second::kNone;
}

void SetTypes(const Binder& b, VideoForm& form) {
  // vset has no type of its own for the result.
  const int first = form.op == VideoOp::kSet ? 0 : 1;
  form.d_signed = first == 1 && b.type(0) == Type::kS32;
  form.a_signed = b.type(first) == Type::kS32;
  form.b_signed = b.type(first + 1) == Type::kS32;
}

void EmitVideo(Binder& b, std::shared_ptr<VideoForm> form, const Operand operands[4]) {
  Op op = b.MakeExec(&RunVideo);
  op.a = b.Source(operands[1], Type::kU32);
  op.b = b.Source(operands[2], Type::kU32);
  op.c = b.size() > 3 ? b.Source(operands[3], Type::kU32) : b.Constant(0, 4);
  op.d = b.Result(operands[0], Type::kU32);
  op.list = static_cast<uint32_t>(b.code().forms.size());
  b.code().forms.push_back(std::move(form));
  if (!b.failed()) b.Emit(op);
}

}  // namespace

void BindVideo(Binder& b) {
  auto form = std::make_shared<VideoForm>();
  form->op = OpNamed(b.instruction().opcode);
  form->second = SecondOf(b);
  form->compare = CompareOf(b);
  form->saturates = b.Has("sat");
  form->wraps = b.Has("wrap");
  form->plus_one = b.Has("po");
  form->scale = b.Has("shr7") ? 7 : b.Has("shr15") ? 15 : 0;
  SetTypes(b, *form);
  std::string selectors[4];
  Operand operands[4];
  for (int i = 0; i < b.size(); ++i) operands[i] = WithoutSelector(b.operand(i), selectors[i]);
  if (form->op == VideoOp::kMad && b.size() == 4) {
    form->minus_product = operands[1].negated != operands[2].negated;
    form->minus_c = operands[3].negated;
    for (Operand& operand : operands) operand.negated = false;
  }
  if (!ParsePart(selectors[0], form->d) || !ParsePart(selectors[1], form->a) ||
      !ParsePart(selectors[2], form->b) || !selectors[3].empty() ||
      (form->op == VideoOp::kMad) !=
          (b.size() == 4 && form->second == Second::kNone && selectors[0].empty()))
    return b.Unsupported();
  if (!selectors[0].empty()) form->second = Second::kMerge;
  if (form->second != Second::kNone && b.size() != 4) return b.Unsupported();
  EmitVideo(b, std::move(form), operands);
}

void BindVideoSimd(Binder& b) {
  auto form = std::make_shared<VideoForm>();
  absl::string_view name = b.instruction().opcode;
  form->width = name.back() == '4' ? 8 : 16;
  name.remove_suffix(1);
  form->op = OpNamed(name);
  form->second = SecondOf(b);
  form->compare = CompareOf(b);
  form->saturates = b.Has("sat");
  SetTypes(b, *form);
  const int count = 32 / form->width;
  for (int i = 0; i < count; ++i) form->from_b[i] = count + i;
  std::string selectors[4];
  Operand operands[4];
  for (int i = 0; i < b.size(); ++i) operands[i] = WithoutSelector(b.operand(i), selectors[i]);
  if (!ParseMask(selectors[0], *form, form->mask) ||
      !ParseElements(selectors[1], *form, form->from_a) ||
      !ParseElements(selectors[2], *form, form->from_b) || !selectors[3].empty())
    return b.Unsupported();
  EmitVideo(b, std::move(form), operands);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
