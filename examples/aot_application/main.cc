// Runs two models that were compiled ahead of time; the weights of one lie in a file.
#include <cstdio>

#include "axpy.h"
#include "classifier.h"

// What axpy's custom call runs.
extern "C" void first_elements(void* out, const void** in) {
  static_cast<float*>(out)[0] = static_cast<const float*>(in[0])[0];
  static_cast<float*>(out)[1] = static_cast<const float*>(in[1])[0];
}

namespace {

template <typename Model>
int Fail(const Model& model) {
  std::fprintf(stderr, "%s\n", model.error().c_str());
  return 1;
}

int RunAxpy() {
  axpy model;
  if (!model.ok()) return Fail(model);
  model.set_threads(1);
  model.a()[0] = 2;
  for (size_t i = 0; i < model.x().size(); ++i) {
    model.x()[i] = static_cast<float>(i + 1);
    model.argument<2>()[i] = 7;
  }
  if (!model.Run()) return Fail(model);
  std::printf("axpy: %g, %g, %g\n", model.output_0()[10], model.output_1()[0],
              model.result<1>()[1]);
  return model.output_0()[10] == 29 && model.output_1()[0] == 1 && model.output_1()[1] == 7 ? 0 : 1;
}

int RunClassifier(const char* weights) {
  if (classifier("no such file").ok()) return 1;
  classifier model(weights);
  if (!model.ok()) return Fail(model);
  alignas(HLOKIT_AOT_ALIGNMENT) static const float image[4] = {1, 2, 3, 4};
  if (!model.set_image(image) || !model.Run()) return Fail(model);
  std::printf("classifier: %g %g %g\n", model.output()[0], model.output()[1], model.output()[2]);
  return model.output()[0] == 3 && model.output()[1] == 4.25F && model.output()[2] == 5 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return RunAxpy() + RunClassifier(argc > 1 ? argv[1] : "classifier.weights");
}
// SPDX-License-Identifier: Apache-2.0
