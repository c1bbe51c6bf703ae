// Blocks: their memory, barriers, and the faults that end a launch.
//
// Warps take turns of a budget of ops until all have ended; a warp that waits at a barrier is
// skipped. Where every warp waits, and none of the barriers can complete, the block reports a
// deadlock. Local memory is one array for all threads of the block, which alloca makes longer.
#include "ptxsim/block.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ptxsim/tensor_memory.h"
#include "support/status.h"

namespace hlokit::ptx {

void LaunchState::Fail(int64_t block, absl::Status status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (block < failed_block_) {
    failed_block_ = block;
    status_ = std::move(status);
  }
  stopped = true;
}

absl::Status LaunchState::Result() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return status_;
}

void LaunchState::Print(int64_t block, const std::string& text) {
  const std::lock_guard<std::mutex> lock(mutex_);
  output_[block] += text;
}

std::string LaunchState::Output() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string all;
  for (const auto& [block, text] : output_) all += text;
  return all;
}

Block::~Block() = default;

TensorMemory& Block::tensor_memory() {
  if (tensor_memory_ == nullptr) tensor_memory_ = std::make_unique<TensorMemory>();
  return *tensor_memory_;
}

Block::Block(LaunchState& launch, Cluster& cluster, int64_t index, int rank)
    : launch_(launch), cluster_(cluster), index_(index), rank_(rank) {
  const LaunchOptions& o = *launch.options;
  id_[0] = static_cast<uint32_t>(index % o.grid[0]);
  id_[1] = static_cast<uint32_t>(index / o.grid[0] % o.grid[1]);
  id_[2] = static_cast<uint32_t>(index / o.grid[0] / o.grid[1]);
  thread_count_ = static_cast<int>(o.block[0] * o.block[1] * o.block[2]);
  cluster_arrivals_.resize(static_cast<size_t>(thread_count_));
  shared_.resize(static_cast<size_t>(launch.program->shared_bytes + o.dynamic_shared));
  if (o.checks.unwritten) shared_written_.assign(shared_.size(), 0);
  for (int first = 0; first < thread_count_; first += kLanes) {
    warps_.push_back(std::make_unique<Warp>(*this, first / kLanes));
    const int lanes = std::min(kLanes, thread_count_ - first);
    warps_.back()->Start(lanes == kLanes ? kAllLanes : (LaneMask{1} << lanes) - 1);
  }
}

void Block::ReserveLocal(int64_t bytes) {
  if (bytes <= local_bytes_) return;
  // Each thread's bytes move to their new place.
  std::vector<std::byte> grown(static_cast<size_t>(bytes * thread_count_));
  for (int t = 0; t < thread_count_; ++t)
    std::copy_n(local_.data() + t * local_bytes_, local_bytes_, grown.data() + t * bytes);
  if (options().checks.unwritten) {
    std::vector<uint8_t> marks(grown.size(), 0);
    for (int t = 0; t < thread_count_; ++t)
      std::copy_n(local_written_.data() + t * local_bytes_, local_bytes_, marks.data() + t * bytes);
    local_written_ = std::move(marks);
  }
  local_ = std::move(grown);
  local_bytes_ = bytes;
}

// The host's address of `size` bytes of a space; null where they are not all mapped.
std::byte* Block::Resolve(Space space, uint64_t address, int64_t size, int thread) {
  const auto within = [&](std::byte* data, int64_t bytes, uint64_t offset) -> std::byte* {
    if (offset > static_cast<uint64_t>(bytes) ||
        static_cast<uint64_t>(size) > static_cast<uint64_t>(bytes) - offset)
      return nullptr;
    return data + offset;
  };
  if (space == Space::kGeneric && address - kSharedWindow < 3 * kWindowBytes) {
    const uint64_t offset = address % kWindowBytes;
    if (address < kLocalWindow) return Resolve(Space::kShared, offset, size, thread);
    return Resolve(address < kParamWindow ? Space::kLocal : Space::kParam,
                   address < kParamWindow ? offset : address, size, thread);
  }
  switch (space) {
    case Space::kShared:
      // Generic addresses and those with a block's rank name the same bytes.
      if (address >= kSharedWindow && address < kLocalWindow) address -= kSharedWindow;
      if (const uint64_t rank = address >> kSharedRankShift; rank != 0) {
        Block* other = cluster_.block(rank - 1);
        address &= (1 << kSharedRankShift) - 1;
        return other == nullptr ? nullptr
                                : within(other->shared_.data(), other->shared_bytes(), address);
      }
      return within(shared_.data(), shared_bytes(), address);
    case Space::kLocal:
      if (address >= kLocalWindow && address < kParamWindow) address -= kLocalWindow;
      return within(local_.data() + thread * local_bytes_, local_bytes_, address);
    case Space::kParam:
      return within(launch_.parameters.data(), static_cast<int64_t>(launch_.parameters.size()),
                    address - kParamWindow);
    default:
      break;
  }
  if (last_ == nullptr || frees_ != launch_.memory->frees() ||
      address - last_->address >= static_cast<uint64_t>(last_->size)) {
    last_ = launch_.memory->Find(address);
    frees_ = launch_.memory->frees();
  }
  return last_ == nullptr ? nullptr : within(last_->data, last_->size, address - last_->address);
}

