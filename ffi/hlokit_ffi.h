// Custom calls of one's own: write functions, build a shared library, hlo-run --load=libmine.so.
/*
 * C++ (C++20 or later), one call a function, arguments and results checked for type and rank:
 *
 *   #include "ffi/hlokit_ffi.h"
 *   static std::string Scale(hlokit_ffi::Buffer<float, 1> x, double factor,
 *                            hlokit_ffi::Result<float, 1> y) {
 *     if (x.size() != y.size()) return "x and y differ in size";
 *     for (int64_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(factor) * x[i];
 *     return "";  // no error
 *   }
 *   HLOKIT_FFI_BEGIN
 *   HLOKIT_FFI_CALL("scale", Scale, "factor")
 *   HLOKIT_FFI_END
 *
 * called by: y = f32[4] custom-call(x), custom_call_target="scale", backend_config={factor = 2.5 :
 * f32} Parameters come in any order: buffers are taken from the operands, results from the results
 * (a tuple's arrays one by one), everything else from the attributes named, in order.
 *
 * C: fill a table of hlokit_ffi_entry and export hlokit_ffi_entries, as the macros do.
 * Nothing here needs hlokit to build or link.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised where the structs change. */
#define HLOKIT_FFI_VERSION 1

/* An array in memory, in the order of minor_to_major (row-major: rank - 1, ..., 0). Arguments come
 * in the layout that the call's operand_layout_constraints name, else row-major; results go in the
 * layout of the call's shape. Element types of less than a byte take a byte an element; pred is 0
 * or 1. */
typedef struct {
  const char* type;    /* as in HLO text: "f32", "bf16", "s64", "c128"; "token" has no data */
  int32_t rank;        /* how many dimensions */
  const int64_t* dims; /* of a dynamic dimension its bound */
  const int64_t* minor_to_major; /* dimensions, the fastest first */
  void* data;                    /* arguments: to be read only; 64-byte aligned */
  int64_t bytes;                 /* of all elements */
} hlokit_ffi_buffer;

enum {
  HLOKIT_FFI_INTEGER, /* also true and false, as 1 and 0 */
  HLOKIT_FFI_NUMBER,
  HLOKIT_FFI_STRING,
  HLOKIT_FFI_INTEGERS, /* a list */
  HLOKIT_FFI_NUMBERS
};

/* An entry of backend_config={name = value : type, ..} or of a JSON object; kind says which field
 * holds it. */
typedef struct {
  const char* name;        /* ends with a 0 */
  int32_t kind;            /* one of HLOKIT_FFI_INTEGER, ... */
  int64_t integer;         /* of HLOKIT_FFI_INTEGER */
  double number;           /* set for integers too */
  const char* string;      /* of HLOKIT_FFI_STRING; ends with a 0 */
  int64_t count;           /* of the list, or of the string's characters */
  const int64_t* integers; /* of HLOKIT_FFI_INTEGERS */
  const double* numbers;   /* of HLOKIT_FFI_NUMBERS */
} hlokit_ffi_attribute;

/* One call: what goes in, and where results are to be written. */
typedef struct hlokit_ffi_call {
  int32_t version;             /* HLOKIT_FFI_VERSION of the caller */
  const char* target;          /* custom_call_target, by which the function was found */
  const char* backend_config;  /* the whole text, ends with a 0 */
  int64_t backend_config_size; /* characters of it */
  /* Of the arrays below. */
  int32_t argument_count, result_count, attribute_count;
  const hlokit_ffi_buffer* arguments;     /* tuples flattened, depth first */
  const hlokit_ffi_buffer* results;       /* zeroed; an aliased one is its operand */
  const hlokit_ffi_attribute* attributes; /* of backend_config */
  /* Of the device that calls. */
  int64_t replica, partition;
  /* Says why the call failed; the text is copied. */
  void (*set_error)(struct hlokit_ffi_call* call, const char* message);
  void* caller; /* the caller's own */
} hlokit_ffi_call;

/* 0 where all went well. Calls may come from several threads at once, and must not throw. */
typedef int (*hlokit_ffi_function)(hlokit_ffi_call* call);

