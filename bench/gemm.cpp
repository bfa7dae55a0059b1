#include "bench/gemm.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "bench/cublaslt.h"
#include "bench/suites.h"
#include "bench/timing.h"
#include "codegen/plan/plan.h"
#include "dsl/program.h"
#include "engine/face_access.h"
#include "engine/tune.h"

namespace einkern::bench {
namespace {

using detail::Access;

constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;
constexpr const char* source = R"(fn linear<T: f16 | bf16 | f32>(x: T[M, K], w: T[N, K]) -> y: T[M, N] {
  y[i, j] = sum(k) x[i, k] * w[j, k]
})";

/// Everything of one shape: tensors, einkern's prepared call, and the peers that can run it.
struct Problem {
  std::shared_ptr<const dsl::Function> function;
  Tensor x, w, ours, theirs;
  engine::Call call;
  std::shared_ptr<const engine::PreparedCall> prepared;
  std::vector<Contestant> peers;
  std::unique_ptr<CublasLtProduct> product;
};

using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                       float*, int);
using DnnlSgemm = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*,
                          std::int64_t, const float*, std::int64_t, float, float*, std::int64_t);

/// A function of the first library that is here, or null. OpenMP's threads spin for milliseconds after a call
/// unless told to sleep, and would hold the cores while the other contestants run.
void* find_symbol(std::initializer_list<const char*> libraries, const char* symbol) {
  setenv("OMP_WAIT_POLICY", "PASSIVE", 0);
  for (const char* name : libraries)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      if (void* found = dlsym(library, symbol)) return found;
  return nullptr;
}

void add_cpu_peers(Problem& problem, const GemmShape& shape, std::vector<std::string>& notes) {
  const auto* x = static_cast<const float*>(problem.x.data());
  const auto* w = static_cast<const float*>(problem.w.data());
  auto* y = static_cast<float*>(problem.theirs.data());
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
  constexpr int row_major = 101, no_transpose = 111, transpose = 112;  // cblas.h
  if (auto sgemm =
          reinterpret_cast<Sgemm>(find_symbol({"libopenblas.so.0", "libopenblas.so"}, "cblas_sgemm")))
    problem.peers.push_back({"OpenBLAS", [=]() -> core::Result<void> {
                               sgemm(row_major, no_transpose, transpose, m, n, k, 1, x, k, w, k, 0, y, n);
                               return {};
                             }});
  else
    notes.emplace_back("OpenBLAS is not here (apt install libopenblas0)");
  if (auto sgemm = reinterpret_cast<DnnlSgemm>(
          find_symbol({"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"}, "dnnl_sgemm")))
    problem.peers.push_back({"oneDNN", [=]() -> core::Result<void> {
                               if (sgemm('N', 'T', m, n, k, 1, x, k, w, k, 0, y, n) != 0)
                                 return core::Error{core::ErrorKind::device, "oneDNN: dnnl_sgemm failed"};
                               return {};
                             }});
  else
    notes.emplace_back("oneDNN is not here (apt install libdnnl3 or libdnnl2)");
}

core::Result<void> add_gpu_peers(Problem& problem, CublasLt& library, const GemmShape& shape, DType dtype,
                                 runtime::Address workspace) {
  EINKERN_TRY(problem.product, library.product(dtype, shape.m, shape.n, shape.k, workspace, workspace_bytes));
  const auto address = [](const Tensor& tensor) { return Access::place(tensor).address; };
  for (int i = 0; i < problem.product->algorithms(); ++i)
    problem.peers.push_back(
        {fmt::format("cuBLASLt #{}", i),
         [product = problem.product.get(), i, x = address(problem.x), w = address(problem.w),
          y = address(problem.theirs)] { return product->run(i, x, w, y); }});
  return {};
}

core::Result<Problem> make_problem(const dsl::Program& program, const GemmShape& shape,
                                   const GemmOptions& options, const Device& device) {
  Problem problem;
  EINKERN_TRY(problem.function, program.instantiate("linear", {{"T", options.dtype}}));
  problem.x = Tensor::random({shape.m, shape.k}, options.dtype, device, 1);
  problem.w = Tensor::random({shape.n, shape.k}, options.dtype, device, 2);
  problem.ours = Tensor::empty({shape.m, shape.n}, options.dtype, device);
  problem.theirs = Tensor::empty({shape.m, shape.n}, options.dtype, device);
  problem.call.inputs = {Access::place(problem.x), Access::place(problem.w)};
  problem.call.outputs = {Access::place(problem.ours)};
  const auto plans = codegen::make_plans(problem.function);
  const auto runtime = Access::runtime(device);
  if (options.tune_seconds > 0)
    EINKERN_CHECK_OK(engine::tune_call(*problem.function, plans, problem.call, runtime,
                                       {.seconds = options.tune_seconds}, nullptr));
  EINKERN_TRY(problem.prepared,
              engine::prepare_call(*problem.function, plans, problem.call, *runtime,
                                   detail::process_builder(), autotune::process_records(), {}));
  return problem;
}

