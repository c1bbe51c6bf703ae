// Code that a compiler has dumped for a module's kernels, found for their instructions.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tools/hlo-viz/graph/module_index.h"

namespace hlokit {

// The code of one instruction, as a reader sees it.
struct KernelCode {
  const Instruction* instruction;
  std::string title;  // "PTX", "LLVM IR, optimized"
  std::string text;
};

// A dumped file: its name without folder and without the module's name, and what it holds.
struct CodeFile {
  std::string name;  // "add_fusion_kernel_module.ir-with-opt.ll", "ptx"
  std::string text;
};

// Cuts files of LLVM IR (.ll), PTX (.ptx), assembler (.s) and disassembled objects (.o) into
// functions and finds the instruction of each. A kernel has its instruction's name, in XLA with other letters for those
// that the language does not take:
//   loop_add_fusion.2 -> .visible .entry loop_add_fusion_2(     define ptr @loop_add_fusion.2(
// A file of one kernel is shown whole, of several the function alone. Instructions inside of
// fusions have no kernels. Cost: a pass over the texts.
std::vector<KernelCode> FindKernelCode(const ModuleIndex& index,
                                       const std::vector<CodeFile>& files);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
