// A test file: what its comment lines ask for.
//
//   // RUN: hlo-opt --passes=dce %s          a shell line; %s is this file, %t a scratch path, %d
//   this file's folder.
//   // RUN: not hlo-opt %s                   must end with exit status 2 (or that of EXIT)
//   // EXIT: 1                               the exit status of the RUN lines
//   // CHECK: text                           FileCheck on standard output followed by standard
//   error; or, where
//                                            FILE.out stands next to the test, the whole output is
//                                            as it says
//   // RUN-ON-EACH-BACKEND: hlo-run %s       one case of values; several may follow each other
//   // INPUT: f32[2] {1, 2}                  an argument, in parameter order; also at the end of
//   the line above
//   // EXPECT: f32[2] {1, 2}                 the result, or one line for each device; exact unless
//   // TOLERANCE: --rel-error=1e-6           flags of hlo-run's comparison follow, with a reason in
//   a comment
//   // UNSUPPORTED: cpu                      platforms that lack the op
//   // NOT-EXECUTED: reason                  no differential case: the module is not valid by
//   itself,
//                                            or has no code on the CPU
#pragma once

#include <string>
#include <vector>

namespace hlokit {

struct ValueCase {
  std::string command;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;  // of each device
  double relative_error = 0, absolute_error = 0;
};

struct TestFile {
  std::string path, text;
  std::vector<std::string> commands;
  std::vector<ValueCase> cases;
  std::vector<std::string> unsupported;
  int exit_status = -1;  // -1: 0, or 2 after `not`
  bool has_checks = false;
  std::string problem;  // what is wrong with the file itself
};

TestFile ReadTestFile(const std::string& path);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
