// Textures and surfaces through the simulated driver, as a client uses them: arrays, objects and
// references of a module. Expected values are worked out from the CUDA Programming Guide's
// formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "ptxsim/driver/sim_extensions.h"
#include "ptxsim/driver/texture_api.h"

namespace hlokit::cuda {
namespace {

constexpr int kFloat = 32, kU8 = 1, kU32 = 3;

// A kernel of 32 lanes: `body` between loads of w0 and w1 of each lane and a store of w9.
std::string KernelText(const std::string& body, const std::string& globals = "") {
  return ".version 8.0\n.target sm_80\n.address_size 64\n" + globals +
         ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 handle) {\n"
         ".reg .b32 w<20>; .reg .b64 q<9>; .reg .pred p<3>;\n"
         "ld.param.u64 q0, [in]; ld.param.u64 q1, [out]; ld.param.u64 q2, [handle];\n"
         "mov.u32 w19, %tid.x; mul.wide.u32 q3, w19, 8; add.u64 q0, q0, q3;\n"
         "mul.wide.u32 q3, w19, 4; add.u64 q1, q1, q3;\n"
         "ld.global.v2.b32 {w0, w1}, [q0];\n" +
         body + "\nst.global.b32 [q1], w9;\nret;\n}\n";
}

class TexturesTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), kSuccess);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 0), kSuccess);
    ASSERT_EQ(cuCtxSetCurrent(context_), kSuccess);
  }

  void Load(const std::string& text) {
    ASSERT_EQ(cuModuleLoadData(&module_, text.c_str()), kSuccess) << hlokitSimLastError();
    ASSERT_EQ(cuModuleGetFunction(&kernel_, module_, "k"), kSuccess) << hlokitSimLastError();
  }

  // Launches on as many lanes as there are pairs.
  Result Run(const std::vector<std::array<float, 2>>& in, ObjectHandle handle,
             std::vector<uint32_t>& out) {
    DeviceAddress from = 0, to = 0;
    out.assign(in.size(), 0);
    EXPECT_EQ(cuMemAlloc_v2(&from, in.size() * 8), kSuccess);
    EXPECT_EQ(cuMemAlloc_v2(&to, in.size() * 4), kSuccess);
    EXPECT_EQ(cuMemcpyHtoD_v2(from, in.data(), in.size() * 8), kSuccess);
    void* parameters[] = {&from, &to, &handle};
    const Result result = cuLaunchKernel(kernel_, 1, 1, 1, static_cast<unsigned>(in.size()), 1, 1,
                                         0, nullptr, parameters, nullptr);
    if (result != kSuccess) return result;
    EXPECT_EQ(cuMemcpyDtoH_v2(out.data(), to, out.size() * 4), kSuccess);
    return result;
  }
  std::vector<float> Floats(const std::vector<std::array<float, 2>>& in, ObjectHandle handle) {
    std::vector<uint32_t> words;
    EXPECT_EQ(Run(in, handle, words), kSuccess) << hlokitSimLastError();
    std::vector<float> floats;
    for (const uint32_t word : words) floats.push_back(std::bit_cast<float>(word));
    return floats;
  }

  // width x height (x depth) texels of `texels`, packed.
  template <typename T>
  Array ArrayOf(Array3DDescriptor descriptor, const std::vector<T>& texels) {
    Array array = nullptr;
    EXPECT_EQ(cuArray3DCreate_v2(&array, &descriptor), kSuccess);
    Memcpy3D copy = {};
    copy.from_type = kHostMemory;
    copy.from_host = texels.data();
    copy.from_pitch = descriptor.width * descriptor.channels * sizeof(T);
    copy.from_height = std::max<size_t>(1, descriptor.height);
    copy.to_type = kArrayMemory;
    copy.to_array = array;
    copy.width_bytes = copy.from_pitch;
    copy.height = copy.from_height;
    copy.depth = std::max<size_t>(1, descriptor.depth);
    EXPECT_EQ(cuMemcpy3D_v2(&copy), kSuccess);
    return array;
  }
  ObjectHandle TextureOf(Array array, int address, int filter, unsigned flags) {
    ResourceDescriptor resource = {};
    resource.array = array;
    TextureDescriptor texture = {};
    for (int& mode : texture.address) mode = address;
    texture.filter = filter;
    texture.flags = flags;
    texture.border[0] = 7.5f;
    ObjectHandle handle = 0;
    EXPECT_EQ(cuTexObjectCreate(&handle, &resource, &texture, nullptr), kSuccess);
    return handle;
  }

  Context context_ = nullptr;
  Module module_ = nullptr;
  Function kernel_ = nullptr;
};

