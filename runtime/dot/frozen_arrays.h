// Packed forms of arrays that have the same values in every run: weights.
//
// A product packs its right side before it multiplies (gemm_product.cc): for few rows that costs as
// much as a fifth of the product, in every run anew. Of an array that is frozen (a constant of the
// module, or a parameter that the caller promises never to change) the packed form is made by the
// first product that wants it and kept:
//   PackedForms   of a program: key (array, place in it, geometry) -> packed bytes
//   FrozenArrays  of a run: where its frozen arrays lie in memory, and the PackedForms to ask
// A look-up takes about 100 ns. Packed forms take as much memory again as the weights. They are
// made only where the machine has twice as much to spare, and are dropped when memory gets short
// (DropIfShort); products then pack for themselves, with the same results.
#pragma once

#include <stdint.h>

#include <compare>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace hlokit {

// Bytes that this process may still take without others' being swapped out: of the system and of
// the container around it. INT64_MAX where the system does not say.
int64_t AvailableMemory();

struct PackedCounts {
  int64_t arrays = 0, bytes = 0;  // that are kept now
  int64_t dropped = 0;            // arrays that were dropped since memory was short
};

// Which matrix, and how it was packed.
struct PackedKey {
  int64_t array = 0, offset = 0;  // number of the frozen array, bytes from its begin
  int64_t type = 0, cols = 0, col_stride = 0, depth = 0, depth_stride = 0;
  int64_t width = 0, slab_depth = 0;  // of panels
  const void* kernels = nullptr;
  auto operator<=>(const PackedKey&) const = default;
};

// Any number of threads may ask at once.
class PackedForms {
 public:
  // `available`: gives the bytes that the process may still take.
  explicit PackedForms(int64_t (*available)() = AvailableMemory) : available_(available) {}

  using Bytes = std::shared_ptr<const char>;

  // The packed form, or memory for it: in the second case `make` is set, and the caller fills
  // `fill` and calls Add or Abandon. Both null: another thread is packing it, or memory is short.
  struct Found {
    Bytes packed;
    std::shared_ptr<char> fill;
  };
  Found Find(const PackedKey& key, int64_t bytes);
  void Add(const PackedKey& key, std::shared_ptr<char> filled, int64_t bytes);
  void Abandon(const PackedKey& key);  // instead of Add

  // Drops all where the system has little memory left; asks it once a second at most, and only
  // where there is much to drop.
  void DropIfShort();
  void Drop();
  PackedCounts counts() const;

 private:
  struct Form {
    Bytes packed;  // null while a thread packs it
    int64_t bytes = 0;
  };
  int64_t (*const available_)();
  mutable std::mutex mutex_;
  std::map<PackedKey, Form> forms_;
  PackedCounts counts_;
  int64_t checked_ms_ = 0, paused_until_ms_ = 0;  // on the steady clock
};

class FrozenArrays {
 public:
  explicit FrozenArrays(PackedForms* forms) : forms_(forms) {}
  // Array `number` of the program lies here in this run. Smaller arrays than kLeastBytes gain
  // nothing and are left out.
  void Add(int64_t number, const void* data, int64_t bytes);
  bool empty() const { return ranges_.empty(); }

  // Sets `array` and `offset` of the key; false where no frozen array holds `data`.
  bool Locate(const void* data, PackedKey* key) const;
  PackedForms& forms() const { return *forms_; }

 private:
  static constexpr int64_t kLeastBytes = 32 << 10;
  struct Range {
    const char* begin;
    int64_t bytes, number;
  };
  PackedForms* forms_;
  std::vector<Range> ranges_;  // by address
};

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
