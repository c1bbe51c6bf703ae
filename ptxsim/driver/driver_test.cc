// The simulated driver as a client of CUDA sees it: handles, memory, launches, faults and refusals.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "cuda_api/cuda_api.h"
#include "ptxsim/driver/client_api.h"
#include "ptxsim/driver/sim_extensions.h"

namespace hlokit::cuda {
namespace {

// scale(x, f): x[i] *= f for the threads of one block.
constexpr char kScale[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .f32 f)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [x];
  ld.param.f32 %f1, [f];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f2, [%rd3];
  mul.rn.f32 %f3, %f2, %f1;
  st.global.f32 [%rd3], %f3;
  ret;
}
)";

class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("HLOKIT_CUDA_SIM_CHECK", "1", 1);
    setenv("HLOKIT_CUDA_SIM_DEVICES", "2", 1);
    setenv("HLOKIT_CUDA_SIM_MEMORY", "1000000", 1);
    ASSERT_EQ(cuInit(0), kSuccess);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), kSuccess);
    ASSERT_EQ(cuCtxSetCurrent(context_), kSuccess);
  }
  void LoadScale() {
    ASSERT_EQ(cuModuleLoadDataEx(&module_, kScale, 0, nullptr, nullptr), kSuccess)
        << hlokitSimLastError();
    ASSERT_EQ(cuModuleGetFunction(&scale_, module_, "scale"), kSuccess);
  }
  Result Launch(DeviceAddress x, float f, unsigned threads) {
    void* parameters[] = {&x, &f};
    return cuLaunchKernel(scale_, 1, 1, 1, threads, 1, 1, 0, nullptr, parameters, nullptr);
  }

  Context context_ = nullptr;
  Module module_ = nullptr;
  Function scale_ = nullptr;
};

TEST_F(DriverTest, RunsAKernelOnMemory) {
  LoadScale();
  std::vector<float> values = {1, 2, 3, 4};
  DeviceAddress x = 0;
  ASSERT_EQ(cuMemAlloc_v2(&x, 16), kSuccess);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(x, values.data(), 16, nullptr), kSuccess);
  ASSERT_EQ(Launch(x, 2.5f, 4), kSuccess) << hlokitSimLastError();
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(values.data(), x, 16, nullptr), kSuccess);
  EXPECT_EQ(values, (std::vector<float>{2.5f, 5, 7.5f, 10}));
  EXPECT_EQ(cuMemFree_v2(x), kSuccess);
  EXPECT_EQ(cuMemFree_v2(x), kInvalidValue);
  EXPECT_EQ(cuModuleUnload(module_), kSuccess);
}

TEST_F(DriverTest, AFaultNamesItsPlaceAndLosesTheContext) {
  LoadScale();
  const float value = 1;
  DeviceAddress x = 0;
  ASSERT_EQ(cuMemAlloc_v2(&x, 4), kSuccess);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(x, &value, 4, nullptr), kSuccess);
  EXPECT_EQ(Launch(x, 2, 2), kLaunchFailed);
  const std::string message = hlokitSimLastError();
  EXPECT_NE(message.find("module.ptx:15:"), std::string::npos) << message;
  EXPECT_NE(message.find("scale"), std::string::npos) << message;
  EXPECT_EQ(cuCtxSynchronize(), kLaunchFailed);
}

TEST_F(DriverTest, ReadsOfUnwrittenMemoryAreFaults) {
  LoadScale();
  DeviceAddress x = 0;
  ASSERT_EQ(cuMemAlloc_v2(&x, 64), kSuccess);
  EXPECT_EQ(Launch(x, 2, 4), kLaunchFailed);
}

// As a GPU: 48 KiB of dynamic shared memory, unless the function's attribute allows more.
TEST_F(DriverTest, DynamicSharedMemoryIsLimited) {
  LoadScale();
  float value = 1;
  DeviceAddress x = 0;
  ASSERT_EQ(cuMemAlloc_v2(&x, 4), kSuccess);
  ASSERT_EQ(cuMemcpyHtoDAsync_v2(x, &value, 4, nullptr), kSuccess);
  const auto launch = [&](unsigned bytes) {
    void* parameters[] = {&x, &value};
    return cuLaunchKernel(scale_, 1, 1, 1, 1, 1, 1, bytes, nullptr, parameters, nullptr);
  };
  EXPECT_EQ(launch(49152), kSuccess) << hlokitSimLastError();
  EXPECT_EQ(launch(49153), kInvalidValue);
  EXPECT_EQ(cuFuncSetAttribute(scale_, kMaxDynamicSharedBytes, 232448), kSuccess);
  EXPECT_EQ(launch(232448), kSuccess) << hlokitSimLastError();
  EXPECT_EQ(cuFuncSetAttribute(scale_, kMaxDynamicSharedBytes, 232449), kInvalidValue);
}