constexpr int kWrap = 0, kClamp = 1, kMirror = 2, kBorder = 3;
const char kTex2d[] = "tex.2d.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w0, w1}];";
// 4 x 2: rows 0 1 2 3 and 10 11 12 13.
const std::vector<float> kSmall = {0, 1, 2, 3, 10, 11, 12, 13};

TEST_F(TexturesTest, NearestTexelByAddressMode) {
  Load(KernelText(kTex2d));
  const Array array = ArrayOf({4, 2, 0, kFloat, 1, 0}, kSmall);
  const std::vector<std::array<float, 2>> texels = {{0.5f, 0.5f}, {3.99f, 1.0f}, {-2, 0}, {9, 9}};
  EXPECT_EQ(Floats(texels, TextureOf(array, kClamp, 0, 0)), (std::vector<float>{0, 13, 0, 13}));
  EXPECT_EQ(Floats(texels, TextureOf(array, kBorder, 0, 0)),
            (std::vector<float>{0, 13, 7.5f, 7.5f}));
  const std::vector<std::array<float, 2>> parts = {{0.3f, 0.6f}, {1.3f, -0.4f}, {-0.1f, 0.1f}};
  EXPECT_EQ(Floats(parts, TextureOf(array, kWrap, 0, kNormalizedCoordinates)),
            (std::vector<float>{11, 11, 3}));
  EXPECT_EQ(Floats(parts, TextureOf(array, kMirror, 0, kNormalizedCoordinates)),
            (std::vector<float>{11, 2, 0}));
}

TEST_F(TexturesTest, LinearFilterWeighsInEighthBits) {
  Load(KernelText(kTex2d));
  const Array array = ArrayOf({4, 2, 0, kFloat, 1, 0}, kSmall);
  // x - 0.5 = 1.25; y - 0.5 = 0.5; below half a 512th a weight is none.
  EXPECT_EQ(Floats({{1.75f, 0.5f}, {1.75f, 1.0f}, {1.501f, 0.5f}}, TextureOf(array, kClamp, 1, 0)),
            (std::vector<float>{1.25f, 6.25f, 1}));
}

TEST_F(TexturesTest, BytesAreScaledOrKept) {
  const Array array = ArrayOf({4, 1, 0, kU8, 1, 0}, std::vector<uint8_t>{0, 51, 255, 9});
  Load(KernelText(kTex2d));
  EXPECT_EQ(Floats({{1.5f, 0}, {2.5f, 0}}, TextureOf(array, kClamp, 0, 0)),
            (std::vector<float>{0.2f, 1}));
  Load(KernelText("tex.2d.v4.u32.f32 {w9, w10, w11, w12}, [q2, {w0, w1}];"));
  std::vector<uint32_t> words;
  ASSERT_EQ(Run({{1.5f, 0}, {3.5f, 0}}, TextureOf(array, kClamp, 0, kReadAsInteger), words),
            kSuccess);
  EXPECT_EQ(words, (std::vector<uint32_t>{51, 9}));
}

// As an H200 has them (scripts/gpu/ptx_hardware.py).
TEST_F(TexturesTest, BordersAndChannelsThatAreNotThere) {
  const Array floats = ArrayOf({4, 2, 0, kFloat, 1, 0}, kSmall);
  Load(KernelText("tex.2d.v4.f32.f32 {w12, w11, w10, w9}, [q2, {w0, w1}];"));
  EXPECT_EQ(Floats({{1, 1}, {-2, 0}}, TextureOf(floats, kBorder, 0, 0)),
            (std::vector<float>{0, 0}));
  Load(KernelText(kTex2d));
  const Array bytes = ArrayOf({4, 1, 0, kU8, 1, 0}, std::vector<uint8_t>{0, 51, 255, 9});
  EXPECT_EQ(Floats({{-2, 0}}, TextureOf(bytes, kBorder, 0, 0)), (std::vector<float>{1}));
  // To the filter a line is a row of a picture, read at its edge.
  const Array line = ArrayOf({4, 0, 0, kFloat, 1, 0}, std::vector<float>{0, 1, 2, 3});
  Load(KernelText("tex.1d.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w0}];"));
  EXPECT_EQ(Floats({{1.75f, 0}}, TextureOf(line, kBorder, 1, 0)),
            (std::vector<float>{(1.25f + 7.5f) / 2}));
  EXPECT_EQ(Floats({{1.75f, 0}}, TextureOf(line, kClamp, 1, 0)), (std::vector<float>{1.25f}));
}

