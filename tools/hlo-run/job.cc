// Start, agreement, and the results of a job of several processes.
//
// Every process reads the module by itself. Before anything runs they compare a hash of it, of
// their own program's build and of their flags, and one that differs is named; a job of different
// modules would wait for ever, one of different builds may give each device other bits. Results are
// gathered by rank 0, which alone prints and writes files. An error in one process is told to all
// others, which end with it. Flags that look into one process are refused with their name rather
// than ignored.
#include "tools/hlo-run/job.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <thread>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "mpi/mpi_library.h"
#include "mpi/mpi_transport.h"
#include "printer/printer.h"
#include "runtime/collective/process_communicator.h"
#include "support/status.h"
#include "tools/common/report.h"
#include "tools/common/signals.h"
#include "types/literal_leaves.h"

namespace hlokit {
namespace {

constexpr int kResultTag = Transport::kMaxTag;

// What looks into one process, or writes what one process alone would know.
absl::Status CheckFlags(const RunOptions& o) {
  const struct {
    bool given;
    const char* flag;
  } flags[] = {{o.bisect, "--bisect"},
               {o.check_nans || o.check_infs, "--check-nans and --check-infs"},
               {!o.trace.empty(), "--trace"},
               {!o.isolate.empty() || o.isolate_instructions, "--isolate"},
               {o.sanitize, "--sanitize"},
               {o.donate, "--donate"},
               {!o.outfeed.empty(), "--outfeed"},
               {!o.output_literals.empty(), "--output-literals-file"},
               {!o.ptx.file.empty(), "--ptx"},
               {!o.kernels.empty(), "--kernels"}};
  for (const auto& [given, flag] : flags)
    if (given)
      return Unimplemented(flag, " with several processes; --distributed=none runs each by itself");
  if (std::find(o.files.begin(), o.files.end(), "-") != o.files.end())
    return Unimplemented("standard input with several processes: only one of them has it");
  return absl::OkStatus();
}

std::vector<int> RanksOf(const DeviceAssignment& devices, int size) {
  const int64_t each = devices.device_count() / size;
  std::vector<int> ranks;
  for (int64_t d = 0; d < devices.device_count(); ++d) ranks.push_back(static_cast<int>(d / each));
  return ranks;
}

// The linker's number of this program, as hexadecimal digits; empty where it has none.
std::string BuildId() {
  std::string id;
  const auto look = [](dl_phdr_info* info, size_t, void* out) {
    for (int k = 0; k < info->dlpi_phnum; ++k) {
      const auto& header = info->dlpi_phdr[k];
      if (header.p_type != PT_NOTE) continue;
      const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
      const char* const end = at + header.p_memsz;
      const auto padded = [](size_t n) { return (n + 3) / 4 * 4; };
      while (at + sizeof(ElfW(Nhdr)) <= end) {
        const auto& note = *reinterpret_cast<const ElfW(Nhdr)*>(at);
        const char* const name = at + sizeof note;
        const char* const text = name + padded(note.n_namesz);
        at = text + padded(note.n_descsz);
        if (note.n_type != NT_GNU_BUILD_ID || at > end || note.n_namesz != 4 ||
            absl::string_view(name, 3) != "GNU")
          continue;
        *static_cast<std::string*>(out) =
            absl::BytesToHexString(absl::string_view(text, note.n_descsz));
        return 1;
      }
    }
    return 1;  // the program itself comes first
  };
  dl_iterate_phdr(look, &id);
  return id;
}

// The flags that decide what a module computes.
std::string FlagsText(const RunOptions& o) {
  std::string text = absl::StrCat("--platform=", o.platform);
  if (!o.run_passes) absl::StrAppend(&text, " --no-passes");
  if (!o.passes.empty()) absl::StrAppend(&text, " --passes=", o.passes);
  absl::StrAppend(&text, " --partition=", o.partition);
  if (o.local_devices > 0) absl::StrAppend(&text, " --local-devices=", o.local_devices);
  if (o.iterations != 1) absl::StrAppend(&text, " --iterations=", o.iterations);
  if (o.warmup >= 0) absl::StrAppend(&text, " --warmup=", o.warmup);
  if (!o.reference_platform.empty())
    absl::StrAppend(&text, " --reference-platform=", o.reference_platform);
  return text;
}

// The bytes of a leaf and the sizes of its dimensions, which differ where they are dynamic.
struct Leaf {
  explicit Leaf(Literal& leaf) : literal(&leaf), sizes(leaf.shape().rank()) {
    for (int d = 0; d < leaf.shape().rank(); ++d) sizes[d] = leaf.dynamic_size(d);
  }
  int64_t size_bytes() const { return static_cast<int64_t>(sizes.size() * sizeof(int64_t)); }
  Literal* literal;
  std::vector<int64_t> sizes;
};

std::vector<Leaf> LeavesOf(Literal& literal) {
  std::vector<Literal*> arrays;
  CollectLeaves(literal, arrays);
  std::vector<Leaf> leaves;
  for (Literal* array : arrays)
    if (array->shape().IsArray()) leaves.emplace_back(*array);
  return leaves;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Job>> Job::Start(const RunOptions& o) {
  const bool wanted =
      o.distributed == "mpi" || (o.distributed == "auto" && LaunchedProcesses() > 1);
  if (!wanted) return std::unique_ptr<Job>();
  RETURN_IF_ERROR(CheckFlags(o));
  ASSIGN_OR_RETURN(std::unique_ptr<Transport> transport, StartMpi());
  return std::unique_ptr<Job>(new Job(std::move(transport), o.timeout));
}

Job::Job(std::unique_ptr<Transport> transport, double timeout_s)
    : group_(std::move(transport), {.timeout_s = timeout_s,
                                    .on_slow =
                                        [](const std::string& text) {
                                          ClearProgress();
                                          std::fprintf(stderr, "%s: warning: %s\n", kTool.data(),
                                                       text.c_str());
                                        },
                                    .on_status = SayWhenInterrupted}) {
  SayWhenEndedByOthers();
}

Job::~Job() { EndsByItself(); }

absl::Status Job::Ended() const {
  return absl::UnavailableError(
      absl::StrCat("rank ", rank(), " ends with the others: ", group_.reason()));
}

absl::Status Job::AgreeOn(const Module& module, const RunOptions& o) {
  constexpr absl::string_view kDiffers[] = {" is another build of the program than rank ",
                                            " runs another module than rank ",
                                            " has other flags than rank "};
  constexpr char kBetween = '\0';  // in none of the three texts
  const std::string answers[] = {
      absl::StrCat("build ", BuildId()),
      absl::StrCat(module.name(), " (", std::hash<std::string>()(Print(module)), ")"),
      FlagsText(o)};
  const auto all = group_.AllGather(absl::StrJoin(answers, std::string(1, kBetween)));
  if (!all) return Ended();
  for (size_t k = 0; k < std::size(kDiffers); ++k)
    for (int other = 0; other < size(); ++other) {
      const std::vector<std::string> theirs =
          absl::StrSplit((*all)[static_cast<size_t>(other)], kBetween);
      const std::string their = k < theirs.size() ? theirs[k] : "";  // another build says less
      if (their != answers[k])
        return InvalidArgument("rank ", other, kDiffers[k], rank(), ": ", their, " and ",
                               answers[k]);
    }
  return absl::OkStatus();
}

absl::StatusOr<DeviceAssignment> Job::Assign(const Module& module, int64_t local_devices) const {
  const ModuleHeader& header = module.header();
  const int64_t devices = header.replica_count * header.num_partitions;
  const int64_t each = local_devices > 0 ? local_devices : devices / size();
  if (each * size() != devices)
    return InvalidArgument(size(), " processes of ", std::max<int64_t>(each, 1),
                           " devices each do not make the module's ", devices, " (",
                           header.replica_count, " replicas of ", header.num_partitions,
                           " partitions)");
  std::vector<int64_t> ids(static_cast<size_t>(devices)), local(static_cast<size_t>(each));
  std::iota(ids.begin(), ids.end(), 0);
  std::iota(local.begin(), local.end(), rank() * each);
  return DeviceAssignment::Make(header.replica_count, header.num_partitions, ids, local);
}

CommunicatorFactory Job::Communicators() {
  return [this](const DeviceAssignment& devices) {
    return std::make_unique<ProcessCommunicator>(group_, RanksOf(devices, size()));
  };
}

absl::StatusOr<std::string> Job::Table(const DeviceAssignment& devices) {
  const auto hosts = group_.AllGather(MpiHostName());
  if (!hosts) return Ended();
  constexpr int64_t kMaxRows = 64;
  std::string table = "rank  host              device  replica  partition\n";
  const std::vector<int> ranks = RanksOf(devices, size());
  for (int64_t d = 0; d < std::min(devices.device_count(), kMaxRows); ++d)
    absl::StrAppendFormat(&table, "%4d  %-16s  %6d  %7d  %9d\n", ranks[d], (*hosts)[ranks[d]], d,
                          devices.ReplicaOf(d), devices.PartitionOf(d));
  if (devices.device_count() > kMaxRows)
    absl::StrAppend(&table, "...   ", devices.device_count(), " devices\n");
  return table;
}

absl::Status Job::Finish(std::vector<Transport::Request>& requests) {
  Transport& transport = group_.transport();
  while (true) {
    std::erase_if(requests, [&](Transport::Request r) { return transport.Test(r); });
    if (requests.empty()) return absl::OkStatus();
    if (group_.aborted()) break;
    std::this_thread::yield();
  }
  for (const Transport::Request request : requests) transport.Abandon(request);
  return Ended();
}

// By device, leaf and part of it, in this order on both sides. Messages are of 1 GiB at most.
absl::StatusOr<std::vector<Literal>> Job::Gather(std::vector<Literal> own,
                                                 const DeviceAssignment& devices) {
  constexpr int64_t kMaxBytes = int64_t{1} << 30;
  Transport& transport = group_.transport();
  const std::vector<int> ranks = RanksOf(devices, size());
  std::vector<Transport::Request> requests;
  std::vector<std::vector<Leaf>> kept;
  const auto each_part = [&](Literal& literal, const auto& start) {
    kept.push_back(LeavesOf(literal));
    for (Leaf& leaf : kept.back()) {
      for (int64_t at = 0; at < leaf.literal->byte_size(); at += kMaxBytes)
        requests.push_back(
            start(leaf.literal->data() + at, std::min(kMaxBytes, leaf.literal->byte_size() - at)));
      if (leaf.size_bytes() > 0)
        requests.push_back(start(reinterpret_cast<uint8_t*>(leaf.sizes.data()), leaf.size_bytes()));
    }
  };
  if (!speaks()) {
    for (Literal& literal : own)
      each_part(literal, [&](uint8_t* data, int64_t bytes) {
        return transport.StartSend(0, kResultTag, data, bytes);
      });
    RETURN_IF_ERROR(Finish(requests));
    return std::vector<Literal>();
  }
  std::vector<Literal> all;
  all.reserve(ranks.size());
  const Shape shape = own[0].shape();
  for (int64_t d = 0; d < devices.device_count(); ++d) {
    if (ranks[d] == 0) {
      all.push_back(std::move(own[static_cast<size_t>(d)]));
      continue;
    }
    all.emplace_back(shape);
    each_part(all.back(), [&](uint8_t* data, int64_t bytes) {
      return transport.StartReceive(ranks[d], kResultTag, data, bytes);
    });
  }
  RETURN_IF_ERROR(Finish(requests));
  for (const std::vector<Leaf>& leaves : kept)
    for (const Leaf& leaf : leaves)
      for (int d = 0; d < leaf.literal->shape().rank(); ++d)
        if (leaf.sizes[d] != leaf.literal->dynamic_size(d))
          leaf.literal->set_dynamic_size(d, leaf.sizes[d]);
  return all;
}

absl::StatusOr<bool> Job::Tell(bool agrees) {
  const auto all = group_.AllGather(agrees ? "1" : "0");
  if (!all) return Ended();
  return (*all)[0] == "1";
}

void Job::Fail(const absl::Status& status) {
  constexpr auto kTimeToTell = std::chrono::milliseconds(500);
  if (std::exchange(failed_, true)) return;
  LeaveMpiOpen();
  if (!group_.aborted()) group_.Abort(absl::StrCat("rank ", rank(), ": ", status.message()));
  // The launcher ends all processes as soon as one has failed: the others say their word first.
  std::this_thread::sleep_for(kTimeToTell);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
