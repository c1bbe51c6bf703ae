// hlokit behind an interface of one's own: statuses become this project's exceptions.
#include "calculator.h"

#include <stdexcept>

#include "builder/builder.h"
#include "client/client.h"
#include "printer/printer.h"

namespace {

template <typename T>
T OrThrow(absl::StatusOr<T> value) {
  if (!value.ok()) throw std::runtime_error(value.status().ToString());
  return *std::move(value);
}

hlokit::XlaComputation Build(int64_t size) {
  hlokit::XlaBuilder b("hypotenuse");
  const hlokit::XlaOp x =
      Parameter(&b, 0, hlokit::Shape::Array(hlokit::ElementType::kF32, {size}), "x");
  Sqrt(x * x + One(&b, hlokit::ElementType::kF32));
  return OrThrow(b.Build());
}

}  // namespace

std::vector<float> Hypotenuse(const std::vector<float>& x) {
  hlokit::Client* client = hlokit::ClientLibrary::ClientLibraryOrDie();
  const auto data = OrThrow(client->TransferToServer(hlokit::Literal::R1<float>(x)));
  const hlokit::Literal result =
      OrThrow(client->ExecuteAndTransfer(Build(static_cast<int64_t>(x.size())), {data.get()}));
  return {result.as<float>(), result.as<float>() + result.element_count()};
}

std::string HypotenuseText(int size) { return hlokit::Print(Build(size).module()); }
// SPDX-License-Identifier: Apache-2.0