// Two kernels of one module see one variable, which the host reads and writes too.
TEST_F(DriverTest, VariablesOfAModuleStay) {
  constexpr char kCounter[] = R"(.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 count = 5;
.func more(.param .b32 by) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [by]; ld.global.u32 %r2, [count]; add.u32 %r2, %r2, %r1; st.global.u32 [count], %r2;
  ret;
}
.global .u64 table[2] = {more, count};
.visible .entry one() {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.global.u64 %rd1, [table];
  { .param .b32 by; st.param.b32 [by], 1; proto: .callprototype ()_ (.param .b32 _); call %rd1, (by), proto; }
  ret;
}
.visible .entry ten() {
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.global.u64 %rd1, [table];
  { .param .b32 by; st.param.b32 [by], 10; proto: .callprototype ()_ (.param .b32 _); call %rd1, (by), proto; }
  ret;
}
)";
  Module module = nullptr, other = nullptr;
  Function one = nullptr, ten = nullptr;
  ASSERT_EQ(cuModuleLoadData(&other, kCounter), kSuccess) << hlokitSimLastError();
  ASSERT_EQ(cuModuleLoadData(&module, kCounter), kSuccess) << hlokitSimLastError();
  ASSERT_EQ(cuModuleGetFunction(&one, module, "one"), kSuccess) << hlokitSimLastError();
  ASSERT_EQ(cuModuleGetFunction(&ten, module, "ten"), kSuccess) << hlokitSimLastError();
  LaunchConfig config = {{1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr, 0};
  EXPECT_EQ(cuLaunchKernelEx(&config, one, nullptr, nullptr), kSuccess) << hlokitSimLastError();
  EXPECT_EQ(cuLaunchCooperativeKernel(ten, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr), kSuccess);
  DeviceAddress address = 0, others = 0;
  size_t bytes = 0;
  ASSERT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "count"), kSuccess);
  ASSERT_EQ(cuModuleGetGlobal_v2(&others, nullptr, other, "count"), kSuccess);
  EXPECT_EQ(bytes, 4u);
  uint32_t value = 0;
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address, 4), kSuccess);
  EXPECT_EQ(value, 16u);
  EXPECT_EQ(cuMemsetD32_v2(address, 100, 1), kSuccess);
  EXPECT_EQ(cuLaunchKernelEx(&config, one, nullptr, nullptr), kSuccess);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, address, 4), kSuccess);
  EXPECT_EQ(value, 101u);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, others, 4), kSuccess);
  EXPECT_EQ(value, 5u);
  EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "unknown"), kNotFound);
  EXPECT_EQ(cuModuleUnload(module), kSuccess);
  EXPECT_EQ(cuMemcpyDtoH_v2(&value, others, 4), kSuccess);
}

