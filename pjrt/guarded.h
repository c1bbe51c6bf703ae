// The boundary of the PJRT C API: nothing that a function does may end the framework's process.
#pragma once

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include "absl/status/status.h"
#include "pjrt/abi/api.h"
#include "pjrt/objects.h"
#include "support/status.h"

namespace hlokit {

// Of the first field after the head.
enum class PjrtHandle : uint8_t { kNone, kNeeded, kOptional };

// What a function of the table answers: exceptions become errors, a null handle where one is
// needed is refused, and a caller who knows fewer fields than there are is given room for the rest,
// which reads as zero.
template <typename Args, absl::Status (*kFunction)(Args&), PjrtHandle kHandle>
PJRT_Error* Guarded(Args* args) {
  constexpr size_t kHead = sizeof(size_t) + sizeof(void*);
  try {
    if (args == nullptr) return MakeError(InvalidArgument("the arguments are null"));
    // The public sizes end with the last field; the structs themselves are padded.
    const size_t given = (args->struct_size + 7) & ~size_t{7};
    if (given < kHead)
      return MakeError(InvalidArgument("struct_size is ", args->struct_size, ", at least ", kHead,
                                       " is expected"));
    Args whole;
    Args* used = args;
    if (given < sizeof(Args)) {
      std::memset(static_cast<void*>(&whole), 0, sizeof(Args));
      std::memcpy(static_cast<void*>(&whole), args, given);
      used = &whole;
    }
    if constexpr (kHandle == PjrtHandle::kNeeded) {
      const void* handle = nullptr;
      std::memcpy(&handle, reinterpret_cast<const char*>(used) + kHead, sizeof(handle));
      if (handle == nullptr) return MakeError(InvalidArgument("the handle is null"));
    }
    const absl::Status status = kFunction(*used);
    if (used != args) std::memcpy(static_cast<void*>(args), &whole, given);
    return MakeError(status);
  } catch (const std::bad_alloc&) {
    return MakeError(absl::ResourceExhaustedError("out of memory"));
  } catch (const std::exception& error) {
    return MakeError(absl::InternalError(error.what()));
  } catch (...) {
    return MakeError(absl::InternalError("an exception of unknown type"));
  }
}

// The functions, each in the file of its subject.
#define HLOKIT_PJRT_SLOT(name, handle) absl::Status Pjrt##name(PJRT_##name##_Args& args);
#define HLOKIT_PJRT_ABSENT(name, reason)
#include "pjrt/abi/slots.def"
#undef HLOKIT_PJRT_SLOT
#undef HLOKIT_PJRT_ABSENT

// Gives a text that lives as long as its owner.
inline void GiveText(const std::string& text, const char*& data, size_t& size) {
  data = text.data();
  size = text.size();
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