Block::Piece Block::PieceAt(Space space, uint64_t address) {
  constexpr uint64_t kSharedEnd = uint64_t{1} << kSharedRankShift;
  const uint64_t window = space == Space::kGeneric ? kSharedWindow : 0;
  if ((space == Space::kShared || space == Space::kGeneric) && address - window < kSharedEnd)
    return {shared_.data(), window, shared_.size(), false};
  if ((space != Space::kGlobal && space != Space::kGeneric) || address < kImageWindow ||
      Resolve(Space::kGlobal, address, 1, 0) == nullptr || !last_->written.empty())
    return {};
  return {last_->data, last_->address, static_cast<uint64_t>(last_->size), last_->is_constant};
}

uint8_t* Block::WrittenMarks(const std::byte* at) {
  if (!options().checks.unwritten) return nullptr;
  if (at >= local_.data() && at < local_.data() + local_.size())
    return local_written_.data() + (at - local_.data());
  for (const auto& block : cluster_.blocks())
    if (at >= block->shared_.data() && at < block->shared_.data() + block->shared_.size())
      return block->shared_written_.data() + (at - block->shared_.data());
  return nullptr;
}

int Block::live_threads() const {
  int threads = 0;
  for (const auto& warp : warps_) threads += std::popcount(warp->live());
  return threads;
}

void Block::OpenBarrierIfFull(int number) {
  Barrier& barrier = barriers_[number];
  if (barrier.arrived == 0) return;
  const int expected = barrier.expected == 0 ? live_threads() : barrier.expected;
  if (barrier.arrived < expected) return;
  barrier.last_population = barrier.population;
  barrier.last_all = barrier.every;
  barrier.last_any = barrier.any;
  barrier.arrived = barrier.population = 0;
  barrier.every = true;
  barrier.any = false;
  if (launch_.barrier_opens) launch_.barrier_opens(*this, number);
  for (const auto& warp : warps_) warp->Release(number);
}

void Block::Arrive(int number, int count, int threads) {
  Barrier& barrier = barriers_[number];
  barrier.expected = count;
  barrier.arrived += threads;
}

void Block::ThreadsEnded() {
  for (int i = 0; i < kClusterBarrier; ++i)
    if (barriers_[i].arrived > 0 && barriers_[i].expected == 0) OpenBarrierIfFull(i);
  cluster_.OpenIfFull();
}

Block::Progress Block::Run(int64_t budget) {
  bool ran = false, all_done = true;
  for (const auto& warp : warps_) {
    if (warp->done()) continue;
    const int64_t before = warp->steps, threads_before = warp->thread_steps;
    ran |= warp->Run(budget);
    launch_.steps.fetch_add(warp->steps - before, std::memory_order_relaxed);
    launch_.thread_steps.fetch_add(warp->thread_steps - threads_before, std::memory_order_relaxed);
    if (launch_.stopped) return Progress::kDone;
    all_done &= warp->done();
  }
  if (all_done) return Progress::kDone;
  return ran ? Progress::kRan : Progress::kStuck;
}