/* A function and the custom_call_target that calls it. */
typedef struct {
  const char* target;           /* ends with a 0 */
  hlokit_ffi_function function; /* called from any thread */
} hlokit_ffi_entry;

/* What a library exports: its entries, how many, and the version it was built for. */
typedef const hlokit_ffi_entry* (*hlokit_ffi_entries_function)(int32_t* count, int32_t* version);

#ifdef __cplusplus
} /* extern "C" */

#include <array>
#include <complex>
#include <exception>
#include <string>
#include <tuple>
#include <utility>

namespace hlokit_ffi {

template <typename T>
constexpr const char* kTypeName = nullptr;
template <>
inline constexpr const char* kTypeName<bool> = "pred";
template <>
inline constexpr const char* kTypeName<int8_t> = "s8";
template <>
inline constexpr const char* kTypeName<int16_t> = "s16";
template <>
inline constexpr const char* kTypeName<int32_t> = "s32";
template <>
inline constexpr const char* kTypeName<int64_t> = "s64";
template <>
inline constexpr const char* kTypeName<uint8_t> = "u8";
template <>
inline constexpr const char* kTypeName<uint16_t> = "u16";
template <>
inline constexpr const char* kTypeName<uint32_t> = "u32";
template <>
inline constexpr const char* kTypeName<uint64_t> = "u64";
template <>
inline constexpr const char* kTypeName<float> = "f32";
template <>
inline constexpr const char* kTypeName<double> = "f64";
template <>
inline constexpr const char* kTypeName<std::complex<float>> = "c64";
template <>
inline constexpr const char* kTypeName<std::complex<double>> = "c128";

constexpr int kAnyRank = -1;

/* An argument: elements of type T in memory order. */
template <typename T, int kRank = kAnyRank>
class Buffer {
 public:
  explicit Buffer(const hlokit_ffi_buffer& buffer) : buffer_(&buffer) {}
  int64_t rank() const { return buffer_->rank; }
  int64_t dim(int d) const { return buffer_->dims[d]; }
  int64_t size() const { return buffer_->bytes / static_cast<int64_t>(sizeof(T)); }
  const T* data() const { return static_cast<const T*>(buffer_->data); }
  const T& operator[](int64_t i) const { return data()[i]; }
  const hlokit_ffi_buffer& raw() const { return *buffer_; }

 protected:
  const hlokit_ffi_buffer* buffer_;
};

/* A result, to be written. */
template <typename T, int kRank = kAnyRank>
class Result : public Buffer<T, kRank> {
 public:
  using Buffer<T, kRank>::Buffer;
  T* data() const { return static_cast<T*>(this->buffer_->data); }
  T& operator[](int64_t i) const { return data()[i]; }
};

/* Hands out the parts of a call in order, and notes the first that does not fit. */
class Reader {
 public:
  Reader(const hlokit_ffi_call& call, const char* const* names, int name_count)
      : call_(call), names_(names), name_count_(name_count) {}

  template <typename T, int kRank>
  Buffer<T, kRank> Read(Buffer<T, kRank>*) {
    return Buffer<T, kRank>(
        Take<T, kRank>("argument", call_.arguments, call_.argument_count, argument_));
  }
  template <typename T, int kRank>
  Result<T, kRank> Read(Result<T, kRank>*) {
    return Result<T, kRank>(Take<T, kRank>("result", call_.results, call_.result_count, result_));
  }
  int64_t Read(int64_t*) { return Attribute(HLOKIT_FFI_INTEGER).integer; }
  int32_t Read(int32_t*) { return static_cast<int32_t>(Attribute(HLOKIT_FFI_INTEGER).integer); }
  bool Read(bool*) { return Attribute(HLOKIT_FFI_INTEGER).integer != 0; }
  double Read(double*) { return Attribute(HLOKIT_FFI_NUMBER).number; }
  float Read(float*) { return static_cast<float>(Attribute(HLOKIT_FFI_NUMBER).number); }
  std::string Read(std::string*) {
    const hlokit_ffi_attribute& a = Attribute(HLOKIT_FFI_STRING);
    return a.string == nullptr ? std::string() : std::string(a.string, a.count);
  }
  /* The whole call, for functions that look for themselves. */
  const hlokit_ffi_call& Read(const hlokit_ffi_call*) { return Whole(); }

