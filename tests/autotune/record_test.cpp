// Records on disk: what is read is what was written, whoever else writes, and damage is skipped.
#include "autotune/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "runtime/warnings.h"
#include "tests/autotune/kernels.h"

namespace einkern::autotune {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

TuningRecord example(std::map<std::string, std::int64_t> sizes, double seconds = 1e-3) {
  return {.key = {.kernel = "0123abcd",
                  .specialisation = "x:1/16 y:1/16",
                  .sizes = std::move(sizes),
                  .device = "Some CPU \"quoted\"",
                  .architecture = "znver4"},
          .function = "product_0",
          .schedule = "cpu.contraction",
          .schedule_version = 3,
          .configuration = "rows=14 vectors=2",
          .seconds = seconds,
          .spread = 0.02,
          .error = 1.5e-7,
          .limit_seconds = 7.0e-4,
          .version = "0.1.0",
          .candidates = {{"cpu.contraction", "rows=14 vectors=2", "measured", seconds, 53},
                         {"cpu.points", "", "hang: no answer in 1.0 s", 0, 0}}};
}

TEST(Record, JsonReadsBack) {
  const TuningRecord record = example({{"M", 64}, {"N", 128}});
  const auto read = TuningRecord::from_json(record.to_json());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->to_json(), record.to_json());
  EXPECT_EQ(read->key.fields().bytes(), record.key.fields().bytes());
  EXPECT_EQ(read->candidates.at(1).outcome, "hang: no answer in 1.0 s");
}

TEST(Record, DamagedTextIsAnError) {
  const std::string whole = example({{"M", 64}}).to_json();
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7)
    EXPECT_FALSE(TuningRecord::from_json(whole.substr(0, length)).ok()) << length;
  std::string newer = whole;
  newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 9");
  EXPECT_FALSE(TuningRecord::from_json(newer).ok());
}

TEST(RecordStore, KeysThatDifferInAnyFieldHaveRecordsOfTheirOwn) {
  const TemporaryFolder folder;
  const RecordStore store(folder.path());
  std::vector<TuningRecord> records(5, example({{"M", 4096}, {"N", 4096}}));
  records[1].key.sizes["N"] = 8192;
  records[2].key.specialisation = "x:0/16 y:1/16";
  records[3].key.device = "another";
  records[4].key.architecture = "znver5";
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i].seconds = static_cast<double>(i + 1);
    ASSERT_TRUE(store.store(records[i]).ok());
  }
  for (const TuningRecord& record : records) EXPECT_EQ(store.find(record.key)->seconds, record.seconds);
  EXPECT_EQ(store.list().size(), 5u);
  EXPECT_EQ(store.clear(), 5);
  EXPECT_FALSE(store.find(records[0].key).has_value());
}

TEST(RecordStore, TheNearestSizesAreNearestByRatio) {
  const TemporaryFolder folder;
  const RecordStore store(folder.path());
  for (const std::int64_t m : {16, 1000, 100000})
    ASSERT_TRUE(store.store(example({{"M", m}, {"N", 8}})).ok());
  EXPECT_EQ(store.nearest(example({{"M", 100}, {"N", 8}}).key)->key.sizes.at("M"), 16);
  EXPECT_EQ(store.nearest(example({{"M", 150}, {"N", 8}}).key)->key.sizes.at("M"), 1000);
  EXPECT_EQ(store.nearest(example({{"M", 20000}, {"N", 8}}).key)->key.sizes.at("M"), 100000);
  EXPECT_FALSE(store.nearest(example({{"M", 16}}).key).has_value());
  EXPECT_FALSE(store.nearest(example({{"M", 16}, {"N", 0}}).key).has_value());
  RecordKey other = example({{"M", 16}, {"N", 8}}).key;
  other.specialisation = "another";
  EXPECT_FALSE(store.nearest(other).has_value());
}

TEST(RecordStore, MalformedFilesAreSkippedAndToldOnce) {
  const TemporaryFolder folder;
  const RecordStore store(folder.path());
  const TuningRecord good = example({{"M", 1}});
  ASSERT_TRUE(store.store(good).ok());
  std::ofstream(folder.path() + "/broken.json") << "{\"format\": 1";
  std::ofstream(folder.path() + "/other.json") << "[]";
  std::ofstream(folder.path() + "/notes.txt") << "mine";
  std::vector<std::string> warnings;
  runtime::set_warning_handler([&](std::string_view text) { warnings.emplace_back(text); });
  EXPECT_EQ(store.list().size(), 1u);
  EXPECT_EQ(store.list().size(), 1u);
  runtime::set_warning_handler(nullptr);
  EXPECT_EQ(warnings.size(), 2u);
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/notes.txt"));
}

TEST(RecordStore, ARecordUnderAnotherKeysNameIsNotUsed) {
  const TemporaryFolder folder;
  const RecordStore store(folder.path());
  const TuningRecord here = example({{"M", 1}}), wanted = example({{"M", 2}});
  std::ofstream(folder.path() + "/" + wanted.key.fingerprint() + ".json") << here.to_json();
  EXPECT_FALSE(store.find(wanted.key).has_value());
}

TEST(RecordStore, MergingKeepsTheFaster) {
  const TemporaryFolder one, two, exchange;
  const RecordStore from(one.path()), to(two.path());
  ASSERT_TRUE(from.store(example({{"M", 1}}, 1e-3)).ok());
  ASSERT_TRUE(from.store(example({{"M", 2}}, 3e-3)).ok());
  ASSERT_TRUE(to.store(example({{"M", 1}}, 2e-3)).ok());
  ASSERT_TRUE(to.store(example({{"M", 2}}, 2e-3)).ok());
  const std::string file = exchange.path() + "/records.json";
  EXPECT_EQ(*from.export_to(file), 2);
  EXPECT_EQ(*to.import_from(file), 1);
  EXPECT_EQ(to.find(example({{"M", 1}}).key)->seconds, 1e-3);
  EXPECT_EQ(to.find(example({{"M", 2}}).key)->seconds, 2e-3);
  std::ofstream(file) << "{}";
  const auto refused = to.import_from(file);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("JSON array"));
}

TEST(RecordStore, AFolderThatCannotBeWrittenIsAnError) {
  const RecordStore store("/proc/no/such/folder");
  EXPECT_FALSE(store.store(example({{"M", 1}})).ok());
  EXPECT_TRUE(store.list().empty());
}

TEST(RecordStore, TwoProcessesThatWriteOneRecordLeaveItWhole) {
  const TemporaryFolder folder;
  const RecordStore store(folder.path());
  const auto write_many = [&](double seconds) {
    for (int i = 0; i < 200; ++i)
      if (!store.store(example({{"M", 1}}, seconds)).ok()) return 1;
    return 0;
  };
  std::vector<pid_t> children;
  for (const double seconds : {1e-3, 2e-3}) {
    children.push_back(fork());
    if (children.back() == 0) _exit(write_many(seconds));
  }
  int seen = 0;
  for (int i = 0; i < 200; ++i)
    if (const auto record = store.find(example({{"M", 1}}).key)) {
      ++seen;
      EXPECT_EQ(record->candidates.at(0).seconds, record->seconds);
    } else {
      EXPECT_EQ(seen, 0) << "a record that was there has gone";
    }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(store.list().size(), 1u);
}

}  // namespace
}  // namespace einkern::autotune
