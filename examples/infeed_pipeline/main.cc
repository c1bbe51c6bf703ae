// One execution that works through many batches: a loop takes each from the infeed and gives its
// sum to the outfeed, while this program feeds it from one thread and reads in another.
#include <iostream>
#include <thread>

#include "builder/builder.h"
#include "client/client.h"

namespace {

using hlokit::ElementType;
using hlokit::Shape;
using hlokit::XlaOp;

constexpr int kBatches = 8;
Shape Batch() { return Shape::Array(ElementType::kF32, {4}); }

absl::StatusOr<hlokit::XlaComputation> BuildLoop() {
  hlokit::XlaBuilder b("pipeline");
  const Shape counter = Shape::Scalar(ElementType::kS32);

  const auto condition = b.CreateSubBuilder("condition");
  Lt(Parameter(condition.get(), 0, counter, "i"),
     hlokit::ConstantR0<int32_t>(condition.get(), kBatches));

  const auto body = b.CreateSubBuilder("body");
  const XlaOp i = Parameter(body.get(), 0, counter, "i");
  const auto add = hlokit::ScalarComputation(hlokit::Opcode::kAdd, ElementType::kF32);
  const XlaOp sum =
      ReduceAll(Infeed(body.get(), Batch()), Zero(body.get(), ElementType::kF32), add);
  Outfeed(sum, Shape::Scalar(ElementType::kF32));
  const XlaOp next = i + hlokit::ConstantR0<int32_t>(body.get(), 1);
  if (!body->SetReturnValue(next).ok()) return body->first_error();

  While(condition->BuildAndNoteError(), body->BuildAndNoteError(), Zero(&b, ElementType::kS32));
  return b.Build();
}

}  // namespace

int main() {
  const auto loop = BuildLoop();
  if (!loop.ok()) {
    std::cerr << loop.status() << "\n";
    return 1;
  }
  hlokit::Client* client = hlokit::ClientLibrary::ClientLibraryOrDie();
  auto running = client->ExecuteAsync(*loop, {});
  std::thread feeder([&] {
    for (int n = 0; n < kBatches; ++n) {
      const auto value = static_cast<float>(n);
      if (!client->TransferToInfeed(hlokit::Literal::R1<float>({value, value, value, value})).ok())
        std::cerr << "batch " << n << " was not taken\n";
    }
  });
  bool right = true;
  for (int n = 0; n < kBatches; ++n) {
    const auto sum = client->TransferFromOutfeed(0, /*timeout_s=*/60);
    right = right && sum.ok() && *sum->as<float>() == static_cast<float>(4 * n);
    std::cout << "batch " << n << ": " << (sum.ok() ? *sum->as<float>() : -1) << "\n";
  }
  feeder.join();
  const auto result = running.get();
  return right && result.ok() && *(*result)->literal().as<int32_t>() == kBatches ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
