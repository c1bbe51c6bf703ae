// XLA's typed custom calls: the binary interface of version 0.3, declared in our own words.
//
// A handler is one function. It gets a call frame: arguments, results and attributes with their
// types, and a table of functions to call back. Every struct begins with its size and a chain of
// extensions; fields were only ever added at the end.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hlokit {

inline constexpr int kXlaFfiMajor = 0;
inline constexpr int kXlaFfiMinor = 3;

struct XlaFfiError;
struct XlaFfiContext;
struct XlaFfiFuture;
struct XlaFfiApi;

enum class XlaFfiExtensionType : uint32_t { kMetadata = 1 };
struct XlaFfiExtension {
  size_t struct_size;
  XlaFfiExtensionType type;
  XlaFfiExtension* next;
};

// What all structs begin with.
struct XlaFfiHead {
  size_t struct_size;
  XlaFfiExtension* extensions;
};

struct XlaFfiVersion : XlaFfiHead {
  int major, minor;
};

enum class XlaFfiStage : uint32_t { kInstantiate, kPrepare, kInitialize, kExecute };

struct XlaFfiSpan {
  const char* data;
  size_t size;
};
struct XlaFfiTypeId {
  int64_t id;
};

// An argument or result; `type` counts as PrimitiveType does.
struct XlaFfiBuffer : XlaFfiHead {
  uint32_t type;
  void* data;
  int64_t rank;
  int64_t* dims;
};

enum class XlaFfiAttrKind : uint32_t { kArray = 1, kDictionary = 2, kScalar = 3, kString = 4 };
struct XlaFfiScalar {
  uint32_t type;
  void* value;
};
struct XlaFfiArray {
  uint32_t type;
  size_t size;  // elements
  void* data;
};

// Arguments and results alike; a kind of 1 is a buffer.
struct XlaFfiBuffers : XlaFfiHead {
  int64_t size;
  uint32_t* kinds;
  void** buffers;
};
// Sorted by name. A value is an XlaFfiArray, XlaFfiAttrs, XlaFfiScalar or XlaFfiSpan.
struct XlaFfiAttrs : XlaFfiHead {
  int64_t size;
  XlaFfiAttrKind* kinds;
  XlaFfiSpan** names;
  void** values;
};

struct XlaFfiCallFrame : XlaFfiHead {
  const XlaFfiApi* api;
  XlaFfiContext* context;
  XlaFfiStage stage;
  XlaFfiBuffers arguments, results;
  XlaFfiAttrs attributes;
  XlaFfiFuture* future;  // set by a handler that goes on after its return
};
using XlaFfiHandler = XlaFfiError*(XlaFfiCallFrame*);

// The handlers of a target, one a stage; only the last is there always.
struct XlaFfiBundle {
  XlaFfiHandler *instantiate, *prepare, *initialize, *execute;
};

// What a handler tells of itself where a frame has this extension.
struct XlaFfiMetadata {
  size_t struct_size;
  XlaFfiVersion version;
  uint32_t traits;
  XlaFfiTypeId state_type;
};
struct XlaFfiMetadataExtension {
  XlaFfiExtension head;
  XlaFfiMetadata* metadata;
};

// The arguments of the table's functions.
struct XlaFfiErrorCreateArgs : XlaFfiHead {
  const char* message;
  uint32_t code;
};
struct XlaFfiErrorMessageArgs : XlaFfiHead {
  XlaFfiError* error;
  const char* message;
};
struct XlaFfiErrorDestroyArgs : XlaFfiHead {
  XlaFfiError* error;
};
struct XlaFfiFutureArgs : XlaFfiHead {
  XlaFfiFuture* future;
};
struct XlaFfiFutureErrorArgs : XlaFfiHead {
  XlaFfiFuture* future;
  XlaFfiError* error;
};
struct XlaFfiRegisterArgs : XlaFfiHead {
  XlaFfiSpan name, platform;
  XlaFfiBundle bundle;
  uint32_t traits;
};
struct XlaFfiTypeInfo : XlaFfiHead {
  void (*deleter)(void* object);
};
struct XlaFfiTypeRegisterArgs : XlaFfiHead {
  XlaFfiSpan name;
  XlaFfiTypeId* type;
  const XlaFfiTypeInfo* info;
};
struct XlaFfiContextGetArgs : XlaFfiHead {
  XlaFfiContext* context;
  XlaFfiTypeId* type;
  void* data;
};
struct XlaFfiStateArgs : XlaFfiHead {
  XlaFfiContext* context;
  XlaFfiStage stage;
  XlaFfiTypeId* type;
  void* state;
};
struct XlaFfiStreamArgs : XlaFfiHead {
  XlaFfiContext* context;
  void* stream;
};
struct XlaFfiAllocateArgs : XlaFfiHead {
  XlaFfiContext* context;
  size_t size, alignment;
  void* data;
};
struct XlaFfiFreeArgs : XlaFfiHead {
  XlaFfiContext* context;
  size_t size;
  void* data;
};
struct XlaFfiScheduleArgs : XlaFfiHead {
  XlaFfiContext* context;
  void (*task)(void* data);
  void* data;
};
struct XlaFfiThreadsArgs : XlaFfiHead {
  XlaFfiContext* context;
  int64_t* threads;
};
struct XlaFfiRunIdArgs : XlaFfiHead {
  XlaFfiContext* context;
  int64_t run_id;
};
struct XlaFfiOrdinalArgs : XlaFfiHead {
  XlaFfiContext* context;
  int32_t ordinal;
};

struct XlaFfiApi : XlaFfiHead {
  XlaFfiVersion version;
  const void* internal;
  XlaFfiError* (*create_error)(XlaFfiErrorCreateArgs*);
  void (*error_message)(XlaFfiErrorMessageArgs*);
  void (*destroy_error)(XlaFfiErrorDestroyArgs*);
  XlaFfiError* (*register_handler)(XlaFfiRegisterArgs*);
  XlaFfiError* (*get_stream)(XlaFfiStreamArgs*);
  XlaFfiError* (*register_type)(XlaFfiTypeRegisterArgs*);
  XlaFfiError* (*get_context)(XlaFfiContextGetArgs*);
  XlaFfiError* (*set_state)(XlaFfiStateArgs*);
  XlaFfiError* (*get_state)(XlaFfiStateArgs*);
  XlaFfiError* (*allocate)(XlaFfiAllocateArgs*);
  XlaFfiError* (*free)(XlaFfiFreeArgs*);
  XlaFfiError* (*schedule)(XlaFfiScheduleArgs*);
  XlaFfiError* (*thread_count)(XlaFfiThreadsArgs*);
  XlaFfiError* (*create_future)(XlaFfiFutureArgs*);
  XlaFfiError* (*set_available)(XlaFfiFutureArgs*);
  XlaFfiError* (*set_future_error)(XlaFfiFutureErrorArgs*);
  XlaFfiError* (*run_id)(XlaFfiRunIdArgs*);
  XlaFfiError* (*device_ordinal)(XlaFfiOrdinalArgs*);
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
