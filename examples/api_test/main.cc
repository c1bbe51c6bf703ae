// Goes through the public API as a stranger's program would: each check says what failed.
#include <iostream>

#include "builder/builder.h"
#include "client/c_api.h"
#include "client/client.h"
#include "client/computation_builder.h"
#include "printer/printer.h"
#include "types/literal_text.h"

namespace {

using hlokit::ElementType;
using hlokit::Literal;
using hlokit::Shape;
using hlokit::XlaOp;

int failures = 0;

void Check(bool right, const char* what) {
  if (!right) std::cerr << "failed: " << what << "\n";
  failures += !right;
}

Shape F32(std::initializer_list<int64_t> dims) { return Shape::Array(ElementType::kF32, dims); }

void CheckBuilder() {
  hlokit::XlaBuilder b("api");
  const XlaOp x = Parameter(&b, 0, F32({2, 3}), "x");
  const XlaOp two = hlokit::ConstantR0<float>(&b, 2);
  const XlaOp scaled = x * two;
  Check(Text(*b.GetShape(scaled)) == "f32[2,3]", "shapes are inferred");
  Check(*b.IsConstant(two) && !*b.IsConstant(scaled), "constants are known");
  Check(Text(*b.ComputeConstant(two + two)) == "4", "constants are computed");
  const hlokit::ScopedFrontendAttributes scope(&b, {{"mine", "1"}});
  const XlaOp sorted = Sort(Reshape(scaled, {6}));
  const auto built = b.Build(TopK(sorted, 2));
  Check(built.ok(), "a computation is built");
  const std::string text = hlokit::Print(built->module());
  Check(text.find("frontend_attributes={mine=\"1\"}") != std::string::npos, "attributes are kept");
  hlokit::XlaBuilder wrong("wrong");
  Add(Parameter(&wrong, 0, F32({2}), "x"), Parameter(&wrong, 1, F32({3}), "y"));
  Check(wrong.Build().status().message().find("main.cc:") != std::string::npos,
        "errors name their place");
}

void CheckClient() {
  const auto client = hlokit::Client::Create("cpu");
  hlokit::ComputationBuilder b(client->get(), "norm");
  const auto x = b.Parameter(0, F32({4}), "x");
  const auto add = hlokit::ScalarComputation(hlokit::Opcode::kAdd, ElementType::kF32);
  b.Sqrt(b.Reduce(b.Mul(x, x), b.ConstantR0<float>(0), add, {0}));
  const auto norm = b.Build();
  Check(norm.ok(), "the older builder builds");
  const auto data = (*client)->TransferToServer(Literal::R1<float>({1, 1, 3, 5}));
  const auto program = (*client)->Compile(**norm);
  const auto now = (*client)->Execute(**program, {data->get()});
  auto later = (*client)->ExecuteAsync(**norm, {data->get()});
  Check(*(*now)->literal().as<float>() == 6, "programs run");
  Check(later.get().value()->literal() == (*now)->literal(), "and in the background");
  const auto bytes = (*client)->SerializeExecutable(**program);
  const auto loaded = (*client)->LoadExecutable(*bytes);
  Check(loaded.ok() && (*client)->Execute(**loaded, {data->get()}).ok(), "executables are loaded");
  const auto snapshot = (*client)->SnapshotExecution(**norm, {data->get()});
  Check(snapshot.ok() && Text(*hlokit::Client::LoadSnapshot(*snapshot)->result) == "6",
        "snapshots are loaded");
  Check((*client)->GetComputationStats(**norm)->flop_count > 0, "statistics are told");
}

}  // namespace

int main() {
  CheckBuilder();
  CheckClient();
  Check(hlokit_c_api_version() == HLOKIT_C_API_VERSION, "the C API is of this version");
  std::cout << failures << " failures\n";
  return failures == 0 ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