TEST_F(TexturesTest, LayersCubesAndVolumes) {
  std::vector<float> values(24);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  Load(
      KernelText("cvt.rzi.s32.f32 w2, w1;\n"
                 "tex.a1d.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w2, w0}];"));
  const Array layers = ArrayOf({4, 0, 6, kFloat, 1, kArrayLayered}, values);
  EXPECT_EQ(Floats({{2.5f, 3}, {0.5f, 9}}, TextureOf(layers, kClamp, 0, 0)),
            (std::vector<float>{14, 20}));
  Load(
      KernelText("mov.b32 w3, 0f3F800000;\n"
                 "tex.3d.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w0, w1, w3, w3}];"));
  const Array volume = ArrayOf({4, 3, 2, kFloat, 1, 0}, values);
  EXPECT_EQ(Floats({{2.5f, 1.5f}}, TextureOf(volume, kClamp, 0, 0)), (std::vector<float>{18}));
  // Faces of one texel pair each way: +x is the first, -z the last.
  Load(
      KernelText("mov.b32 w3, 0fBF800000;\n"
                 "tex.cube.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w0, w1, w3, w3}];"));
  const Array cube = ArrayOf({2, 2, 6, kFloat, 1, kArrayCubemap}, values);
  // (3, 0.3, -1): face 0, s = (1/3 + 1) / 2, t = (-0.1 + 1) / 2: texel (1, 0).
  EXPECT_EQ(Floats({{3, 0.3f}, {-0.5f, 0.5f}}, TextureOf(cube, kClamp, 0, kNormalizedCoordinates)),
            (std::vector<float>{1, 21}));
}

TEST_F(TexturesTest, GathersFourTexels) {
  const Array array = ArrayOf({4, 2, 0, kFloat, 1, 0}, kSmall);
  const ObjectHandle handle = TextureOf(array, kClamp, 0, 0);
  // Lower left, lower right, upper right, upper left of the filter's square around (2, 1).
  const char* const names[] = {"w9", "w10", "w11", "w12"};
  const float expected[] = {11, 12, 2, 1};
  for (int k = 0; k < 4; ++k) {
    Load(KernelText(std::string("tld4.r.2d.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w0, w1}];\n"
                                "mov.b32 w9, ") +
                    names[k] + ";"));
    EXPECT_EQ(Floats({{2, 1}}, handle), (std::vector<float>{expected[k]}));
  }
}

TEST_F(TexturesTest, LevelsOfAMipmappedArray) {
  MipmappedArray mipmapped = nullptr;
  const Array3DDescriptor descriptor = {4, 4, 0, kFloat, 1, 0};
  ASSERT_EQ(cuMipmappedArrayCreate(&mipmapped, &descriptor, 3), kSuccess);
  for (unsigned level = 0; level < 3; ++level) {
    Array array = nullptr;
    ASSERT_EQ(cuMipmappedArrayGetLevel(&array, mipmapped, level), kSuccess);
    const size_t side = 4u >> level;
    const std::vector<float> texels(side * side, 1.0f + static_cast<float>(level));
    Memcpy2D copy = {};
    copy.from_type = kHostMemory;
    copy.from_host = texels.data();
    copy.from_pitch = side * 4;
    copy.to_type = kArrayMemory;
    copy.to_array = array;
    copy.width_bytes = side * 4;
    copy.height = side;
    ASSERT_EQ(cuMemcpy2D_v2(&copy), kSuccess);
    copy.height = side + 1;
    EXPECT_EQ(cuMemcpy2D_v2(&copy), kInvalidValue);
  }
  ResourceDescriptor resource = {};
  resource.type = 1;
  resource.mipmapped = mipmapped;
  TextureDescriptor texture = {};
  texture.mip_filter = 1;
  texture.flags = kNormalizedCoordinates;
  texture.most_level = 9;
  ObjectHandle handle = 0;
  ASSERT_EQ(cuTexObjectCreate(&handle, &resource, &texture, nullptr), kSuccess);
  Load(KernelText("tex.level.2d.v4.f32.f32 {w9, w10, w11, w12}, [q2, {w0, w0}], w1;"));
  EXPECT_EQ(Floats({{0.5f, 0}, {0.5f, 0.75f}, {0.5f, 2}, {0.5f, 8}, {0.5f, -3}}, handle),
            (std::vector<float>{1, 1.75f, 3, 3, 1}));
}

