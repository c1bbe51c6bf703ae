// vprintf, __assertfail, malloc and free.
#include "ptxsim/builtins.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "ptxsim/bind_internal.h"
#include "ptxsim/block.h"
#include "ptxsim/lanes.h"

namespace hlokit::ptx {
namespace {

const CallSite& SiteOf(const Op& op, Warp& warp) { return warp.code().calls[op.list]; }

// A value of the call for one lane; `bytes` at most 8.
std::byte* PlaceOf(const CallValue& value, Warp& warp, int lane, int64_t& bytes) {
  if (value.local < 0) {
    bytes = value.slot.bytes;
    return value.slot.at == kNoSlot ? nullptr
                                    : warp.frame() + value.slot.at + lane * value.slot.bytes;
  }
  bytes = value.bytes;
  return warp.block().Resolve(Space::kLocal, static_cast<uint64_t>(warp.local_base() + value.local),
                              bytes, warp.ThreadOf(lane));
}
uint64_t Argument(const Op& op, Warp& warp, size_t i, int lane) {
  const CallSite& site = SiteOf(op, warp);
  if (i >= site.arguments.size()) return 0;
  int64_t bytes = 0;
  const std::byte* at = PlaceOf(site.arguments[i], warp, lane, bytes);
  uint64_t value = 0;
  if (at != nullptr) std::memcpy(&value, at, static_cast<size_t>(std::min<int64_t>(bytes, 8)));
  return value;
}
void SetResult(const Op& op, Warp& warp, int lane, uint64_t value) {
  const CallSite& site = SiteOf(op, warp);
  if (site.results.empty()) return;
  int64_t bytes = 0;
  std::byte* at = PlaceOf(site.results[0], warp, lane, bytes);
  if (at == nullptr) return;
  std::memcpy(at, &value, static_cast<size_t>(std::min<int64_t>(bytes, 8)));
  if (uint8_t* const marks = warp.block().WrittenMarks(at))
    std::memset(marks, 1, static_cast<size_t>(bytes));
}

// A string of device memory, up to its zero or what is mapped.
std::string TextAt(Warp& warp, int lane, uint64_t address) {
  std::string text;
  for (; text.size() < 4096; ++address) {
    const std::byte* at = warp.block().Resolve(Space::kGeneric, address, 1, warp.ThreadOf(lane));
    if (at == nullptr || *at == std::byte{0}) break;
    text.push_back(static_cast<char>(*at));
  }
  return text;
}

// The arguments of printf lie one behind the other, each at a multiple of its size.
class PrintArguments {
 public:
  PrintArguments(Warp& warp, int lane, uint64_t address)
      : warp_(warp), lane_(lane), address_(address) {}
  uint64_t Next(int64_t bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    const std::byte* from =
        warp_.block().Resolve(Space::kGeneric, address_ + at_, bytes, warp_.ThreadOf(lane_));
    at_ += bytes;
    uint64_t value = 0;
    if (from != nullptr) std::memcpy(&value, from, static_cast<size_t>(bytes));
    return value;
  }

 private:
  Warp& warp_;
  int lane_;
  uint64_t address_;
  int64_t at_ = 0;
};

// One conversion, `%-5.2f`, from `spec` without its length modifiers.
std::string Convert(Warp& warp, int lane, const std::string& flags, bool is_long, char kind,
                    PrintArguments& arguments) {
  char buffer[512];
  const auto print = [&](const std::string& format, auto value) {
    std::snprintf(buffer, sizeof(buffer), format.c_str(), value);
    return std::string(buffer);
  };
  switch (kind) {
    case 'd':
    case 'i': {
      const uint64_t bits = arguments.Next(is_long ? 8 : 4);
      const long long value = is_long ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
      return print(flags + "ll" + kind, value);
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return print(flags + "ll" + kind,
                   static_cast<unsigned long long>(arguments.Next(is_long ? 8 : 4)));
    case 'c':
      return print(flags + "c", static_cast<int>(arguments.Next(4)));
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      return print(flags + kind, std::bit_cast<double>(arguments.Next(8)));
    case 'p':
      return print("%s", absl::StrCat("0x", absl::Hex(arguments.Next(8))).c_str());
    case 's':
      return print(flags + "s", TextAt(warp, lane, arguments.Next(8)).c_str());
    default:
      return flags + kind;
  }
}

std::string Format(Warp& warp, int lane, const std::string& format, uint64_t address) {
  PrintArguments arguments(warp, lane, address);
  std::string out;
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      out.push_back(format[i]);
      continue;
    }
    if (i + 1 < format.size() && format[i + 1] == '%') {
      out.push_back('%');
      ++i;
      continue;
    }
    std::string flags = "%";
    bool is_long = false;
    for (++i; i < format.size() && std::strchr("-+ #0123456789.*lhzjt", format[i]); ++i) {
      if (std::strchr("lzjt", format[i])) {
        is_long = true;
      } else if (format[i] == '*') {
        absl::StrAppend(&flags, static_cast<int32_t>(arguments.Next(4)));
      } else if (format[i] != 'h' && flags.size() < 16) {
        flags.push_back(format[i]);
      }
    }
    if (i < format.size()) out += Convert(warp, lane, flags, is_long, format[i], arguments);
  }
  return out;
}

void Vprintf(const Op& op, Warp& warp, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const std::string format = TextAt(warp, lane, Argument(op, warp, 0, lane));
    const std::string text = Format(warp, lane, format, Argument(op, warp, 1, lane));
    warp.block().Print(text);
    SetResult(op, warp, lane, text.size());
  }
}

// __assertfail(message, file, line, function, char size)
void AssertFail(const Op& op, Warp& warp, LaneMask mask) {
  const int lane = std::countr_zero(mask);
  warp.block().Fault(warp, op, lane,
                     absl::StrCat("assertion `", TextAt(warp, lane, Argument(op, warp, 0, lane)),
                                  "` failed, ", TextAt(warp, lane, Argument(op, warp, 1, lane)),
                                  ":", static_cast<uint32_t>(Argument(op, warp, 2, lane)), ", in ",
                                  TextAt(warp, lane, Argument(op, warp, 3, lane))));
}

// malloc and free: memory of its own for each call, so that what lies beyond it is out of bounds.
void Malloc(const Op& op, Warp& warp, LaneMask mask) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 30;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint64_t bytes = Argument(op, warp, 0, lane);
    absl::StatusOr<uint64_t> made = uint64_t{0};
    if (bytes > 0 && bytes <= kMaxBytes)
      made = warp.block().launch().memory->Allocate(static_cast<int64_t>(bytes), "malloc",
                                                    /*is_written=*/true);
    SetResult(op, warp, lane, made.ok() ? *made : 0);
  }
}
void Free(const Op& op, Warp& warp, LaneMask mask) {
  Memory& memory = *warp.block().launch().memory;
  for (int lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1)) continue;
    const uint64_t address = Argument(op, warp, 0, lane);
    if (address == 0) continue;
    const Allocation* allocation = memory.Find(address);
    if (allocation == nullptr || allocation->address != address || allocation->name != "malloc")
      return warp.block().Fault(
          warp, op, lane,
          absl::StrCat("free of address 0x", absl::Hex(address), ", which malloc did not give"));
    memory.Free(address);
  }
}

}  // namespace

bool IsDeviceHeap(absl::string_view name) { return name == "malloc" || name == "free"; }

Exec BuiltinNamed(absl::string_view name) {
  if (name == "malloc") return &Malloc;
  if (name == "free") return &Free;
  if (name == "vprintf") return &Vprintf;
  if (name == "__assertfail" || name == "__assert_fail") return &AssertFail;
  return nullptr;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
