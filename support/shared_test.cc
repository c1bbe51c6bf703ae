// Sharing, and copies on the first change.
#include "support/shared.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/shared_text.h"

namespace hlokit {
namespace {

TEST(Shared, ReadsAsItsDefaultWhereNothingWasPutIn) {
  Shared<std::vector<int>> none;
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(none->empty());
  none.Mutable().push_back(3);
  EXPECT_EQ(*none, std::vector<int>{3});
  EXPECT_TRUE(Shared<std::vector<int>>()->empty());
}

TEST(Shared, CopiesWhatIsSharedBeforeItChanges) {
  Shared<std::string> a = std::string("a");
  Shared<std::string> b = a;
  EXPECT_TRUE(a.IsSame(b));
  EXPECT_EQ(&*a, &*b);
  b.Mutable() += "b";
  EXPECT_EQ(*a, "a");
  EXPECT_EQ(*b, "ab");
  const std::string* const alone = &*b;
  b.Mutable() += "c";  // nobody else has it
  EXPECT_EQ(&*b, alone);
  a = b;
  b = Shared<std::string>();
  EXPECT_EQ(*a, "abc");
}

TEST(SharedText, IsNothingWhereEmpty) {
  EXPECT_TRUE(SharedText("").empty());
  EXPECT_EQ(SharedText("").view(), "");
  SharedText text("a");
  text = "";
  EXPECT_TRUE(text == SharedText());
}

TEST(SharedText, SharesWhatCopiesAndCachesHandOut) {
  SharedTextCache cache;
  const SharedText a = cache.Get("layer/add"), b = cache.Get("layer/add");
  EXPECT_EQ(a.view().data(), b.view().data());
  EXPECT_TRUE(a == SharedText("layer/add"));
  EXPECT_FALSE(a == cache.Get("layer/sub"));
  SharedText copy = a;
  copy = "other";
  EXPECT_EQ(a.str(), "layer/add");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
