// An MPI library found at run time: nothing of MPI is needed to build or to start a tool.
//
// Two binary interfaces are common. Open MPI's handles are pointers to objects of the library;
// MPICH's, which Intel MPI, MVAPICH and Cray MPI share, are 32-bit numbers. Both travel in an
// integer register, so one table of functions serves both: Handle holds either.
#pragma once

#include <stdint.h>

#include <string>

#include "absl/status/statusor.h"

namespace hlokit {

struct MpiLibrary {
  using Handle = uintptr_t;

#define HLOKIT_MPI_FUNCTION(name, parameters) int(*name) parameters = nullptr;
#include "mpi/functions.def"
#undef HLOKIT_MPI_FUNCTION

  Handle comm_world = 0, byte = 0, errors_return = 0, info_null = 0;
  int any_source = 0, type_shared = 0;
  int source_offset = 0;  // of MPI_SOURCE in a status, bytes
  void* status_ignore = nullptr;
  static constexpr int kThreadSerialized = 2, kThreadMultiple = 3;  // of both interfaces
  static constexpr int kStatusBytes = 64;                           // more than any status

  std::string ErrorText(int code) const;

  // HLOKIT_MPI_LIBRARY names the file; else that of the launcher that started this process, or any
  // that is installed. Errors: Unimplemented where there is none, or a function is missing.
  static absl::StatusOr<const MpiLibrary*> Load();
};

// How many processes an MPI launcher (mpirun, mpiexec, srun) has started with this one, by the
// environment that it made; 1 where none did.
int LaunchedProcesses();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
