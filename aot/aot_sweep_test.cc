// Every operation's example, and modules of mixed layouts, compiled ahead of time, all in one
// library: each gives the JIT's bits.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/aot/aot_object.h"
#include "backends/cpu/cpu_backend.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "runtime/aot.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

struct Model {
  std::string operation, text;
  AotObject object;
};

void AppendLeaves(const Literal& value, std::vector<const Literal*>& out) {
  if (!value.shape().IsTuple()) return out.push_back(&value);
  for (const Literal& element : value.elements()) AppendLeaves(element, out);
}

std::vector<const Literal*> LeavesOf(const std::vector<Literal>& values) {
  std::vector<const Literal*> leaves;
  for (const Literal& value : values) AppendLeaves(value, leaves);
  return leaves;
}

void ExpectSameBits(const Model& model, const HlokitAotModel& description) {
  std::unique_ptr<Module> module = ParseModule(model.text).value();
  const int64_t devices = model.object.replica_count * model.object.partition_count;
  std::vector<Literal> arguments;  // of all devices alike
  DeviceArguments given;
  for (const Instruction* parameter : module->entry()->parameters()) {
    arguments.push_back(Literal::Unset(parameter->shape()));
    FillRandom(arguments.back(), arguments.size(), {});
  }
  for (const Literal& argument : arguments) given.push_back(&argument);
  const auto jit = MakeCpuBackend()->Compile(std::move(module), {}).value();
  const auto prepared = jit->Prepare(std::vector<DeviceArguments>(devices, given)).value();
  const absl::Status ran = prepared->Run();
  // Sizes that do not go with each other; a receive without a send.
  if (absl::IsInvalidArgument(ran) || absl::IsFailedPrecondition(ran)) return;
  const std::vector<Literal> expected = prepared->TakeResults().value();
  HlokitAotRun* run = hlokit_aot_create(&description, nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  const std::vector<const Literal*> leaves = LeavesOf(arguments);
  for (int64_t device = 0; device < devices; ++device)
    for (size_t i = 0; i < leaves.size(); ++i)
      if (leaves[i]->shape().IsArray() && leaves[i]->byte_size() > 0)
        ToLayout(*leaves[i], model.object.arguments[i].shape,
                 static_cast<uint8_t*>(
                     hlokit_aot_device_argument(run, device, static_cast<int64_t>(i))));
  ASSERT_EQ(hlokit_aot_run(run), 0) << hlokit_aot_error(run);
  for (int64_t device = 0; device < devices; ++device) {
    std::vector<const Literal*> wanted;
    AppendLeaves(expected[device], wanted);
    // Behind them stand sizes and whether they are in range.
    ASSERT_LE(wanted.size(), model.object.results.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Shape& shape = model.object.results[i].shape;
      if (!shape.IsArray() || shape.ByteSize() == 0) continue;
      Literal found(shape);
      FromLayout(static_cast<const uint8_t*>(
                     hlokit_aot_device_result(run, device, static_cast<int64_t>(i))),
                 shape, found);
      EXPECT_TRUE(found == *wanted[i]) << "result " << i << " of device " << device;
    }
  }
  hlokit_aot_destroy(run);
}

// All objects and the runtime as one library; null after an error.
void* Link(const std::vector<Model>& models, const std::string& folder) {
  for (const Model& model : models)
    EXPECT_TRUE(AtomicWriteFile(folder + "/" + model.operation + ".o", model.object.code).ok());
  const std::filesystem::path runtime =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
      "lib/libhlokit_runtime.a";
  const char* compiler = std::getenv("CXX");
  const std::string command = absl::StrCat(
      compiler != nullptr ? compiler : "c++", " -shared -o ", folder, "/all.so ", folder,
      "/*.o -Wl,-u,hlokit_aot_create ", runtime.string(), " -lhwy_contrib -lhwy -pthread -ldl");
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return dlopen((folder + "/all.so").c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Names of models and the files of their modules.
std::vector<std::pair<std::string, std::string>> FindModels() {
  std::vector<std::pair<std::string, std::string>> found;
  const std::string root = std::string(HLOKIT_SOURCE_DIR) + "/testdata/";
  for (const auto& entry : std::filesystem::directory_iterator(root + "ops")) {
    const std::string path = entry.path().string() + "/example.hlo";
    if (std::filesystem::exists(path)) found.push_back({entry.path().filename().string(), path});
  }
  for (const auto& entry : std::filesystem::directory_iterator(root + "regress")) {
    const std::string name = entry.path().stem().string();
    if (absl::StartsWith(name, "boundary_layouts")) found.push_back({name, entry.path().string()});
  }
  return found;
}

TEST(AotSweepSlowTest, ExamplesGiveTheBitsOfTheJit) {
  std::vector<Model> models;
  for (const auto& [name, path] : FindModels()) {
    Model model;
    model.operation = name;
    model.text = ReadFile(path).value();
    AotOptions options;
    options.name = absl::StrCat("m", models.size());
    absl::StatusOr<AotObject> object = CompileAhead(ParseModule(model.text).value(), options);
    ASSERT_TRUE(object.ok()) << path << ": " << object.status();
    model.object = *std::move(object);
    if (!model.object.custom_calls.empty() || !model.object.infeeds.empty()) continue;
    models.push_back(std::move(model));
  }
  EXPECT_GT(models.size(), 90u);
  const ScratchFolder folder;
  void* library = Link(models, folder.path());
  ASSERT_NE(library, nullptr) << dlerror();
  for (size_t m = 0; m < models.size(); ++m) {
    SCOPED_TRACE(models[m].operation);
    const void* description = dlsym(library, absl::StrCat("m", m, "_model").c_str());
    ASSERT_NE(description, nullptr);
    ExpectSameBits(models[m], *static_cast<const HlokitAotModel*>(description));
  }
  dlclose(library);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
