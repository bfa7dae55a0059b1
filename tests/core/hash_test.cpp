#include "core/hash.h"

#include <gtest/gtest.h>

#include "core/device_facts.h"

namespace einkern::core {
namespace {

TEST(Hash, FingerprintsAreXxh3) {
  // XXH3-128 of no bytes and of "a" with seed 0, as the command `xxhsum -H2` prints them.
  EXPECT_EQ(fingerprint(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(fingerprint("a"), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(checksum(""), 0x2d06800538d394c2u);
}

TEST(Hash, KeysOfDifferentFieldsHaveDifferentBytes) {
  const Key keys[] = {Key().add("a", "bc"),
                      Key().add("ab", "c"),
                      Key().add("a", "b").add("", "c"),
                      Key().add("a", "").add("b", "c"),
                      Key().add("a", "b"),
                      Key()};
  for (const Key& left : keys)
    for (const Key& right : keys) EXPECT_EQ(left.bytes() == right.bytes(), &left == &right);
}

TEST(Hash, KeysReadTheirBytesBack) {
  const Key key = Key().add("source", std::string("a\0b", 3)).add("sms", 132).add("empty", "");
  EXPECT_EQ(Key::from_bytes(key.bytes()).fields(), key.fields());
  const std::string bytes = key.bytes();
  for (std::size_t length = 1; length < bytes.size(); ++length) {
    const Key cut = Key::from_bytes(std::string_view(bytes).substr(0, length));
    EXPECT_LT(cut.fields().size(), key.fields().size());
  }
  EXPECT_TRUE(Key::from_bytes("nonsense that is no key at all").fields().empty());
}

TEST(DeviceFacts, KnowsTheArchitecturesThatCodeIsMadeFor) {
  for (const char* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120a"}) {
    const auto facts = facts_of_architecture(name);
    ASSERT_TRUE(facts.ok()) << name;
    EXPECT_EQ(facts->architecture, name);
    EXPECT_GT(facts->multiprocessors, 0);
    EXPECT_GT(facts->copy_bytes_per_second, 0);
    EXPECT_LE(facts->shared_bytes_per_block, facts->shared_bytes_per_multiprocessor);
  }
  EXPECT_EQ(facts_of_architecture("sm_90a")->shared_bytes_per_block, 227 * 1024);
  EXPECT_EQ(facts_of_architecture("sm_75")->shared_bytes_per_block, 64 * 1024);
  EXPECT_EQ(architecture_name(90), "sm_90a");
  EXPECT_EQ(architecture_name(89), "sm_89");
}

TEST(DeviceFacts, ListsWhatItKnowsForAnUnknownArchitecture) {
  for (const char* name : {"sm_13", "sm_", "", "90a", "sm_80a", "sm_90f", "sm_99999999999", "compute_90"}) {
    const auto facts = facts_of_architecture(name);
    ASSERT_FALSE(facts.ok()) << name;
    EXPECT_NE(facts.error().message.find("sm_90a"), std::string::npos);
  }
}

}  // namespace
}  // namespace einkern::core
