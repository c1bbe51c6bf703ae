// dlopen, and the constants of the two binary interfaces (mpi.h of Open MPI 4 and of MPICH 4).
#include "mpi/mpi_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "support/status.h"

namespace hlokit {
namespace {

// Open MPI's own plugins look for its symbols in the global scope.
void* OpenAny(std::string& tried) {
  std::vector<std::string> names;
  if (const char* named = getenv("HLOKIT_MPI_LIBRARY")) {
    names = {named};
  } else {
    names = {"libmpi.so.40", "libmpich.so.12", "libmpi.so.12", "libmpi.so"};
    if (getenv("OMPI_COMM_WORLD_SIZE") == nullptr && getenv("PMI_SIZE") != nullptr)
      std::swap(names[0], names[1]);
  }
  for (const std::string& name : names) {
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    absl::StrAppend(&tried, tried.empty() ? "" : ", ", name);
  }
  return nullptr;
}

absl::Status Fill(void* library, MpiLibrary& mpi) {
#define HLOKIT_MPI_FUNCTION(name, parameters)                             \
  mpi.name = reinterpret_cast<decltype(mpi.name)>(dlsym(library, #name)); \
  if (mpi.name == nullptr) return Unimplemented("the MPI library has no " #name);
#include "mpi/functions.def"
#undef HLOKIT_MPI_FUNCTION
  if (void* const world = dlsym(library, "ompi_mpi_comm_world")) {
    const auto object = [&](const char* name) {
      return reinterpret_cast<MpiLibrary::Handle>(dlsym(library, name));
    };
    mpi.comm_world = reinterpret_cast<MpiLibrary::Handle>(world);
    mpi.byte = object("ompi_mpi_byte");
    mpi.errors_return = object("ompi_mpi_errors_return");
    mpi.info_null = object("ompi_mpi_info_null");
    mpi.any_source = -1;
    mpi.type_shared = 0;
    mpi.source_offset = 0;
    mpi.status_ignore = nullptr;
    return absl::OkStatus();
  }
  mpi.comm_world = 0x44000000;
  mpi.byte = 0x4c00010d;
  mpi.errors_return = 0x54000003;
  mpi.info_null = 0x1c000000;
  mpi.any_source = -2;
  mpi.type_shared = 1;
  mpi.source_offset = 8;
  mpi.status_ignore = reinterpret_cast<void*>(1);
  return absl::OkStatus();
}

}  // namespace

std::string MpiLibrary::ErrorText(int code) const {
  char text[1024] = "";
  int length = 0;
  if (MPI_Error_string(code, text, &length) != 0) return absl::StrCat("error ", code);
  return std::string(text, static_cast<size_t>(length));
}

absl::StatusOr<const MpiLibrary*> MpiLibrary::Load() {
  static MpiLibrary* const mpi = new MpiLibrary();
  static const absl::Status loaded = [] {
    std::string tried;
    void* const library = OpenAny(tried);
    if (library == nullptr)
      return Unimplemented("no MPI library found (tried ", tried,
                           "); HLOKIT_MPI_LIBRARY names one");
    return Fill(library, *mpi);
  }();
  if (!loaded.ok()) return loaded;
  return mpi;
}

int LaunchedProcesses() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"})
    if (const char* const text = getenv(name)) return atoi(text) > 1 ? atoi(text) : 1;
  // srun gives its number of tasks to every process, and PMIx a rank.
  if (getenv("PMIX_RANK") != nullptr)
    if (const char* const text = getenv("SLURM_NTASKS")) return atoi(text) > 1 ? atoi(text) : 1;
  return 1;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
