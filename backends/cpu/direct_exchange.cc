// Folds and copies between the arrays of a group.
#include "backends/cpu/direct_exchange.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "ops/eval_program.h"
#include "ops/eval_values.h"
#include "runtime/memory.h"
#include "support/status.h"

namespace hlokit {
namespace {

constexpr int64_t kBlock = 2048;                   // elements folded at once
constexpr int64_t kPastCaches = int64_t{4} << 20;  // bytes of a result that no cache holds
constexpr int64_t kCopied = int64_t{64} << 10;
constexpr int64_t kShareUnit = 64;  // elements: shares start on lines of their own

// What a device brings to a meeting.
struct Brought {
  const void* const* operands;
  void* const* results;
};

bool IsPlainArray(const Shape& shape) {
  return shape.IsArray() && shape.IsRowMajor() && !shape.HasDynamicDims() &&
         BitWidth(shape.type) % 8 == 0;
}

bool ArePlainArrays(const Shape& shape) {
  if (!shape.IsTuple()) return IsPlainArray(shape);
  return std::all_of(shape.elements.begin(), shape.elements.end(), IsPlainArray);
}

// One operand of a collective and its result, as all members of the group have them.
class Arrays {
 public:
  Arrays(const DeviceGroup::Members& members, const Instruction& i, int64_t operand)
      : members_(members), i_(i), operand_(operand) {}

  const Shape& shape() const { return i_.operand(operand_)->shape(); }
  const uint8_t* from(size_t member) const {
    return static_cast<const uint8_t*>(BroughtBy(member).operands[operand_]);
  }
  uint8_t* to(size_t member) const {
    return static_cast<uint8_t*>(BroughtBy(member).results[operand_]);
  }
  size_t members() const { return members_.brought.size(); }
  size_t place() const { return members_.place; }
  int64_t width() const { return ByteWidth(shape().type); }

  void Copy(const uint8_t* source, uint8_t* target, int64_t bytes) const {
    if (shape().ByteSize() < kPastCaches) {
      std::memcpy(target, source, static_cast<size_t>(bytes));
      return;
    }
    for (int64_t at = 0; at < bytes; at += kCopied)  // pieces that one thread copies
      hlokit_copy_out(nullptr, source + at, target + at, std::min(kCopied, bytes - at));
  }

 private:
  const Brought& BroughtBy(size_t member) const {
    return *static_cast<const Brought*>(members_.brought[member]);
  }
  const DeviceGroup::Members& members_;
  const Instruction& i_;
  int64_t operand_;
};

// Folds elements of all members, in their order, in the interpreter's wide types.
class Folder {
 public:
  Folder(const Arrays& arrays, const Computation& reducer)
      : arrays_(arrays),
        type_(arrays.shape().type),
        adds_(*SimpleReducer(reducer) == Opcode::kAdd),
        reducer_(reducer, call_, kBlock),
        sums_(kBlock),
        values_(kBlock),
        block_(kBlock * arrays.width()) {}

  // The fold of elements start .. start + n - 1, for n up to kBlock.
  absl::StatusOr<const uint8_t*> Run(int64_t start, int64_t n) {
    if (adds_ && type_ == ElementType::kF32) return Sum<float>(start, n);
    if (adds_ && type_ == ElementType::kF64) return Sum<double>(start, n);
    const int64_t at = start * arrays_.width();
    LoadWide(type_, arrays_.from(0) + at, n, sums_.data());
    for (size_t m = 1; m < arrays_.members(); ++m) {
      LoadWide(type_, arrays_.from(m) + at, n, values_.data());
      void* const into[] = {sums_.data()};
      RETURN_IF_ERROR(reducer_.Fold(into, {values_.data()}, n));
    }
    StoreWide(type_, sums_.data(), n, block_.data());
    return block_.data();
  }

 private:
  template <typename T>
  const uint8_t* Sum(int64_t start, int64_t n) {
    auto* const sums = reinterpret_cast<double*>(sums_.data());
    const auto from = [&](size_t m) { return reinterpret_cast<const T*>(arrays_.from(m)) + start; };
    const T* first = from(0);
    for (int64_t k = 0; k < n; ++k) sums[k] = first[k];
    for (size_t m = 1; m < arrays_.members(); ++m) {
      const T* more = from(m);
      for (int64_t k = 0; k < n; ++k) sums[k] += more[k];
    }
    auto* const out = reinterpret_cast<T*>(block_.data());
    for (int64_t k = 0; k < n; ++k) out[k] = static_cast<T>(sums[k]);
    return block_.data();
  }

