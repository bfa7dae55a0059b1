#include "runtime/library_search.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "runtime/cuda/nvrtc.h"
#include "tests/runtime/temporary_folder.h"

namespace einkern::runtime {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](std::string_view name) {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::string() : found->second;
  };
}

/// Puts a library that loads under another name.
void install(const fs::path& file) {
  fs::create_directories(file.parent_path());
  fs::copy_file(EINKERN_FAKE_NVRTC, file);
}

TEST(LibrarySearch, FindsALibraryInAPipWheelsFolder) {
  const TemporaryFolder prefix;
  const fs::path wheel = prefix.path() / "lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib";
  install(wheel / "libnvrtc.so.12");
  LibrarySearch search = nvrtc_search(environment_of({{"VIRTUAL_ENV", prefix.path().string()}}));
  EXPECT_THAT(search.folders, Contains(wheel.string()));
  search.names = {"libeinkern-absent.so.13", "libnvrtc.so.12"};
  search.folders = {prefix.path().string(), wheel.string()};
  // A libnvrtc.so.12 of the machine would be found by its soname before any folder is looked through.
  if (void* machine = dlopen("libnvrtc.so.12", RTLD_LAZY)) {
    dlclose(machine);
    GTEST_SKIP() << "this machine has a libnvrtc.so.12 on the loader's path";
  }
  const auto found = open_library(search);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->path, (wheel / "libnvrtc.so.12").string());
}

TEST(LibrarySearch, PrefersNewerPythonsAndTheWheelOfCuda13) {
  const TemporaryFolder prefix;
  for (const char* folder :
       {"lib/python3.9/site-packages/nvidia/cuda_nvrtc/lib",
        "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib", "lib/python3.12/site-packages/nvidia/cu13/lib"})
    fs::create_directories(prefix.path() / folder);
  const LibrarySearch search =
      nvrtc_search(environment_of({{"CONDA_PREFIX", prefix.path().string()}, {"CUDA_HOME", "/opt/cuda"}}));
  const auto position = [&](const std::string& folder) {
    return std::find(search.folders.begin(), search.folders.end(), folder) - search.folders.begin();
  };
  EXPECT_EQ(search.folders.front(), "/opt/cuda/lib64");
  EXPECT_LT(position((prefix.path() / "lib/python3.12/site-packages/nvidia/cu13/lib").string()),
            position((prefix.path() / "lib/python3.12/site-packages/nvidia/cuda_nvrtc/lib").string()));
  EXPECT_THAT(search.folders, Contains("/usr/local/cuda/lib64"));
  EXPECT_EQ(search.names, (std::vector<std::string>{"libnvrtc.so.13", "libnvrtc.so.12"}));
}

TEST(LibrarySearch, TakesTheFileOrFolderThatIsNamedAndNothingElse) {
  const TemporaryFolder folder;
  install(folder.path() / "libnvrtc.so.12");
  const auto by_folder =
      open_library(nvrtc_search(environment_of({{"EINKERN_NVRTC", folder.path().string()}})));
  ASSERT_TRUE(by_folder.ok()) << by_folder.error().message;
  EXPECT_EQ(by_folder->path, (folder.path() / "libnvrtc.so.12").string());
  const auto absent = open_library(nvrtc_search(environment_of({{"EINKERN_NVRTC", "/absent/libnvrtc.so"}})));
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().message, HasSubstr("/absent/libnvrtc.so"));
  EXPECT_THAT(absent.error().message, testing::Not(HasSubstr("/usr/local/cuda")));
}

TEST(LibrarySearch, OpensTheCompanionBesideTheLibrary) {
  const TemporaryFolder folder;
  install(folder.path() / "libmain.so.1");
  install(folder.path() / "libmain-builtins.so.1.0");
  LibrarySearch search;
  search.explicit_paths = {(folder.path() / "libmain.so.1").string()};
  search.companion_prefix = "libmain-builtins.so.";
  ASSERT_TRUE(open_library(search).ok());
  void* companion = dlopen((folder.path() / "libmain-builtins.so.1.0").c_str(), RTLD_NOLOAD | RTLD_LAZY);
  EXPECT_NE(companion, nullptr) << "not loaded";
}

TEST(LibrarySearch, TakesOneThatIsLoadedAlready) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "libloaded.so").string();
  install(path);
  ASSERT_NE(dlopen(path.c_str(), RTLD_NOW), nullptr);
  LibrarySearch search;
  search.names = {path};
  const auto found = open_library(search);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->path, path);
}

TEST(LibrarySearch, ListsWhatWasTriedAndTheRemedy) {
  const TemporaryFolder folder;
  LibrarySearch search = nvrtc_search(environment_of({{"CUDA_PATH", folder.path().string()}}));
  search.names = {"libeinkern-absent.so.13", "libeinkern-absent.so.12"};
  const auto found = open_library(search);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, core::ErrorKind::device);
  EXPECT_THAT(found.error().message, HasSubstr("NVRTC"));
  EXPECT_THAT(found.error().message, HasSubstr("libeinkern-absent.so.13"));
  EXPECT_THAT(found.error().message, HasSubstr(folder.path().string() + "/lib64/libeinkern-absent.so.12"));
  EXPECT_THAT(found.error().message, HasSubstr("pip install nvidia-cuda-nvrtc"));
  EXPECT_THAT(found.error().message, HasSubstr("EINKERN_NVRTC"));
}

TEST(LibrarySearch, SaysWhyALibraryThatIsNoneCannotBeUsed) {
  const auto library = cuda::load_nvrtc([] {
    LibrarySearch search;
    search.explicit_paths = {EINKERN_FAKE_DRIVER};  // a library, but not of NVRTC
    search.remedy = "The remedy.";
    return search;
  }());
  ASSERT_FALSE(library.ok());
  EXPECT_THAT(library.error().message, HasSubstr("einkern needs NVRTC 12.0"));
  EXPECT_THAT(library.error().message, HasSubstr("lacks nvrtc"));
  EXPECT_THAT(library.error().message, HasSubstr("The remedy."));
}

}  // namespace
}  // namespace einkern::runtime