// Each block of a cluster of two copies a box of the tensor, whose map is a parameter, and adds
// what the other one has.
TEST_F(DriverTest, ClustersAndTensorMaps) {
  const char kText[] = R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 pout) {
  .reg .b64 q<4>; .reg .b32 w<8>; .reg .pred p;
  .shared .align 128 .b32 mem[4]; .shared .align 8 .b64 bar;
  ld.param.u64 q0, [pout]; mov.b64 q1, map; cvta.param.u64 q1, q1;
  mov.u32 w0, %ctaid.x; shl.b32 w1, w0, 2;
  mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
  cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [mem], [q1, {w1}], [bar];
  wait: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra wait;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  mov.u32 w2, mem; xor.b32 w3, w0, 1; mapa.shared::cluster.u32 w4, w2, w3;
  ld.shared::cluster.u32 w5, [w4+4]; ld.shared.u32 w6, [mem]; add.u32 w5, w5, w6;
  mad.wide.u32 q0, w0, 4, q0; st.global.u32 [q0], w5;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  ret;
})";
  Module module = nullptr;
  Function k = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kText), kSuccess) << hlokitSimLastError();
  ASSERT_EQ(cuModuleGetFunction(&k, module, "k"), kSuccess);
  DeviceAddress x = 0, out = 0;
  ASSERT_EQ(cuMemAlloc_v2(&x, 32), kSuccess);
  ASSERT_EQ(cuMemAlloc_v2(&out, 8), kSuccess);
  const uint32_t values[8] = {1, 2, 3, 4, 50, 60, 70, 80};
  ASSERT_EQ(cuMemcpyHtoD_v2(x, values, 32), kSuccess);
  alignas(64) unsigned char map[128];
  const uint64_t dims[] = {8};
  unsigned box[] = {4};
  const unsigned steps[] = {1};
  const auto encode = [&](int swizzle) {
    return cuTensorMapEncodeTiled(map, 2, 1, x, dims, nullptr, box, steps, 0, swizzle, 0, 0);
  };
  ASSERT_EQ(encode(0), kSuccess);
  LaunchAttribute cluster = {kAttributeClusterDimension, 0, {}};
  const unsigned shape[3] = {2, 1, 1};
  std::memcpy(cluster.value, shape, sizeof shape);
  const LaunchConfig config = {{2, 1, 1}, {1, 1, 1}, 0, nullptr, &cluster, 1};
  void* parameters[] = {map, &out};
  ASSERT_EQ(cuLaunchKernelEx(&config, k, parameters, nullptr), kSuccess) << hlokitSimLastError();
  uint32_t sums[2] = {};
  EXPECT_EQ(cuMemcpyDtoH_v2(sums, out, 8), kSuccess);
  EXPECT_EQ(sums[0], 61u);
  EXPECT_EQ(sums[1], 52u);
  box[0] = 3;  // 12 bytes
  EXPECT_EQ(encode(0), kInvalidValue);
  box[0] = 16;  // 64 bytes, beyond the swizzle's 32
  EXPECT_EQ(encode(1), kInvalidValue);
  EXPECT_EQ(cuTensorMapReplaceAddress(map, x + 8), kInvalidValue);
}

TEST_F(DriverTest, WhatOtherClientsAsk) {
  Device device = -1;
  EXPECT_EQ(cuCtxGetDevice(&device), kSuccess);
  EXPECT_EQ(device, 0);
  DeviceAddress x = 0, seen = 0;
  ASSERT_EQ(cuMemAllocAsync(&x, 64, nullptr), kSuccess);
  EXPECT_EQ(cuMemsetD8_v2(x, 3, 64), kSuccess);
  EXPECT_EQ(cuPointerGetAttribute(&seen, 3, x + 8), kSuccess);
  EXPECT_EQ(seen, x + 8);
  int on_host = 0, shared = 0, count = 0;
  EXPECT_EQ(cuPointerGetAttribute(&seen, 3, reinterpret_cast<DeviceAddress>(&on_host)),
            kInvalidValue);
  EXPECT_EQ(cuDeviceGetAttribute(&shared, 97, 0), kSuccess);
  EXPECT_EQ(shared, 227 << 10);
  LoadScale();
  EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&count, scale_, 256, 100 << 10), kSuccess);
  EXPECT_EQ(count, 2);
  // A cubin's machine code, of which no PTX is known.
  setenv("TRITON_CACHE_DIR", "/nowhere", 1);
  const std::string cubin = std::string("\177ELF") + std::string(60, '\0');
  Module module = nullptr;
  EXPECT_EQ(cuModuleLoadData(&module, cubin.data()), kNoBinaryForGpu);
  EXPECT_NE(std::string(hlokitSimLastError()).find("the simulator runs PTX"), std::string::npos);
  void* function = nullptr;
  EXPECT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, nullptr), kSuccess);
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
}

TEST_F(DriverTest, RefusesWhatIsNotThere) {
  DeviceAddress x = 0;
  EXPECT_EQ(cuMemAlloc_v2(&x, 2000000), kOutOfMemory);
  EXPECT_EQ(cuMemAlloc_v2(&x, 0), kInvalidValue);
  Device device = 0;
  EXPECT_EQ(cuDeviceGet(&device, 2), kInvalidDevice);
  EXPECT_EQ(
      cuModuleLoadDataEx(&module_, ".version 7.0\n.target sm_70\nnonsense", 0, nullptr, nullptr),
      kInvalidPtx);
  LoadScale();
  EXPECT_EQ(cuModuleGetFunction(&scale_, module_, "other"), kNotFound);
  const char* name = nullptr;
  EXPECT_EQ(cuGetErrorName(kNotFound, &name), kSuccess);
  EXPECT_STREQ(name, "CUDA_ERROR_NOT_FOUND");
}

}  // namespace
}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