  const Arrays& arrays_;
  const ElementType type_;
  const bool adds_;
  const CallComputation call_;  // never called: the reducer is one operation
  Reducer reducer_;
  std::vector<Complex> sums_, values_;
  std::vector<uint8_t> block_;
};

absl::Status AllReduce(const Arrays& arrays, const Instruction& i) {
  const int64_t count = arrays.shape().ElementCount();
  const auto members = static_cast<int64_t>(arrays.members());
  const int64_t units = (count + kShareUnit - 1) / kShareUnit;
  const auto place = static_cast<int64_t>(arrays.place());
  const int64_t begin = std::min(count, units * place / members * kShareUnit);
  const int64_t end = std::min(count, units * (place + 1) / members * kShareUnit);
  Folder folder(arrays, *i.to_apply());
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t n = std::min(kBlock, end - start);
    ASSIGN_OR_RETURN(const uint8_t* const folded, folder.Run(start, n));
    for (size_t m = 0; m < arrays.members(); ++m)
      arrays.Copy(folded, arrays.to(m) + start * arrays.width(), n * arrays.width());
  }
  return absl::OkStatus();
}

// Elements of dimensions from d on.
int64_t RowLength(const Shape& shape, int64_t d) {
  int64_t length = 1;
  for (int64_t k = d; k < shape.rank(); ++k) length *= shape.dims[k];
  return length;
}

absl::Status AllGather(const Arrays& arrays, const Instruction& i) {
  const int64_t row = RowLength(arrays.shape(), i.attr<AllGatherAttrs>().dimensions[0]);
  if (row == 0) return absl::OkStatus();
  const int64_t bytes = row * arrays.width(), rows = arrays.shape().ElementCount() / row;
  for (size_t m = 0; m < arrays.members(); ++m)
    for (int64_t r = 0; r < rows; ++r)
      arrays.Copy(arrays.from(arrays.place()) + r * bytes,
                  arrays.to(m) + (r * arrays.members() + arrays.place()) * bytes, bytes);
  return absl::OkStatus();
}

absl::Status ReduceScatter(const Arrays& arrays, const Instruction& i) {
  const int64_t whole = RowLength(arrays.shape(), i.attr<ReduceScatterAttrs>().dimensions[0]);
  if (whole == 0) return absl::OkStatus();
  const int64_t row = whole / static_cast<int64_t>(arrays.members());
  const int64_t rows = arrays.shape().ElementCount() / whole;
  Folder folder(arrays, *i.to_apply());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t start = 0; start < row; start += kBlock) {
      const int64_t n = std::min(kBlock, row - start);
      ASSIGN_OR_RETURN(const uint8_t* const folded,
                       folder.Run(r * whole + arrays.place() * row + start, n));
      arrays.Copy(folded, arrays.to(arrays.place()) + (r * row + start) * arrays.width(),
                  n * arrays.width());
    }
  return absl::OkStatus();
}

constexpr struct {
  Opcode opcode;
  absl::Status (*run)(const Arrays&, const Instruction&);
} kExchanges[] = {{Opcode::kAllGather, AllGather},
                  {Opcode::kAllReduce, AllReduce},
                  {Opcode::kReduceScatter, ReduceScatter}};

// Whether results are as long as a group of `members` makes them.
bool Fits(const Instruction& i, int64_t members) {
  for (int64_t o = 0; o < i.operand_count(); ++o) {
    const Shape& result = i.shape().IsTuple() ? i.shape().elements[o] : i.shape();
    const int64_t from = i.operand(o)->shape().ElementCount(), to = result.ElementCount();
    if (i.opcode() == Opcode::kAllGather && to != from * members) return false;
    if (i.opcode() == Opcode::kReduceScatter && to * members != from) return false;
  }
  return true;
}

}  // namespace

bool HasDirectExchange(const Instruction& i) {
  const bool known = std::any_of(std::begin(kExchanges), std::end(kExchanges),
                                 [&](const auto& row) { return row.opcode == i.opcode(); });
  if (!known || i.operand_count() == 0 || !ArePlainArrays(i.shape())) return false;
  for (const Instruction* operand : i.operands())
    if (!IsPlainArray(operand->shape())) return false;
  return i.called().empty() || SimpleReducer(*i.to_apply()).has_value();
}

absl::Status ExchangeDirectly(DeviceGroup& group, int64_t device, const Instruction& i,
                              const void* const* operands, void* const* results) {
  const Brought own{operands, results};
  ASSIGN_OR_RETURN(const DeviceGroup::Members members, group.Meet(device, i, &own));
  if (!Fits(i, static_cast<int64_t>(members.brought.size())))
    return InvalidArgument(Text(i.shape()), " is not what a group of ", members.brought.size(),
                           " devices makes of ", Text(i.operand(0)->shape()));
  const auto* row = std::find_if(std::begin(kExchanges), std::end(kExchanges),
                                 [&](const auto& r) { return r.opcode == i.opcode(); });
  for (int64_t o = 0; o < i.operand_count(); ++o)
    RETURN_IF_ERROR(row->run(Arrays(members, i, o), i));
  // Nobody goes on before all have read what it brought, and have written what it gets.
  return group.Meet(device, i, nullptr).status();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
