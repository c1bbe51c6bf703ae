// Trains a linear model by gradient descent: y = 3 x - 1 is found from samples. The weights stay on
// the device from step to step; the program is compiled once.
#include <cmath>
#include <iostream>

#include "builder/builder.h"
#include "client/client.h"

namespace {

using hlokit::ElementType;
using hlokit::GlobalData;
using hlokit::Shape;
using hlokit::XlaOp;

constexpr int64_t kSamples = 32;

// (weight, bias, x, y) -> (weight, bias, loss) after one step.
absl::StatusOr<hlokit::XlaComputation> BuildStep() {
  hlokit::XlaBuilder b("step");
  const Shape scalar = Shape::Scalar(ElementType::kF32);
  const Shape samples = Shape::Array(ElementType::kF32, {kSamples});
  const XlaOp weight = Parameter(&b, 0, scalar, "weight");
  const XlaOp bias = Parameter(&b, 1, scalar, "bias");
  const XlaOp x = Parameter(&b, 2, samples, "x");
  const XlaOp y = Parameter(&b, 3, samples, "y");
  const auto add = hlokit::ScalarComputation(hlokit::Opcode::kAdd, ElementType::kF32);
  const auto mean = [&](XlaOp values) {
    const XlaOp sum = ReduceAll(values, Zero(&b, ElementType::kF32), add);
    return sum / hlokit::ConstantR0<float>(&b, kSamples);
  };
  const XlaOp error = weight * x + bias - y;
  const XlaOp rate = hlokit::ConstantR0<float>(&b, 0.5F);
  const XlaOp new_weight = weight - rate * mean(error * x);
  const XlaOp new_bias = bias - rate * mean(error);
  Tuple(&b, {new_weight, new_bias, mean(error * error)});
  return b.Build();
}

absl::Status Train(float& weight, float& bias) {
  hlokit::Client* client = hlokit::ClientLibrary::ClientLibraryOrDie();
  const auto step = BuildStep();
  if (!step.ok()) return step.status();
  std::vector<float> x(kSamples), y(kSamples);
  for (int64_t i = 0; i < kSamples; ++i) {
    x[i] = static_cast<float>(i) / kSamples * 2 - 1;
    y[i] = 3 * x[i] - 1;
  }
  auto w = client->TransferToServer(hlokit::Literal::R0<float>(0));
  auto c = client->TransferToServer(hlokit::Literal::R0<float>(0));
  const auto x_data = client->TransferToServer(hlokit::Literal::R1<float>(x));
  const auto y_data = client->TransferToServer(hlokit::Literal::R1<float>(y));
  for (int i = 0; i < 200; ++i) {
    const auto state = client->Execute(*step, {w->get(), c->get(), x_data->get(), y_data->get()});
    if (!state.ok()) return state.status();
    auto parts = client->DeconstructTuple(**state);
    if (!parts.ok()) return parts.status();
    w = std::move((*parts)[0]);
    c = std::move((*parts)[1]);
    if (i % 50 == 0) std::cout << "loss " << *(*parts)[2]->literal().as<float>() << "\n";
  }
  weight = *(*w)->literal().as<float>();
  bias = *(*c)->literal().as<float>();
  std::cout << "compiled " << client->compile_count() << " program\n";
  return absl::OkStatus();
}

}  // namespace

int main() {
  float weight = 0, bias = 0;
  if (const absl::Status status = Train(weight, bias); !status.ok()) {
    std::cerr << status << "\n";
    return 1;
  }
  std::cout << "y = " << weight << " x + " << bias << "\n";
  return std::abs(weight - 3) < 1e-3F && std::abs(bias + 1) < 1e-3F ? 0 : 1;
}
// SPDX-License-Identifier: Apache-2.0
