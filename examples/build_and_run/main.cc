// Builds a computation with the builder, runs it on each platform, and keeps data on the device
// between two executions.
#include <iostream>

#include "builder/builder.h"
#include "client/client.h"
#include "types/literal_text.h"

namespace {

using hlokit::ElementType;
using hlokit::Shape;
using hlokit::XlaOp;

// The softmax of each row of f32[2,3].
absl::StatusOr<hlokit::XlaComputation> BuildSoftmax() {
  hlokit::XlaBuilder b("softmax");
  const XlaOp x = Parameter(&b, 0, Shape::Array(ElementType::kF32, {2, 3}), "x");
  const auto add = hlokit::ScalarComputation(hlokit::Opcode::kAdd, ElementType::kF32);
  const auto max = hlokit::ScalarComputation(hlokit::Opcode::kMaximum, ElementType::kF32);
  const XlaOp highest = Reduce(x, MinValue(&b, ElementType::kF32), max, {1});
  const XlaOp e = Exp(Sub(x, highest, {0}));
  Div(e, Reduce(e, Zero(&b, ElementType::kF32), add, {1}), {0});
  return b.Build();  // the first error of all of the above, if there was one
}

absl::StatusOr<std::string> RunTwice(const std::string& platform,
                                     const hlokit::XlaComputation& computation) {
  auto client = hlokit::Client::Create(platform);
  if (!client.ok()) return client.status();
  const auto x =
      (*client)->TransferToServer(hlokit::ArrayLiteral<float>({2, 3}, {1, 2, 3, 0, 0, 0}));
  if (!x.ok()) return x.status();
  const auto once = (*client)->Execute(computation, {x->get()});
  if (!once.ok()) return once.status();
  const auto twice = (*client)->ExecuteAndTransfer(computation, {once->get()});
  if (!twice.ok()) return twice.status();
  return Text(*twice);
}

}  // namespace

int main() {
  const auto softmax = BuildSoftmax();
  if (!softmax.ok()) {
    std::cerr << softmax.status() << "\n";
    return 1;
  }
  for (const std::string& platform : hlokit::Client::Platforms()) {
    const auto text = RunTwice(platform, *softmax);
    std::cout << platform << ": " << (text.ok() ? *text : text.status().ToString()) << "\n";
    if (platform == "cuda" && !text.ok()) continue;  // there may be no GPU
    if (!text.ok() || text->substr(0, 7) != "{ { 0.2") return 1;
  }
  return 0;
}
// SPDX-License-Identifier: Apache-2.0
