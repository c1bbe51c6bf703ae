// atom and red: ISA, "Parallel Synchronization and Communication Instructions". Lanes go one after
// the other, the lowest first, so that runs repeat.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "ptxsim/async_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/decoder_internal.h"
#include "ptxsim/lanes.h"
#include "ptxsim/profile.h"
#include "ptxsim/rounding.h"

namespace hlokit::ptx {
namespace {

struct U128 {
  uint64_t low, high;
  bool operator==(const U128&) const = default;
};

template <typename T>
struct AddA {
  static T Do(T old, T b, T) { return T(old + b); }
};
template <typename T>
struct AndA {
  static T Do(T old, T b, T) { return old & b; }
};
template <typename T>
struct OrA {
  static T Do(T old, T b, T) { return old | b; }
};
template <typename T>
struct XorA {
  static T Do(T old, T b, T) { return old ^ b; }
};
// exch: the new value is the operand.
template <typename T>
struct ExchA {
  static T Do(T, T b, T) { return b; }
};
// cas: the new value is c where the old one is b.
template <typename T>
struct CasA {
  static T Do(T old, T b, T c) { return old == b ? c : old; }
};
template <typename T>
struct MinA {
  static T Do(T old, T b, T) { return std::min(old, b); }
};
template <typename T>
struct MaxA {
  static T Do(T old, T b, T) { return std::max(old, b); }
};
// inc: old + 1, or 0 once old >= b.
template <typename T>
struct IncA {
  static T Do(T old, T b, T) { return old >= b ? T(0) : T(old + 1); }
};
// dec: old - 1, or b where old is 0 or above b.
template <typename T>
struct DecA {
  static T Do(T old, T b, T) { return old == 0 || old > b ? b : T(old - 1); }
};

float AddFloats(float a, float b, bool flush) {
  if (!flush) return CanonicalNan(a + b);
  return CanonicalNan(FlushF32(FlushF32(a) + FlushF32(b)));
}
// add.f32 and add.f64, rounded to nearest.
template <typename T>
struct FloatAdd {
  static T Do(T old, T b, T) {
    if constexpr (sizeof(T) == 8) {
      return std::bit_cast<T>(std::bit_cast<double>(old) + std::bit_cast<double>(b));
    } else {
      return std::bit_cast<T>(AddFloats(std::bit_cast<float>(old), std::bit_cast<float>(b), false));
    }
  }
};
// ISA: atom.add.f32 on global memory flushes subnormals; not so bulk copies, nor generic addresses
// of shared memory (seen on an H200).
struct FlushedAdd {
  static uint32_t Do(uint32_t old, uint32_t b, uint32_t) {
    return std::bit_cast<uint32_t>(
        AddFloats(std::bit_cast<float>(old), std::bit_cast<float>(b), true));
  }
};
enum HalfKind { kHalfAdd, kHalfMin, kHalfMax };
// add, min and max of f16 and bf16.
template <bool kBrain, HalfKind kKind>
struct HalfA {
  static uint16_t Do(uint16_t old, uint16_t b, uint16_t) {
    const double x = kBrain ? BF16Value(old) : F16Value(old);
    const double y = kBrain ? BF16Value(b) : F16Value(b);
    if (kKind == kHalfAdd) return kBrain ? RoundToBF16(AddToOdd(x, y)) : RoundToF16(AddToOdd(x, y));
    if (x != x || y != y) return x != x ? (y != y ? 0x7fff : b) : old;
    const bool takes_b =
        kKind == kHalfMin ? y < x || (y == x && b & 0x8000) : y > x || (y == x && !(b & 0x8000));
    return takes_b ? b : old;
  }
};
// The same on two values in a word, each for itself.
template <bool kBrain, HalfKind kKind>
struct HalfPairA {
  static uint32_t Do(uint32_t old, uint32_t b, uint32_t) {
    using H = HalfA<kBrain, kKind>;
    return H::Do(uint16_t(old), uint16_t(b), 0) |
           uint32_t{H::Do(uint16_t(old >> 16), uint16_t(b >> 16), 0)} << 16;
  }
};

// One read-modify-write. Memory of a block is used by its host thread alone.
template <typename F, typename T>
T Modify(std::byte* at, T b, T c, bool is_shared) {
  T old;
  if (is_shared || sizeof(T) > 8) {
    std::memcpy(&old, at, sizeof(T));
    const T now = F::Do(old, b, c);
    std::memcpy(at, &now, sizeof(T));
    return old;
  }
  if constexpr (sizeof(T) <= 8) {
    std::atomic_ref<T> word(*reinterpret_cast<T*>(at));
    old = word.load();
    while (!word.compare_exchange_weak(old, F::Do(old, b, c))) {
    }
  }
  return old;
}

// op.list: the results (none for red), op.list2: the operands; several of a vector.
template <typename F, typename T>
void Atomic(const Op& op, Warp& warp, LaneMask mask) {
  std::byte* frame = warp.frame();
  const Slot* results = op.list_size == 0 ? nullptr : &warp.code().slots[op.list];
  const Slot* operands = &warp.code().slots[op.list2];
  if (Profile* const profile = warp.block().profile())
    profile->Access(op.space, In<uint64_t>(frame, op.a), op.offset, mask,
                    int64_t{sizeof(T)} * op.list2_size, true, true);
  const T* c = op.c == kNoSlot ? nullptr : In<T>(frame, op.c);
  for (int i = 0; i < kLanes; ++i) {
    if (!(mask >> i & 1)) continue;
    const uint64_t address = In<uint64_t>(frame, op.a)[i] + static_cast<uint64_t>(op.offset);
    std::byte* at = LaneMemory(op, warp, i, address, int64_t{sizeof(T)} * op.list2_size, op.space,
                               "atomic access");
    if (at == nullptr) return;
    const bool in_window = op.space == Space::kGeneric && address - kSharedWindow < kWindowBytes;
    const bool is_shared = op.space == Space::kShared || op.space == Space::kLocal || in_window;
    LaunchState& launch = warp.block().launch();
    for (uint32_t k = 0; k < op.list2_size; ++k) {
      const T operand = In<T>(frame, operands[k].at)[i];
      T old;
      if constexpr (std::is_same_v<F, FlushedAdd>) {
        old = is_shared ? Modify<FloatAdd<T>, T>(at + k * sizeof(T), operand, operand, true)
                        : Modify<F, T>(at + k * sizeof(T), operand, operand, false);
      } else {
        old = Modify<F, T>(at + k * sizeof(T), operand, c == nullptr ? operand : c[i], is_shared);
      }
      if (launch.watches_stores && std::memcmp(at + k * sizeof(T), &old, sizeof(T)) != 0)
        ++launch.changes;
      if (results != nullptr && results[k].at != kNoSlot)
        std::memcpy(frame + results[k].at + i * results[k].bytes, &old,
                    std::min<size_t>(sizeof(T), results[k].bytes));
    }
  }
}

// For AtomicOf: execution on lanes, and the operation alone.
struct OnLanes {
  using Result = Exec;
  template <typename F, typename T>
  static Exec Of() {
    return &Atomic<F, T>;
  }
};
struct Alone {
  using Result = Combine;
  template <typename F, typename T>
  static Combine Of() {
    return [](std::byte* at, const std::byte* operand) {
      T b;
      std::memcpy(&b, operand, sizeof(T));
      Modify<F, T>(at, b, b, /*is_shared=*/true);
    };
  }
};

// The three below choose an operation F on a type T and give Pick::Of<F, T>: what executes the
// instruction on lanes, or what combines two elements of memory.
template <typename Pick, template <typename> class F>
typename Pick::Result IntegerAtomic(Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kB32:
      return Pick::template Of<F<uint32_t>, uint32_t>();
    case Type::kS32:
      return Pick::template Of<F<int32_t>, int32_t>();
    case Type::kU64:
    case Type::kB64:
      return Pick::template Of<F<uint64_t>, uint64_t>();
    case Type::kS64:
      return Pick::template Of<F<int64_t>, int64_t>();
    default:
      return nullptr;
  }
}
template <typename Pick, HalfKind kKind>
typename Pick::Result HalfAtomic(Type type) {
  switch (type) {
    case Type::kF16:
      return Pick::template Of<HalfA<false, kKind>, uint16_t>();
    case Type::kBF16:
      return Pick::template Of<HalfA<true, kKind>, uint16_t>();
    case Type::kF16x2:
      return Pick::template Of<HalfPairA<false, kKind>, uint32_t>();
    case Type::kBF16x2:
      return Pick::template Of<HalfPairA<true, kKind>, uint32_t>();
    default:
      return nullptr;
  }
}

template <typename Pick>
typename Pick::Result AtomicOf(absl::string_view name, bool in_shared, Type type) {
  if (name == "add") {
    if (type == Type::kF64) return Pick::template Of<FloatAdd<uint64_t>, uint64_t>();
    if (type == Type::kF32)
      return in_shared ? Pick::template Of<FloatAdd<uint32_t>, uint32_t>()
                       : Pick::template Of<FlushedAdd, uint32_t>();
    if (IsFloat(type)) return HalfAtomic<Pick, kHalfAdd>(type);
    return IntegerAtomic<Pick, AddA>(type);
  }
  if (name == "min")
    return IsFloat(type) ? HalfAtomic<Pick, kHalfMin>(type) : IntegerAtomic<Pick, MinA>(type);
  if (name == "max")
    return IsFloat(type) ? HalfAtomic<Pick, kHalfMax>(type) : IntegerAtomic<Pick, MaxA>(type);
  if (name == "and") return IntegerAtomic<Pick, AndA>(type);
  if (name == "or") return IntegerAtomic<Pick, OrA>(type);
  if (name == "xor") return IntegerAtomic<Pick, XorA>(type);
  if (name == "inc") return IntegerAtomic<Pick, IncA>(type);
  if (name == "dec") return IntegerAtomic<Pick, DecA>(type);
  if (name == "exch")
    return type == Type::kB128 ? Pick::template Of<ExchA<U128>, U128>()
                               : IntegerAtomic<Pick, ExchA>(type);
  if (name != "cas") return nullptr;
  if (type == Type::kB16) return Pick::template Of<CasA<uint16_t>, uint16_t>();
  if (type == Type::kB128) return Pick::template Of<CasA<U128>, U128>();
  return IntegerAtomic<Pick, CasA>(type);
}

absl::string_view OperationOf(const Binder& b) {
  for (absl::string_view name :
       {"add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"})
    if (b.Has(name)) return name;
  return "";
}

void BindAtomic(Binder& b, bool has_result) {
  const Type type = b.type();
  const int first = has_result ? 1 : 0;
  Op op = b.MakeExec(AtomicOf<OnLanes>(OperationOf(b), b.space() == Space::kShared, type));
  if (op.exec == nullptr) return b.Unsupported();
  op.type = type;
  op.space = b.space();
  op.c = kNoSlot;
  b.Address(b.operand(first), op);
  op.list2 = b.SourceList(b.operand(first + 1), type, op.list2_size);
  if (b.Has("cas")) op.c = b.Source(first + 2, type);
  if (has_result) op.list = b.ResultList(b.operand(0), op.list_size);
  if (b.failed()) return;
  const bool commutes = !b.Has("cas") && !b.Has("exch") && !b.Has("inc") && !b.Has("dec") &&
                        !(IsFloat(type) && b.Has("add"));
  const bool is_used = has_result && b.operand(0).kind != Operand::kSink;
  if (op.space != Space::kShared && (!commutes || is_used)) b.OrderMatters();
  b.Emit(op);
}

}  // namespace

void BindAtom(Binder& b) { BindAtomic(b, /*has_result=*/true); }
void BindRed(Binder& b) {
  b.Has("async") ? BindReduceAsync(b) : BindAtomic(b, /*has_result=*/false);
}

Combine CombineOf(const Binder& b, Type type) {
  return AtomicOf<Alone>(OperationOf(b), /*in_shared=*/true, type);
}
Combine CombineNamed(absl::string_view name, Type type) {
  return AtomicOf<Alone>(name, /*in_shared=*/true, type);
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