Cluster::Cluster(LaunchState& launch, int64_t index) : launch_(launch) {
  const LaunchOptions& o = *launch.options;
  const int64_t along[2] = {o.grid[0] / o.cluster[0], o.grid[1] / o.cluster[1]};
  const int64_t at[3] = {index % along[0], index / along[0] % along[1],
                         index / along[0] / along[1]};
  for (uint32_t z = 0; z < o.cluster[2]; ++z)
    for (uint32_t y = 0; y < o.cluster[1]; ++y)
      for (uint32_t x = 0; x < o.cluster[0]; ++x) {
        const int64_t block = (at[0] * o.cluster[0] + x) +
                              o.grid[0] * ((at[1] * o.cluster[1] + y) +
                                           int64_t{o.grid[1]} * (at[2] * o.cluster[2] + z));
        blocks_.push_back(std::make_unique<Block>(launch, *this, block, size()));
      }
  done_.resize(blocks_.size());
}

bool Cluster::Run(int64_t budget) {
  bool all_done = true, ran = false;
  Block* stuck = nullptr;
  for (size_t i = 0; i < blocks_.size(); ++i) {
    if (done_[i]) continue;
    const Block::Progress progress = blocks_[i]->Run(budget);
    if (launch_.stopped) return true;
    done_[i] = progress == Block::Progress::kDone;
    all_done &= done_[i];
    ran |= progress != Block::Progress::kStuck;
    if (progress == Block::Progress::kStuck && stuck == nullptr) stuck = blocks_[i].get();
  }
  if (!all_done && !ran) stuck->ReportDeadlock();
  return all_done || launch_.stopped;
}

int Cluster::live_threads() const {
  int threads = 0;
  for (const auto& block : blocks_) threads += block->live_threads();
  return threads;
}

void Cluster::Arrive(int threads) {
  arrived_ += threads;
  OpenIfFull();
}

void Cluster::OpenIfFull() {
  if (arrived_ == 0 || arrived_ < live_threads()) return;
  arrived_ = 0;
  ++openings_;
  for (const auto& block : blocks_) {
    if (launch_.barrier_opens) launch_.barrier_opens(*block, Block::kClusterBarrier);
    for (const auto& warp : block->warps()) warp->Release(Block::kClusterBarrier);
  }
}

namespace {

std::string Coordinates(const uint32_t id[3]) {
  return absl::StrCat("(", id[0], ",", id[1], ",", id[2], ")");
}

}  // namespace

std::string Block::ThreadText(uint32_t thread) const {
  const uint32_t* size = launch_.options->block;
  const uint32_t id[3] = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]};
  return absl::StrCat("thread ", Coordinates(id));
}

// Ends the launch with an error that names kernel, block, thread and instruction.
void Block::Fault(Warp& warp, const Op& op, int lane, const std::string& what) {
  const Function& function = *warp.code().function;
  const auto thread = static_cast<uint32_t>(warp.ThreadOf(lane));
  absl::Status status = absl::AbortedError(
      absl::StrCat(what, " (kernel ", program().functions[0]->function->name,
                   function.is_entry ? "" : absl::StrCat(", function ", function.name), ", block ",
                   Coordinates(id_), ", ", ThreadText(thread), ")"));
  launch_.Fail(index_, WithPlace(std::move(status), function.instructions[op.instruction].place));
  warp.Stop();
}

// All threads wait: for a barrier that the others will not reach.
void Block::ReportDeadlock() {
  for (int number = 0; number <= kClusterBarrier; ++number) {
    for (const auto& warp : warps_) {
      uint32_t instruction = 0;
      const LaneMask lanes = warp->WaitingLanes(number, instruction);
      if (lanes == 0) continue;
      const Barrier& barrier = barriers_[number];
      const bool of_cluster = number == kClusterBarrier;
      Op op;
      op.instruction = instruction;
      warp->SelectWaiting(number);
      Fault(*warp, op, std::countr_zero(lanes),
            absl::StrCat(of_cluster ? "the cluster's barrier" : absl::StrCat("barrier ", number),
                         " never opens: ", of_cluster ? cluster_.arrived() : barrier.arrived,
                         " threads wait at it, it waits for ",
                         of_cluster              ? cluster_.live_threads()
                         : barrier.expected == 0 ? live_threads()
                                                 : barrier.expected,
                         ", and no other thread can run"));
      return;
    }
  }
  launch_.Fail(index_, Internal("threads that cannot run wait at no barrier"));
}

}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
