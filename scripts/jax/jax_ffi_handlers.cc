// Handlers of typed custom calls, written with the headers that jaxlib ships, for jax_ffi_test.py.
#include <memory>
#include <string_view>

#include "xla/ffi/api/ffi.h"

namespace ffi = xla::ffi;

// A state that instantiate makes and each call advances.
struct Counter {
  static ffi::TypeId id;
  static int deleted;
  int next = 0;
  ~Counter() { ++deleted; }
};
int Counter::deleted = 0;
ffi::TypeId Counter::id = {};

static ffi::ErrorOr<std::unique_ptr<Counter>> MakeCounter(int64_t start) {
  auto counter = std::make_unique<Counter>();
  counter->next = static_cast<int>(start);
  return ffi::ErrorOr<std::unique_ptr<Counter>>(std::move(counter));
}
static ffi::Error Count(Counter* counter, ffi::Result<ffi::Buffer<ffi::S32>> out) {
  out->typed_data()[0] = counter->next++;
  return ffi::Error::Success();
}

static ffi::Error Scale(float factor, std::string_view mode, ffi::Span<const int64_t> dims,
                        ffi::Dictionary more, bool flag, ffi::AnyBuffer x,
                        ffi::ResultBuffer<ffi::F32> y) {
  if (mode == "bad") return ffi::Error(ffi::ErrorCode::kInvalidArgument, "mode is bad");
  const auto k = more.get<int32_t>("k");
  if (!k) return k.error();
  for (size_t i = 0; i < y->element_count(); ++i)
    y->typed_data()[i] = x.typed_data<float>()[i] * factor + static_cast<float>(dims[0]) +
                         static_cast<float>(*k) + (flag ? 100.0f : 0.0f);
  return ffi::Error::Success();
}

static ffi::Error InPlace(ffi::Buffer<ffi::F32> x, ffi::ResultBuffer<ffi::F32> y) {
  if (x.typed_data() != y->typed_data()) return ffi::Error::Internal("not aliased");
  for (size_t i = 0; i < y->element_count(); ++i) y->typed_data()[i] += 1;
  return ffi::Error::Success();
}

static ffi::Error Scratch(ffi::ScratchAllocator scratch, ffi::RunId, ffi::RemainingArgs arguments,
                          ffi::RemainingRets results) {
  const auto memory = scratch.Allocate(1024, 64);
  if (!memory) return ffi::Error::Internal("no scratch");
  const auto x = arguments.get<ffi::Buffer<ffi::F32>>(0);
  auto y = results.get<ffi::Buffer<ffi::F32>>(0);
  auto* const copy = static_cast<float*>(*memory);
  copy[0] = x->typed_data()[0];
  (*y)->typed_data()[0] = copy[0] * 2;
  return ffi::Error::Success();
}

// Its result is there after it has returned.
static ffi::Future Later(ffi::ThreadPool pool, ffi::Buffer<ffi::F32> x,
                         ffi::ResultBuffer<ffi::F32> y) {
  ffi::Promise promise;
  ffi::Future future(promise);
  pool.Schedule([x, y, done = std::make_shared<ffi::Promise>(std::move(promise))]() mutable {
    y->typed_data()[0] = -x.typed_data()[0];
    done->SetAvailable();
  });
  return future;
}

// What the caller of a run lends; JAX lends nothing.
struct Lent {
  static ffi::TypeId id;
  float number;
};
ffi::TypeId Lent::id = {1234};
static ffi::Error GiveLent(Lent* lent, ffi::ResultBuffer<ffi::F32> out) {
  out->typed_data()[0] = lent->number;
  return ffi::Error::Success();
}
static ffi::Error GiveRunId(ffi::RunId id, ffi::ResultBuffer<ffi::S32> out) {
  out->typed_data()[0] = static_cast<int32_t>(id.run_id);
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    LentHandler, GiveLent,
    ffi::Ffi::Bind().Ctx<ffi::UserData<Lent>>().Ret<ffi::Buffer<ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(RunIdOfHandler, GiveRunId,
                              ffi::Ffi::Bind().Ctx<ffi::RunId>().Ret<ffi::Buffer<ffi::S32>>());

XLA_FFI_DEFINE_HANDLER_SYMBOL(MakeCounterHandler, MakeCounter,
                              ffi::Ffi::BindInstantiate().Attr<int64_t>("start"));
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    CountHandler, Count, ffi::Ffi::Bind().Ctx<ffi::State<Counter>>().Ret<ffi::Buffer<ffi::S32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(ScaleHandler, Scale,
                              ffi::Ffi::Bind()
                                  .Attr<float>("factor")
                                  .Attr<std::string_view>("mode")
                                  .Attr<ffi::Span<const int64_t>>("dims")
                                  .Attr<ffi::Dictionary>("more")
                                  .Attr<bool>("flag")
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::Buffer<ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    InPlaceHandler, InPlace,
    ffi::Ffi::Bind().Arg<ffi::Buffer<ffi::F32>>().Ret<ffi::Buffer<ffi::F32>>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(ScratchHandler, Scratch,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ScratchAllocator>()
                                  .Ctx<ffi::RunId>()
                                  .RemainingArgs()
                                  .RemainingRets());
XLA_FFI_DEFINE_HANDLER_SYMBOL(LaterHandler, Later,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::Buffer<ffi::F32>>()
                                  .Ret<ffi::Buffer<ffi::F32>>());

extern "C" void* CounterTypeId() { return &Counter::id; }
extern "C" void* CounterTypeInfo() {
  static ffi::TypeInfo info = ffi::MakeTypeInfo<Counter>();
  return &info;
}
extern "C" int Deleted() { return Counter::deleted; }
// XLA's first interface.
extern "C" void Triple(void* out, const void** in) {
  static_cast<float*>(out)[0] = static_cast<const float*>(in[0])[0] * 3;
}
// SPDX-License-Identifier: Apache-2.0
