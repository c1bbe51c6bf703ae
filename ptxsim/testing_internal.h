// What the simulator's tests share: PTX texts that run on buffers of words.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptxsim/decode.h"
#include "ptxsim/launch.h"
#include "ptxsim/parser.h"
#include "support/diagnostics.h"
#include "support/status.h"

namespace hlokit::ptx {

// A file's usual head.
inline std::string WithHeader(const std::string& body) {
  return ".version 8.6\n.target sm_90a\n.address_size 64\n" + body;
}

// The kernel of a text, decoded. Errors: InvalidArgument with the rendered messages.
inline absl::StatusOr<std::unique_ptr<Program>> DecodeText(const std::string& text,
                                                           const std::string& kernel = "k") {
  auto source = std::make_shared<SourceFile>("test.ptx", text);
  Diagnostics diagnostics;
  std::shared_ptr<const Module> module = ParseModule(source, diagnostics);
  if (module == nullptr) return absl::InvalidArgumentError(diagnostics.Render(*source));
  const Function* function = module->FindFunction(kernel);
  if (function == nullptr) return absl::InvalidArgumentError("no such kernel");
  std::unique_ptr<Program> program = DecodeKernel(module, *function, diagnostics);
  if (program == nullptr) return absl::InvalidArgumentError(diagnostics.Render(*source));
  return program;
}

// Runs kernel k(.param .u64 buffer, ...): one parameter a vector of words, which holds the results
// afterwards.
template <typename T>
absl::Status RunWords(const std::string& text, std::vector<std::vector<T>*> buffers,
                      const LaunchOptions& options, LaunchStats* stats = nullptr) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Program> program, DecodeText(text));
  Memory memory;
  RETURN_IF_ERROR(LoadVariables(*program, memory));
  std::vector<uint64_t> addresses;
  for (std::vector<T>* buffer : buffers) {
    const auto size = static_cast<int64_t>(buffer->size() * sizeof(T));
    ASSIGN_OR_RETURN(const uint64_t address, memory.Allocate(size, "buffer", true));
    std::memcpy(memory.Host(address, size), buffer->data(), static_cast<size_t>(size));
    addresses.push_back(address);
  }
  std::vector<std::byte> parameters(addresses.size() * 8);
  std::memcpy(parameters.data(), addresses.data(), parameters.size());
  LaunchStats own;
  const absl::Status status =
      Launch(*program, memory, parameters, options, stats != nullptr ? *stats : own);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const auto size = static_cast<int64_t>(buffers[i]->size() * sizeof(T));
    std::memcpy(buffers[i]->data(), memory.Host(addresses[i], size), static_cast<size_t>(size));
  }
  return status;
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
