// Processes started by mpirun, mpiexec or srun, as a Transport.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "runtime/collective/transport.h"

namespace hlokit {

// Starts MPI in this process; once only. The transport's destructor ends it (MPI_Finalize), which
// waits for all processes, unless LeaveMpiOpen was called. Errors: Unimplemented where there is no
// library; Unavailable where MPI does not start.
absl::StatusOr<std::unique_ptr<Transport>> StartMpi();
// Keeps the transport from ending MPI: for a process that fails while others are elsewhere.
void LeaveMpiOpen();
// The name of this machine, as MPI knows it.
std::string MpiHostName();

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