TEST_F(TexturesTest, SurfacesAreReadWrittenAndReduced) {
  const Array array = ArrayOf({4, 2, 0, kU32, 1, 2}, std::vector<uint32_t>{1, 2, 3, 4, 5, 6, 7, 8});
  ResourceDescriptor resource = {};
  resource.array = array;
  ObjectHandle surface = 0;
  ASSERT_EQ(cuSurfObjectCreate(&surface, &resource), kSuccess);
  const std::string places = "cvt.rzi.s32.f32 w2, w0; cvt.rzi.s32.f32 w3, w1;\n";
  std::vector<uint32_t> words;
  Load(KernelText(places + "suld.b.2d.b32.zero w9, [q2, {w2, w3}];"));
  ASSERT_EQ(Run({{4, 0}, {12, 1}, {-4, 0}, {16, 0}}, surface, words), kSuccess);
  EXPECT_EQ(words, (std::vector<uint32_t>{2, 8, 0, 0}));
  Load(KernelText(places + "suld.b.2d.b32.clamp w9, [q2, {w2, w3}];"));
  ASSERT_EQ(Run({{-4, 0}, {16, 5}}, surface, words), kSuccess);
  EXPECT_EQ(words, (std::vector<uint32_t>{1, 8}));
  Load(KernelText(places + "mov.u32 w9, 100; sust.b.2d.b32.zero [q2, {w2, w3}], w9;\n"
                           "sured.b.add.2d.u32.zero [q2, {w2, w3}], w9;"));
  ASSERT_EQ(Run({{0, 1}, {400, 0}}, surface, words), kSuccess);
  std::vector<uint32_t> texels(8);
  ASSERT_EQ(cuMemcpyAtoH_v2(texels.data(), array, 0, 32), kSuccess);
  EXPECT_EQ(texels, (std::vector<uint32_t>{1, 2, 3, 4, 200, 6, 7, 8}));
  Load(KernelText(places + "suq.width.b32 w9, [q2];"));
  ASSERT_EQ(Run({{0, 0}}, surface, words), kSuccess);
  EXPECT_EQ(words, std::vector<uint32_t>{4});
}

TEST_F(TexturesTest, ReferencesOfAModule) {
  const Array array = ArrayOf({4, 2, 0, kFloat, 1, 0}, kSmall);
  Load(KernelText("tex.2d.v4.f32.f32 {w9, w10, w11, w12}, [t, {w0, w1}];",
                  ".global .texref t;\n.global .surfref s;\n"));
  TexRef reference = nullptr;
  ASSERT_EQ(cuModuleGetTexRef(&reference, module_, "t"), kSuccess) << hlokitSimLastError();
  EXPECT_EQ(cuModuleGetTexRef(&reference, module_, "s"), kNotFound);
  ASSERT_EQ(cuModuleGetTexRef(&reference, module_, "t"), kSuccess);
  ASSERT_EQ(cuTexRefSetArray(reference, array, 1), kSuccess);
  ASSERT_EQ(cuTexRefSetFilterMode(reference, 1), kSuccess);
  ASSERT_EQ(cuTexRefSetAddressMode(reference, 0, kClamp), kSuccess);
  ASSERT_EQ(cuTexRefSetAddressMode(reference, 1, kClamp), kSuccess);
  EXPECT_EQ(Floats({{1.75f, 0.5f}}, 0), (std::vector<float>{1.25f}));
  Load(
      KernelText("mov.u64 q4, t; istypep.texref p0, q4; istypep.surfref p1, q4;\n"
                 "selp.u32 w9, 1, 0, p0; @p1 mov.u32 w9, 2;",
                 ".global .texref t;\n"));
  std::vector<uint32_t> words;
  ASSERT_EQ(Run({{0, 0}}, 0, words), kSuccess) << hlokitSimLastError();
  EXPECT_EQ(words, std::vector<uint32_t>{1});
}

// A sampler of its own says how to address and filter.
TEST_F(TexturesTest, SamplersOfAModule) {
  const Array array = ArrayOf({4, 2, 0, kFloat, 1, 0}, kSmall);
  Load(KernelText("tex.2d.v4.f32.f32 {w9, w10, w11, w12}, [q2, s, {w0, w1}];",
                  ".global .samplerref s = { addr_mode_0 = clamp_to_edge, addr_mode_1 = "
                  "clamp_to_edge, filter_mode = linear };\n"));
  EXPECT_EQ(Floats({{1.75f, 0.5f}}, TextureOf(array, kBorder, 0, 0)), (std::vector<float>{1.25f}));
}

// On a device of its own, whose context is lost then.
TEST_F(TexturesTest, FaultsAreNamed) {
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context_, 1), kSuccess);
  ASSERT_EQ(cuCtxSetCurrent(context_), kSuccess);
  Load(KernelText(kTex2d));
  std::vector<uint32_t> words;
  EXPECT_EQ(Run({{0, 0}}, 0x1234, words), kLaunchFailed);
  EXPECT_NE(std::string(hlokitSimLastError()).find("no texture has the handle 0x1234"),
            std::string::npos)
      << hlokitSimLastError();
}

}  // namespace
}  // namespace hlokit::cuda
// SPDX-License-Identifier: Apache-2.0
