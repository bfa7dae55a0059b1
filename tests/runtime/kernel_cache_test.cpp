// The cache under torture: every damage is a miss, every obstacle a run without it, never a wrong kernel,
// never a crash.
#include "runtime/kernel_cache.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <thread>

#include "runtime/warnings.h"
#include "tests/runtime/temporary_folder.h"

namespace einkern::runtime {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

core::Key key_of(const std::string& source, const std::string& architecture = "sm_90a") {
  return core::Key().add("source", source).add("architecture", architecture).add("codegen", 1);
}

CompiledKernel kernel_of(const std::string& code) {
  CompiledKernel kernel;
  core::KernelStep step;
  step.entry = "ek_sum";
  step.grid[0] = core::SizeExpression::symbol("M");
  kernel.launch.steps = {step};
  kernel.artifact.code = code;
  kernel.artifact.entries["ek_sum"] = {32, 8, 4, 2, 1024};
  kernel.artifact.log = "ptxas info";
  kernel.artifact.compile_seconds = 0.25;
  return kernel;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

class Cache : public testing::Test {
 protected:
  Cache() : cache_(folder_.path().string()) {
    set_warning_handler([this](std::string_view text) { warnings_.emplace_back(text); });
  }
  ~Cache() override { set_warning_handler(nullptr); }

  fs::path file_of(const core::Key& key) const {
    return fs::path(cache_.folder()) / (key.fingerprint() + ".kernel");
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(cache_.folder()))
      names.push_back(entry.path().filename().string());
    return names;
  }

  TemporaryFolder folder_;
  KernelCache cache_;
  std::vector<std::string> warnings_;
};

TEST_F(Cache, GivesBackWhatWasStored) {
  const core::Key key = key_of("a");
  EXPECT_FALSE(cache_.find(key).has_value());
  cache_.store(key, kernel_of(std::string("\x7f"
                                          "ELF\0code",
                                          9)));
  const auto found = cache_.find(key);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->artifact.code, std::string("\x7f"
                                              "ELF\0code",
                                              9));
  EXPECT_EQ(found->artifact.format, core::CodeFormat::cubin);
  EXPECT_EQ(found->artifact.log, "ptxas info");
  EXPECT_EQ(found->artifact.compile_seconds, 0.25);
  const core::EntryResources& used = found->artifact.entries.at("ek_sum");
  EXPECT_EQ(std::tuple(used.registers, used.stack_bytes, used.spill_store_bytes, used.spill_load_bytes,
                       used.shared_bytes),
            std::tuple(32, 8, 4, 2, 1024));
  EXPECT_EQ(found->launch.to_json(), kernel_of("").launch.to_json());
  EXPECT_FALSE(cache_.find(key_of("b")).has_value());
  const CacheStatistics statistics = cache_.statistics();
  EXPECT_EQ(std::tuple(statistics.hits, statistics.misses, statistics.rejected, statistics.stored),
            std::tuple(1, 2, 0, 1));
  struct stat status{};
  ASSERT_EQ(stat(file_of(key).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(cache_.folder().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Cache, MissesWhateverTheLengthOfATruncatedFile) {
  const core::Key key = key_of("a");
  cache_.store(key, kernel_of("code"));
  const std::string whole = read(file_of(key));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(file_of(key), whole.substr(0, length));
    ASSERT_FALSE(cache_.find(key).has_value()) << length;
    ASSERT_FALSE(fs::exists(file_of(key))) << "a damaged file is removed";
  }
  write(file_of(key), whole + "x");
  EXPECT_FALSE(cache_.find(key).has_value());
  write(file_of(key), whole);
  EXPECT_TRUE(cache_.find(key).has_value());
}

TEST_F(Cache, MissesWhicheverByteIsAltered) {
  const core::Key key = key_of("a");
  cache_.store(key, kernel_of("code"));
  const std::string whole = read(file_of(key));
  std::mt19937 random(3);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string altered = whole;
    altered[at] = static_cast<char>(altered[at] ^ (1 << random() % 8));
    EXPECT_FALSE(decode_entry(altered, key.bytes()).has_value()) << at;
    EXPECT_FALSE(entry_key(altered).has_value()) << at;
  }
}

TEST_F(Cache, MissesTheEntryOfAnotherKeyUnderThisKeysName) {
  cache_.store(key_of("a"), kernel_of("code of a"));
  fs::copy_file(file_of(key_of("a")), file_of(key_of("b")));  // as if two keys shared a fingerprint
  EXPECT_FALSE(cache_.find(key_of("b")).has_value());
  EXPECT_EQ(cache_.statistics().rejected, 1);
  EXPECT_TRUE(cache_.find(key_of("a")).has_value());
}

TEST_F(Cache, SurvivesEntriesThatAreWellFormedAndMeaningless) {
  const core::Key key = key_of("a");
  cache_.store(key, kernel_of("code"));
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {  // sections of random bytes, with a good checksum around them
    CompiledKernel kernel = kernel_of("code");
    std::string entry = encode_entry(key.bytes(), kernel);
    const std::size_t start = 24 + 8 + key.bytes().size() + 8;
    for (int i = 0; i < 3; ++i)
      entry[start + random() % (entry.size() - start - 20)] = static_cast<char>(random());
    entry.resize(entry.size() - 8);
    std::uint64_t sum = core::checksum(entry);
    for (int i = 0; i < 8; ++i, sum >>= 8) entry.push_back(static_cast<char>(sum));
    decode_entry(entry,
                 key.bytes());  // may succeed, if a byte of the code or the log was hit; must not crash
    EXPECT_FALSE(decode_entry(entry, key_of("b").bytes()).has_value());
  }
}

TEST_F(Cache, FollowsNoLinkAndReadsNoFifoOrSharedFile) {
  const core::Key key = key_of("a");
  cache_.store(key, kernel_of("code"));
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::rename(file_of(key), elsewhere);
  fs::create_symlink(elsewhere, file_of(key));
  EXPECT_FALSE(cache_.find(key).has_value());
  EXPECT_TRUE(fs::exists(elsewhere)) << "only the link is removed";
  EXPECT_FALSE(fs::exists(fs::symlink_status(file_of(key))));
  ASSERT_EQ(mkfifo(file_of(key).c_str(), 0600), 0);
  EXPECT_FALSE(cache_.find(key).has_value());
  fs::copy_file(elsewhere, file_of(key));
  ASSERT_EQ(chmod(file_of(key).c_str(), 0622), 0);
  EXPECT_FALSE(cache_.find(key).has_value()) << "others may write to it";
  fs::create_directory(file_of(key));
  EXPECT_FALSE(cache_.find(key).has_value());
}

TEST_F(Cache, ReplacesALinkInsteadOfWritingThroughIt) {
  const core::Key key = key_of("a");
  cache_.store(key_of("b"), kernel_of("code"));  // makes the folder
  const fs::path victim = folder_.path() / "victim";
  write(victim, "precious");
  fs::create_symlink(victim, file_of(key));
  cache_.store(key, kernel_of("code"));
  EXPECT_EQ(read(victim), "precious");
  EXPECT_TRUE(cache_.find(key).has_value());
}

/// Stores the same key over and over with code that names its writer, until it is killed.
[[noreturn]] void write_forever(KernelCache& cache, const core::Key& key, char writer) {
  for (int round = 0;; ++round) cache.store(key, kernel_of(std::string(20000 + 997 * (round % 50), writer)));
}

TEST_F(Cache, HoldsOnlyWholeEntriesAfterItsWritersAreKilled) {
  const core::Key key = key_of("a");
  std::mt19937 random(9);
  for (int round = 0; round < 60; ++round) {
    const pid_t writer = fork();
    if (writer == 0) write_forever(cache_, key, 'w');
    usleep(500 + random() % 4000);
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    const auto found = cache_.find(key);
    if (found) {
      ASSERT_EQ(found->artifact.code, std::string(found->artifact.code.size(), 'w'));
    }
  }
  EXPECT_EQ(cache_.statistics().rejected, 0) << "what a killed writer leaves is never under an entry's name";
}

TEST_F(Cache, SharesAKeyAmongProcesses) {
  const core::Key key = key_of("a");
  std::vector<pid_t> writers;
  for (char name = 'a'; name < 'i'; ++name) {
    const pid_t writer = fork();
    if (writer == 0) write_forever(cache_, key, name);
    writers.push_back(writer);
  }
  int found_whole = 0;
  const std::time_t deadline = std::time(nullptr) + 20;
  while (found_whole < 300 && std::time(nullptr) < deadline) {
    const auto found = cache_.find(key);
    if (!found) continue;
    ++found_whole;
    ASSERT_EQ(found->artifact.code, std::string(found->artifact.code.size(), found->artifact.code[0]))
        << "mixed from two writers";
  }
  for (const pid_t writer : writers) {
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
  }
  EXPECT_GT(found_whole, 0);
  EXPECT_EQ(cache_.statistics().rejected, 0);
}

TEST_F(Cache, RunsOnWhereTheDiskIsFull) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {512, 512};  // every write past 512 bytes fails, and would send SIGXFSZ
    setrlimit(RLIMIT_FSIZE, &limit);
    int warnings = 0;
    set_warning_handler([&](std::string_view) { ++warnings; });
    for (int i = 0; i < 3; ++i)
      cache_.store(key_of("a" + std::to_string(i)), kernel_of(std::string(10000, 'c')));
    const bool missed = !cache_.find(key_of("a0")).has_value();
    _exit(missed && warnings == 1 && files().empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(Cache, RunsOnWhereNothingCanBeWritten) {
  const fs::path file = folder_.path() / "file";
  write(file, "no folder");
  KernelCache beneath_a_file((file / "cache").string());
  beneath_a_file.store(key_of("a"), kernel_of("code"));
  beneath_a_file.store(key_of("b"), kernel_of("code"));
  EXPECT_FALSE(beneath_a_file.find(key_of("a")).has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("Compiled kernels are not kept."));
  EXPECT_THAT(warnings_[0], HasSubstr("Not a directory"));
  KernelCache none("");
  none.store(key_of("a"), kernel_of("code"));
  EXPECT_FALSE(none.find(key_of("a")).has_value());
  EXPECT_EQ(warnings_.size(), 1u);
  EXPECT_EQ(none.list().size() + static_cast<std::size_t>(none.verify().good + none.clear() + none.prune()),
            0u);
}

/// In a child process, as an ordinary user: nothing is read-only for root.
int run_in_read_only_folder(const fs::path& folder) {
  constexpr uid_t nobody = 65534;
  if (geteuid() == 0 && (chown(folder.c_str(), nobody, nobody) != 0 || setuid(nobody) != 0)) return 2;
  int warnings = 0;
  set_warning_handler([&](std::string_view) { ++warnings; });
  KernelCache cache(folder.string());
  cache.store(key_of("a"), kernel_of("code"));
  if (chmod(cache.folder().c_str(), 0500) != 0) return 3;
  cache.store(key_of("b"), kernel_of("code"));
  cache.store(key_of("c"), kernel_of("code"));
  const bool as_expected = cache.find(key_of("a")) && !cache.find(key_of("b")) && warnings == 1;
  chmod(cache.folder().c_str(), 0700);
  return as_expected ? 0 : 1;
}

TEST_F(Cache, RunsOnInAReadOnlyFolder) {
  const pid_t child = fork();
  if (child == 0) _exit(run_in_read_only_folder(folder_.path()));
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Cache, RefusesAFolderThatOthersMayWriteTo) {
  cache_.store(key_of("a"), kernel_of("code"));
  ASSERT_EQ(chmod(cache_.folder().c_str(), 0777), 0);
  cache_.store(key_of("b"), kernel_of("code"));
  EXPECT_FALSE(cache_.find(key_of("b")).has_value());
  ASSERT_EQ(warnings_.size(), 1u);
  EXPECT_THAT(warnings_[0], HasSubstr("can be written by others"));
}

TEST_F(Cache, TellsInWhichFieldsNearMissesDiffer) {
  cache_.store(key_of("a", "sm_80"), kernel_of("code"));
  cache_.store(key_of("other source", "sm_80"), kernel_of("code"));
  const auto misses = cache_.nearest(key_of("a", "sm_90a"), 5);
  ASSERT_EQ(misses.size(), 2u);
  ASSERT_EQ(misses[0].differences.size(), 1u);
  EXPECT_EQ(misses[0].differences[0].field, "architecture");
  EXPECT_EQ(misses[0].differences[0].wanted, "sm_90a");
  EXPECT_EQ(misses[0].differences[0].found, "sm_80");
  EXPECT_EQ(misses[1].differences.size(), 2u);
  EXPECT_TRUE(cache_.nearest(key_of("a", "sm_80"), 1)[0].differences.empty());
}

TEST_F(Cache, ListsVerifiesAndClears) {
  for (const char* source : {"a", "b", "c"}) cache_.store(key_of(source), kernel_of("code"));
  write(file_of(key_of("b")), "damaged");
  write(fs::path(cache_.folder()) / "somebody's notes.txt", "kept");
  ASSERT_EQ(cache_.list().size(), 2u);
  EXPECT_EQ(cache_.list()[0].key.fields()[1].second, "sm_90a");
  const auto check = cache_.verify();
  EXPECT_EQ(std::pair(check.good, check.removed), std::pair(std::int64_t{2}, std::int64_t{1}));
  EXPECT_EQ(cache_.clear(), 2);
  EXPECT_THAT(files(), ElementsAre("somebody's notes.txt"));
}

void make_older(const fs::path& file, std::int64_t seconds) {
  const timespec then = {time(nullptr) - seconds, 0};
  const timespec times[] = {then, then};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
}

TEST_F(Cache, PrunesByAgeAndBySizeLeastUsedFirst) {
  CacheLimits limits;
  limits.seconds_unused = 1000;
  limits.bytes = 25000;
  KernelCache small(folder_.path().string(), limits);
  for (const char* source : {"ancient", "old", "fresh"})
    cache_.store(key_of(source), kernel_of(std::string(10000, 'c')));
  cache_.store(key_of("freshest"), kernel_of(std::string(10000, 'c')));
  const fs::path abandoned = fs::path(cache_.folder()) / "x.kernel.1.2.3.unpublished";
  write(abandoned, "half");
  make_older(abandoned, 7200);
  make_older(file_of(key_of("ancient")), 2000);
  make_older(file_of(key_of("old")), 500);
  make_older(file_of(key_of("fresh")), 100);
  EXPECT_EQ(small.prune(), 2);
  EXPECT_EQ(files().size(), 2u);
  EXPECT_TRUE(small.find(key_of("fresh")).has_value());
  EXPECT_TRUE(small.find(key_of("freshest")).has_value());
  EXPECT_EQ(small.prune(), 0);
}

TEST_F(Cache, UseKeepsAnEntryYoung) {
  cache_.store(key_of("a"), kernel_of("code"));
  make_older(file_of(key_of("a")), 3 * 24 * 3600);
  EXPECT_GT(cache_.list()[0].seconds_unused, 24 * 3600);
  ASSERT_TRUE(cache_.find(key_of("a")).has_value());
  EXPECT_LT(cache_.list()[0].seconds_unused, 3600);
}

TEST_F(Cache, TravelsInAnArchive) {
  for (const char* source : {"a", "b"})
    cache_.store(key_of(source), kernel_of(std::string("code of ") + source));
  const std::string archive = (folder_.path() / "archive").string();
  EXPECT_EQ(cache_.export_to(archive).value(), 2);
  const TemporaryFolder elsewhere;
  KernelCache other(elsewhere.path().string());
  EXPECT_EQ(other.import_from(archive).value(), 2);
  EXPECT_EQ(other.find(key_of("b"))->artifact.code, "code of b");
  const std::string bytes = read(archive);
  for (const std::string& damaged : {bytes.substr(0, bytes.size() - 1), bytes.substr(0, 10),
                                     std::string("no archive"), bytes + "12345678"}) {
    write(archive, damaged);
    const auto imported = other.import_from(archive);
    ASSERT_FALSE(imported.ok());
    EXPECT_EQ(imported.error().kind, core::ErrorKind::io);
  }
  EXPECT_FALSE(other.import_from("/absent/archive").ok());
  EXPECT_FALSE(other.export_to("/absent/archive").ok());
}

TEST(CacheFolder, FollowsTheEnvironment) {
  const auto folder = [](std::map<std::string, std::string> variables, bool elevated = false) {
    return cache_folder([&](std::string_view name) { return variables[std::string(name)]; }, elevated)
        .value_or("none");
  };
  EXPECT_EQ(folder({{"EINKERN_CACHE_DIR", "/c"}, {"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), "/c");
  EXPECT_EQ(folder({{"XDG_CACHE_HOME", "/x"}, {"HOME", "/h"}}), "/x/einkern");
  EXPECT_EQ(folder({{"XDG_CACHE_HOME", "relative"}, {"HOME", "/h"}}), "/h/.cache/einkern");
  EXPECT_EQ(folder({{"HOME", "/h"}}), "/h/.cache/einkern");
  EXPECT_EQ(folder({}), "none");
  EXPECT_EQ(folder({{"EINKERN_CACHE_DIR", "/c"}, {"HOME", "/h"}}, true), "none") << "setuid";
}

}  // namespace
}  // namespace einkern::runtime
