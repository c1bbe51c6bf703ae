// What the C API tells of computations, and snapshots.
#include <algorithm>
#include <cstring>

#include "client/c_api_builder.h"
#include "client/c_api_internal.h"
#include "support/status.h"

namespace hlokit {
namespace {

std::string TextOf(const ProgramShape& shape) {
  std::string text = "(";
  for (size_t p = 0; p < shape.parameters.size(); ++p)
    absl::StrAppend(&text, p == 0 ? "" : ", ", shape.parameter_names[p], ": ",
                    Text(shape.parameters[p]));
  return absl::StrCat(text, ") -> ", Text(shape.result));
}

}  // namespace
}  // namespace hlokit

using hlokit::GiveBuffer;
using hlokit::Guarded;
using hlokit::WrapError;

extern "C" {

hlokit_error* hlokit_computation_shape(const hlokit_computation* computation, char** text) {
  return Guarded({{computation != nullptr, "computation"}, {text != nullptr, "text"}},
                 [&]() -> hlokit_error* {
                   const auto shape = computation->computation.GetProgramShape();
                   if (!shape.ok()) return WrapError(shape.status());
                   *text = hlokit::GiveBytes(hlokit::TextOf(*shape), nullptr);
                   return nullptr;
                 });
}

hlokit_error* hlokit_computation_get_stats(const hlokit_computation* computation,
                                           hlokit_computation_stats* stats) {
  return Guarded({{computation != nullptr, "computation"}, {stats != nullptr, "stats"}},
                 [&]() -> hlokit_error* {
                   const auto counted =
                       hlokit::Client::GetComputationStats(computation->computation);
                   if (!counted.ok()) return WrapError(counted.status());
                   const hlokit_computation_stats all = {
                       stats->struct_size, counted->flop_count, counted->transcendental_count,
                       counted->bytes_accessed, counted->instruction_count};
                   // Callers of old know fewer fields.
                   std::memcpy(stats, &all,
                               std::min<size_t>(sizeof(all), static_cast<size_t>(all.struct_size)));
                   return nullptr;
                 });
}

hlokit_error* hlokit_snapshot_execution(hlokit_client* client,
                                        const hlokit_computation* computation,
                                        const hlokit_buffer* const* arguments, size_t count,
                                        char** bytes, size_t* size) {
  return Guarded({{client != nullptr, "client"},
                  {computation != nullptr, "computation"},
                  {arguments != nullptr || count == 0, "arguments"},
                  {bytes != nullptr, "bytes"}},
                 [&]() -> hlokit_error* {
                   const auto snapshot = client->client->SnapshotExecution(
                       computation->computation, hlokit::DataOf(arguments, count));
                   if (!snapshot.ok()) return WrapError(snapshot.status());
                   *bytes = hlokit::GiveBytes(*snapshot, size);
                   return nullptr;
                 });
}

hlokit_error* hlokit_snapshot_load(hlokit_client* client, const void* bytes, size_t size,
                                   hlokit_computation** computation, hlokit_buffer** arguments,
                                   hlokit_buffer** result) {
  return Guarded(
      {{client != nullptr, "client"},
       {bytes != nullptr || size == 0, "bytes"},
       {computation != nullptr, "computation"},
       {arguments != nullptr, "arguments"},
       {result != nullptr, "result"}},
      [&]() -> hlokit_error* {
        auto loaded = hlokit::Client::LoadSnapshot({static_cast<const char*>(bytes), size});
        if (!loaded.ok()) return WrapError(loaded.status());
        hlokit::DataOr given =
            client->client->TransferToServer(hlokit::Literal::Tuple(std::move(loaded->arguments)));
        hlokit_buffer* recorded = nullptr;
        hlokit_error* error = nullptr;
        if (loaded->result)
          error =
              GiveBuffer(client->client->TransferToServer(*std::move(loaded->result)), &recorded);
        if (error == nullptr) error = GiveBuffer(std::move(given), arguments);
        if (error != nullptr) {
          hlokit_buffer_free(recorded);
          return error;
        }
        *computation = new hlokit_computation{std::move(loaded->computation)};
        *result = recorded;
        return nullptr;
      });
}

}  // extern "C"
// SPDX-License-Identifier: Apache-2.0