/// Largest difference of two results over the largest element, on at most a million elements.
double difference(const Tensor& a, const Tensor& b) {
  const std::int64_t rows =
      std::min(a.shape()[0], std::max<std::int64_t>(1, (1 << 20) / std::max<std::int64_t>(1, a.shape()[1])));
  const auto x = a.slice(0, 0, rows).to_floats(), y = b.slice(0, 0, rows).to_floats();
  double error = 0, scale = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double one = std::fabs(static_cast<double>(x[i]) - y[i]);
    error = std::isnan(one) ? INFINITY : std::max(error, one);
    scale = std::max(scale, std::fabs(static_cast<double>(y[i])));
  }
  return scale > 0 ? error / scale : error;
}

core::Result<GemmRow> measure(Problem& problem, const GemmShape& shape, const GemmOptions& options,
                              runtime::Device& device, ColdCache& cache) {
  GemmRow row{.name = shape.name, .m = shape.m, .n = shape.n, .k = shape.k};
  const auto& choice = problem.prepared->kernels.front().choice;
  row.schedule = choice.schedule->name();
  row.configuration = choice.configuration.text();
  row.source = engine::source_name(choice.source);
  std::vector<Contestant> contestants = {
      {"einkern",
       [&] { return engine::launch_call(*problem.prepared, *problem.function, problem.call, {}, {}); }}};
  contestants.insert(contestants.end(), problem.peers.begin(), problem.peers.end());
  EINKERN_TRY(const std::vector<Time> times, time_interleaved(device, cache, contestants, options.rounds, 7));
  row.seconds = times[0].seconds;
  row.spread = times[0].spread;
  for (std::size_t i = 1; i < times.size(); ++i)
    if (row.peer.empty() || times[i].seconds < row.peer_seconds) {
      row.peer = contestants[i].name;
      row.peer_seconds = times[i].seconds;
    }
  if (!problem.peers.empty()) row.largest_error = difference(problem.ours, problem.theirs);
  return row;
}

}  // namespace

core::Result<std::vector<GemmRow>> run_gemm_suite(const GemmOptions& options,
                                                  const std::function<void(const GemmRow&)>& told,
                                                  std::vector<std::string>& notes) {
  dsl::SourceSet sources;
  sources.add("gemm.ein", source);
  dsl::DiagnosticBag diagnostics;
  const auto program = dsl::Program::compile(sources, diagnostics);
  if (!program) return core::Error{core::ErrorKind::internal, dsl::render_text(sources, diagnostics)};
  const Device device = options.device == "best" ? Device::best() : Device::named(options.device);
  const auto runtime = Access::runtime(device);
  EINKERN_TRY(const auto cache, ColdCache::make(*runtime));
  std::shared_ptr<CublasLt> library;
  if (device.is_gpu()) {
    auto opened = CublasLt::open();
    if (opened)
      library = *opened;
    else
      notes.push_back(opened.error().message);
  }
  const Tensor workspace = Tensor::empty({device.is_gpu() ? workspace_bytes : 1}, DType::u8, device);
  std::vector<GemmRow> rows;
  for (const GemmShape& shape : device.is_gpu() ? gemm_suite() : cpu_gemm_suite()) {
    if (shape.name.find(options.filter) == std::string::npos) continue;
    EINKERN_TRY(Problem problem, make_problem(*program, shape, options, device));
    if (library) {
      // A shape for which cuBLASLt offers nothing (odd pitches) is measured alone.
      if (const auto added =
              add_gpu_peers(problem, *library, shape, options.dtype, Access::place(workspace).address);
          !added)
        notes.push_back(fmt::format("{}: {}", shape.name, added.error().message));
    } else if (!device.is_gpu() && options.dtype == DType::f32) {
      std::vector<std::string> missing;
      add_cpu_peers(problem, shape, missing);
      if (rows.empty()) notes.insert(notes.end(), missing.begin(), missing.end());
    }
    EINKERN_TRY(GemmRow row, measure(problem, shape, options, *runtime, *cache));
    told(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace einkern::bench