  const hlokit_ffi_call& Whole() {
    all_ = true;
    return call_;
  }
  std::string Error() const {
    if (!error_.empty() || all_) return error_;
    if (argument_ != call_.argument_count)
      return "takes " + std::to_string(argument_) + " arguments, not " +
             std::to_string(call_.argument_count);
    if (result_ != call_.result_count)
      return "gives " + std::to_string(result_) + " results, not " +
             std::to_string(call_.result_count);
    return error_;
  }

 private:
  template <typename T, int kRank>
  const hlokit_ffi_buffer& Take(const char* what, const hlokit_ffi_buffer* buffers, int count,
                                int& next) {
    static const int64_t kNoDims[1] = {0};
    static const hlokit_ffi_buffer kNone = {"", 0, kNoDims, kNoDims, nullptr, 0};
    const int i = next++;
    if (i >= count) return kNone;
    const std::string label = std::string(what) + " " + std::to_string(i);
    if (std::string(buffers[i].type) != kTypeName<T>)
      Fail(label + " is " + buffers[i].type + ", expected " + kTypeName<T>);
    if (kRank != kAnyRank && buffers[i].rank != kRank)
      Fail(label + " has " + std::to_string(buffers[i].rank) + " dimensions, expected " +
           std::to_string(kRank));
    return buffers[i];
  }
  const hlokit_ffi_attribute& Attribute(int kind) {
    static const hlokit_ffi_attribute kNone = {};
    const std::string name = attribute_ < name_count_ ? names_[attribute_] : "";
    ++attribute_;
    for (int i = 0; i < call_.attribute_count; ++i) {
      const hlokit_ffi_attribute& a = call_.attributes[i];
      if (name != a.name) continue;
      if (a.kind == kind || (kind == HLOKIT_FFI_NUMBER && a.kind == HLOKIT_FFI_INTEGER)) return a;
      Fail("attribute " + name + " is of another kind");
      return kNone;
    }
    Fail(name.empty() ? "more parameters than attribute names" : "no attribute " + name);
    return kNone;
  }
  void Fail(const std::string& why) {
    if (error_.empty()) error_ = why;
  }

  const hlokit_ffi_call& call_;
  const char* const* names_;
  int name_count_;
  int argument_ = 0, result_ = 0, attribute_ = 0;
  bool all_ = false;
  std::string error_;
};

template <typename... Parameters>
int Invoke(std::string (*function)(Parameters...), hlokit_ffi_call* call, const char* const* names,
           int name_count) {
  std::string error;
  try {
    Reader reader(*call, names, name_count);
    /* Braces fix the order. */
    std::tuple<Parameters...> parameters{
        reader.Read(static_cast<std::decay_t<Parameters>*>(nullptr))...};
    error = reader.Error();
    if (error.empty()) error = std::apply(function, std::move(parameters));
  } catch (const std::exception& e) {
    error = e.what();
  }
  if (error.empty()) return 0;
  call->set_error(call, error.c_str());
  return 1;
}

}  // namespace hlokit_ffi

/* The table that a library exports: HLOKIT_FFI_CALL once for each function, attribute names after
 * it. */
#define HLOKIT_FFI_BEGIN                                                                        \
  extern "C" __attribute__((visibility("default"))) const hlokit_ffi_entry* hlokit_ffi_entries( \
      int32_t* count, int32_t* version) {                                                       \
    static const hlokit_ffi_entry entries[] = {
#define HLOKIT_FFI_CALL(target, function, ...)                                             \
  {target, [](hlokit_ffi_call* call) -> int {                                              \
     static const char* const names[] = {__VA_ARGS__ __VA_OPT__(, ) nullptr};              \
     return hlokit_ffi::Invoke(function, call, names, sizeof(names) / sizeof(*names) - 1); \
   }},
#define HLOKIT_FFI_END                           \
  }                                              \
  ;                                              \
  *count = sizeof(entries) / sizeof(entries[0]); \
  *version = HLOKIT_FFI_VERSION;                 \
  return entries;                                \
  }
#endif /* __cplusplus */
/* SPDX-License-Identifier: Apache-2.0 */
