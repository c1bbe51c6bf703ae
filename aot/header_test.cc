// Generated headers as compilers take them, C's and C++'s.
#include <cstdlib>

#include "aot/generate_header.h"
#include "aot/loaded_internal.h"
#include "gtest/gtest.h"

namespace hlokit {
namespace {

// Whether a compiler takes the header and a program that makes and ends a run; what it says goes to
// standard error.
bool Compiles(const std::string& header, const std::string& compiler, const std::string& program) {
  const ScratchFolder folder;
  EXPECT_TRUE(AtomicWriteFile(folder.path() + "/model.h", header).ok());
  EXPECT_TRUE(AtomicWriteFile(folder.path() + "/program.c", program).ok());
  return std::system(absl::StrCat(compiler, " -fsyntax-only -Wall -Wextra -pedantic -Werror -I",
                                  HLOKIT_SOURCE_DIR, " -I", folder.path(), " ", folder.path(),
                                  "/program.c")
                         .c_str()) == 0;
}

// Names of arrays that C, C++ or the header itself use otherwise, or that are equal once they are
// identifiers.
TEST(AotTest, HeadersCompileWhateverTheNames) {
  std::string text = "ENTRY e {\n";
  std::vector<std::string> sum;
  for (const char* name : {"create",
                           "destroy",
                           "execute",
                           "run",
                           "model",
                           "class",
                           "set_class",
                           "nullptr",
                           "uint8_t",
                           "errno",
                           "a.1",
                           "a-1",
                           "a_1",
                           "set_a_1",
                           "argument",
                           "result",
                           "output",
                           "set_threads",
                           "argument_count",
                           "hlokit_aot_run",
                           "net"}) {
    absl::StrAppend(&text, "  ", name, " = f32[] parameter(", sum.size(), ")\n");
    sum.push_back(name);
  }
  absl::StrAppend(&text, "  nested = (s4[3], (c64[2], bf16[]), token[]) parameter(", sum.size(),
                  ")\n  ROOT out = (f32[], f32[], f32[0,2]) tuple(a.1, a-1, empty)\n}\n");
  text.insert(text.find("  ROOT"), "  empty = f32[0,2] constant({})\n");
  AotOptions options;
  options.name = "net";
  const AotObject object = Compile(text, options).value();
  const std::string header = GenerateHeader(object, "net", "folder*/net.hlo");
  EXPECT_TRUE(
      Compiles(header, "cc -x c -std=c99",
               "#include \"model.h\"\nint main(void) {\n  net_run* run = net_create(0, 0, 0);\n"
               "  net_destroy(run);\n  return net_argument_count;\n}\n"));
  EXPECT_TRUE(Compiles(header, "c++ -x c++ -std=c++20",
                       "#include \"model.h\"\nint main() {\n  net model;\n"
                       "  return model.ok() && model.Run() ? net::kResultCount : 0;\n}\n"));
}

TEST(AotTest, HeadersOfSeveralDevicesCompile) {
  AotOptions options;
  options.name = "net";
  const AotObject object = Compile(R"(
HloModule m, replica_count=2, num_partitions=2
ENTRY e {
  device = f32[3] parameter(0)
  x = s8[] parameter(1)
  pair = (f32[3], pred[]) parameter(2)
  id = u32[] partition-id()
  ROOT r = (f32[3], u32[], s8[]) tuple(device, id, x)
})",
                                   options)
                               .value();
  const std::string header = GenerateHeader(object, "net", "net.hlo");
  EXPECT_TRUE(Compiles(header, "cc -x c -std=c99",
                       "#include \"model.h\"\nint main(void) {\n"
                       "  net_run* run = net_create(0, 0, 0);\n"
                       "  *net_x(run, net_device_count - 1) = 1;\n"
                       "  net_set_pair_0(run, 2, net_output_0(run, 1));\n  net_cancel(run);\n"
                       "  net_destroy(run);\n  return net_partition_count;\n}\n"));
  EXPECT_TRUE(Compiles(header, "c++ -x c++ -std=c++20 -Wshadow",
                       "#include \"model.h\"\nint main() {\n  net model;\n"
                       "  model.argument<1>(net::kDeviceCount - 1)[0] = 1;\n"
                       "  model.queues(0);\n  model.Cancel();\n"
                       "  return model.Run() ? int(model.result<1>(3)[0]) : 0;\n}\n"));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
