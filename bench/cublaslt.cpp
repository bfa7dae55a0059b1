#include "bench/cublaslt.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace einkern::bench {
namespace {

// The part of cublasLt.h (CUDA 12 and 13) that is used here.
using Handle = void*;
using Descriptor = void*;
using Layout = void*;
using Preference = void*;
struct Algorithm {
  std::uint64_t data[8];
};
struct Heuristic {
  Algorithm algorithm;
  std::size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
constexpr int compute_32f = 68, cuda_r_32f = 0, cuda_r_16f = 2, cuda_r_16bf = 14;
constexpr int attribute_transpose_a = 3, operation_transpose = 1, preference_workspace = 1;
constexpr int most_algorithms = 64;

struct Functions {
  int (*create)(Handle*);
  std::size_t (*version)();
  int (*descriptor_create)(Descriptor*, int, int);
  int (*descriptor_set)(Descriptor, int, const void*, std::size_t);
  int (*layout_create)(Layout*, int, std::uint64_t, std::uint64_t, std::int64_t);
  int (*preference_create)(Preference*);
  int (*preference_set)(Preference, int, const void*, std::size_t);
  int (*heuristics)(Handle, Descriptor, Layout, Layout, Layout, Layout, Preference, int, Heuristic*, int*);
  int (*matmul)(Handle, Descriptor, const void*, const void*, Layout, const void*, Layout, const void*,
                const void*, Layout, void*, Layout, const Algorithm*, void*, std::size_t, void*);
};

core::Error device_error(std::string message) { return {core::ErrorKind::device, std::move(message)}; }

core::Result<void> status(const char* what, int code) {
  if (code == 0) return {};
  return device_error(fmt::format("cuBLASLt: {} gives status {}", what, code));
}

class Product final : public CublasLtProduct {
 public:
  Product(const Functions& functions, Handle handle, runtime::Address workspace)
      : functions_(functions), handle_(handle), workspace_(workspace) {}

  core::Result<void> prepare(int type, std::int64_t m, std::int64_t n, std::int64_t k,
                             std::int64_t workspace_bytes) {
    // Column-major yᵀ[N, M] = op(w)[N, K] · xᵀ[K, M]: a row-major [R, C] is a column-major [C, R].
    EINKERN_CHECK_OK(
        status("MatmulDescCreate", functions_.descriptor_create(&descriptor_, compute_32f, cuda_r_32f)));
    const int transpose = operation_transpose;
    EINKERN_CHECK_OK(
        status("MatmulDescSetAttribute",
               functions_.descriptor_set(descriptor_, attribute_transpose_a, &transpose, sizeof transpose)));
    const auto u = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    EINKERN_CHECK_OK(status("MatrixLayoutCreate", functions_.layout_create(&w_, type, u(k), u(n), k)));
    EINKERN_CHECK_OK(status("MatrixLayoutCreate", functions_.layout_create(&x_, type, u(k), u(m), k)));
    EINKERN_CHECK_OK(status("MatrixLayoutCreate", functions_.layout_create(&y_, type, u(n), u(m), n)));
    Preference preference = nullptr;
    EINKERN_CHECK_OK(status("MatmulPreferenceCreate", functions_.preference_create(&preference)));
    const auto bytes = static_cast<std::size_t>(workspace_bytes);
    EINKERN_CHECK_OK(
        status("MatmulPreferenceSetAttribute",
               functions_.preference_set(preference, preference_workspace, &bytes, sizeof bytes)));
    int found = 0;
    heuristics_.resize(most_algorithms);
    EINKERN_CHECK_OK(status("MatmulAlgoGetHeuristic",
                            functions_.heuristics(handle_, descriptor_, w_, x_, y_, y_, preference,
                                                  most_algorithms, heuristics_.data(), &found)));
    heuristics_.resize(static_cast<std::size_t>(found));
    return {};
  }

  int algorithms() const override { return static_cast<int>(heuristics_.size()); }

  core::Result<void> run(int algorithm, runtime::Address x, runtime::Address w, runtime::Address y) override {
    const float one = 1, zero = 0;
    const Heuristic& chosen = heuristics_[static_cast<std::size_t>(algorithm)];
    const auto pointer = [](runtime::Address address) { return reinterpret_cast<void*>(address); };
    return status("Matmul", functions_.matmul(handle_, descriptor_, &one, pointer(w), w_, pointer(x), x_,
                                              &zero, pointer(y), y_, pointer(y), y_, &chosen.algorithm,
                                              pointer(workspace_), chosen.workspace_bytes, nullptr));
  }

 private:
  const Functions& functions_;
  Handle handle_;
  runtime::Address workspace_;
  Descriptor descriptor_ = nullptr;
  Layout w_ = nullptr, x_ = nullptr, y_ = nullptr;
  std::vector<Heuristic> heuristics_;
};

class Library final : public CublasLt {
 public:
  core::Result<void> load(void* library) {
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
      return function != nullptr;
    };
    const bool all = find(functions_.create, "cublasLtCreate") &&
                     find(functions_.version, "cublasLtGetVersion") &&
                     find(functions_.descriptor_create, "cublasLtMatmulDescCreate") &&
                     find(functions_.descriptor_set, "cublasLtMatmulDescSetAttribute") &&
                     find(functions_.layout_create, "cublasLtMatrixLayoutCreate") &&
                     find(functions_.preference_create, "cublasLtMatmulPreferenceCreate") &&
                     find(functions_.preference_set, "cublasLtMatmulPreferenceSetAttribute") &&
                     find(functions_.heuristics, "cublasLtMatmulAlgoGetHeuristic") &&
                     find(functions_.matmul, "cublasLtMatmul");
    if (!all)
      return device_error("libcublasLt lacks a function that has been in it since CUDA 11: is it whole?");
    return status("Create", functions_.create(&handle_));
  }

  std::string version() const override { return fmt::format("cuBLASLt {}", functions_.version()); }

  core::Result<std::unique_ptr<CublasLtProduct>> product(DType dtype, std::int64_t m, std::int64_t n,
                                                         std::int64_t k, runtime::Address workspace,
                                                         std::int64_t workspace_bytes) override {
    const int type = dtype == DType::f16 ? cuda_r_16f : dtype == DType::bf16 ? cuda_r_16bf : cuda_r_32f;
    auto product = std::make_unique<Product>(functions_, handle_, workspace);
    EINKERN_CHECK_OK(product->prepare(type, m, n, k, workspace_bytes));
    return std::unique_ptr<CublasLtProduct>(std::move(product));
  }

 private:
  Functions functions_{};
  Handle handle_ = nullptr;
};

}  // namespace

core::Result<std::shared_ptr<CublasLt>> CublasLt::open() {
  std::string tried;
  for (const char* name :
       {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", "/usr/local/cuda/lib64/libcublasLt.so"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
      auto loaded = std::make_shared<Library>();
      EINKERN_CHECK_OK(loaded->load(library));
      return std::shared_ptr<CublasLt>(std::move(loaded));
    }
    tried += fmt::format("\n  {}", dlerror());
  }
  return device_error(
      fmt::format("libcublasLt was not found; install the CUDA Toolkit, or put the folder of the pip wheel "
                  "nvidia-cublas on LD_LIBRARY_PATH. Tried:{}",
                  tried));
}

}  // namespace einkern::bench
