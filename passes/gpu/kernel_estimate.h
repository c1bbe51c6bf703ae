// How long a GPU takes for a kernel: an instruction or a fusion.
//
// A roofline with the launch before it. Numbers are those of an RTX A6000, for which XLA's tests of
// fusion decisions are written: 84 multiprocessors of 128 lanes at 1.8 GHz, 768 GB/s.
//   time = max(work / lanes in use, bytes / bandwidth);  what is read again comes from the cache
#pragma once

#include <vector>

#include "ir/instruction.h"

namespace hlokit {

inline constexpr double kLaunchSeconds = 1e-6;

class KernelEstimate {
 public:
  // Of the instruction or fusion as it stands. Cost: linear in its body.
  explicit KernelEstimate(const Instruction& kernel);

  // Of a kernel that computes what of `producer` it needs itself.
  KernelEstimate WithFused(const Instruction& producer, const KernelEstimate& of_producer) const;

  // Seconds, the launch left out.
  double Seconds() const;
  // How many elements of `operand` are read, repetitions counted.
  double ReadsOf(const Instruction& operand) const;

 private:
  struct Read {
    const Instruction* operand;
    double elements;
  };
  void AddRead(const Instruction* operand, double elements);
  void AddBody(const Computation& body, const Instruction& fusion);
  void AddInstruction(const Instruction& i, double elements);

  std::vector<Read> reads_;
  double work_ = 0, threads_ = 1, written_ = 0, elements_ = 1;
  bool reduces_ = false;  // last, by many threads for each result
  bool once_ = false;     // by tiles, which are kept: each element is computed once
};

// The reduction that a kernel computes last, behind elementwise steps and reshapes; null where
// there is none.
const Instruction* LastReduction(const Instruction& kernel);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
