// Puts cuts together from the places of devices.
#include "passes/spmd/cut_places.h"

#include <map>

namespace hlokit {

std::vector<DimVector> PlacesOf(const Cut& cut, int64_t rank, int64_t devices) {
  std::vector<DimVector> places(devices, DimVector(rank, 0));
  if (!cut.IsTiled()) return places;
  cut.ForEach([&](const DimVector& at, int64_t device) {
    places[device] = DimVector(at.begin(), at.begin() + rank);
  });
  return places;
}

void CutAssembly::Take(int64_t to, const Cut& cut, const std::vector<DimVector>& places,
                       int64_t from) {
  tiles_[to] = cut.Dim(from);
  for (size_t device = 0; device < places.size(); ++device)
    places_[device][to] = places[device][from];
}

std::optional<Cut> CutAssembly::Made() const {
  std::map<std::vector<int64_t>, Devices> by_place;
  for (size_t device = 0; device < places_.size(); ++device)
    by_place[{places_[device].begin(), places_[device].end()}].push_back(
        static_cast<int64_t>(device));
  int64_t count = 1;
  for (const int64_t n : tiles_) count *= n;
  if (static_cast<int64_t>(by_place.size()) != count) return std::nullopt;
  const size_t copies = by_place.begin()->second.size();
  Devices devices;
  for (const auto& [place, on] : by_place) {
    if (on.size() != copies) return std::nullopt;
    devices.insert(devices.end(), on.begin(), on.end());
  }
  DimVector all = tiles_;
  if (copies > 1) all.push_back(static_cast<int64_t>(copies));
  return Cut::Tiled(std::move(all), std::move(devices), copies > 1);
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
