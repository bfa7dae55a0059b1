// A plan: which kernels compute a function, in which order, through which temporaries. Sizes stay symbolic.
//
// A kernel's body is a value graph over iteration axes: maps (any expression), folds (reductions over the
// kernel's columns), one contraction, and stores. No loops, memory or barriers stand in it; a schedule
// chooses those.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "dsl/binding.h"
#include "dsl/function.h"

namespace einkern::codegen {

using dsl::AxisId;
using dsl::ExpressionId;
using dsl::TensorId;

/// target[axes] = value for every point of `axes` (one a dimension of the target, in its order, each over
/// 0..shape). An update store runs over `axes` in order, has `indices` (one a dimension) and combines with
/// what is there; an element outside the target is dropped.
struct Store {
  TensorId target;
  std::vector<AxisId> axes;
  ExpressionId value;
  std::optional<dsl::UpdateOperator> update;
  std::vector<ExpressionId> indices;
};

/// Each element on its own: no store's value holds a reduction. All stores share Kernel::axes. A kernel may
/// change tensors in place, each element its own; an element's values are all computed before any of them is
/// stored.
struct Pointwise {};

/// One thread an element, reductions as serial loops: dependent ranges, windows, the j-th largest, scans,
/// updates and recurrences. Always possible. `sequential`: axes that run in order inside one task, outermost
/// first: of a recurrence the recurrent axis, then those along which an element reads others of the step
/// before; of an update those that may collide.
struct Generic {
  std::vector<AxisId> sequential;
};

/// A reduction over the columns: `node` is the reduce node as it stands in later bodies and in store values,
/// where the emitter puts the finished value; `body` is its body rewritten over RowReduction::columns. Bodies
/// may hold earlier folds' nodes. argmax and argmin have one column and give its value as i64, -1 for an
/// empty row.
struct Fold {
  ExpressionId node;
  dsl::Reduction reduction = dsl::Reduction::sum;
  ExpressionId body;
};

/// Rows and columns: folds over the same columns in dependence order, then stores over the rows alone or over
/// rows and columns. A full reduction has no rows. Softmax, norms, sums, argmax. A store names every row, and
/// all columns or none, in its target's order. There are no reductions but the folds, and every fold's body
/// uses the rows and columns alone.
struct RowReduction {
  std::vector<AxisId> rows;     // = Kernel::axes without columns; Store::axes name these
  std::vector<AxisId> columns;  // over dims alone
  std::vector<Fold> folds;
};

/// fold = sum over `contracted` of a * b. Every axis of the output stands in exactly one group: `batch` in
/// both factors, `m` in a only, `n` in b only. `a` and `b` are the factors over those axes and `contracted`;
/// a multiply of more factors is split between them by the axes they use.
struct Contraction {
  ExpressionId fold;  // the node inside the stores' values, to be replaced by the accumulator
  DType accumulator = DType::f32;
  ExpressionId a, b;
  std::vector<AxisId> batch, m, n, contracted;
};

struct Kernel {
  std::string name;          // function and ordinal, such as "softmax_0"; part of the entry's name
  std::vector<AxisId> axes;  // the iteration space of the stores, outermost first
  std::vector<Store> stores;
  std::variant<Pointwise, Generic, RowReduction, Contraction> form;
  std::vector<TensorId> reads;   // distinct, in order of first use
  std::vector<TensorId> writes;  // distinct, in the stores' order
  std::string explanation;       // one line for `explain`: what is fused and why, or what keeps it apart
};

/// One way to compute a function. `graph` is the function with temporaries added to its tensors (role
/// temporary) and with the expressions that the kernels use; its definitions are no longer read.
struct Plan {
  std::string name;  // see make_plans
  std::shared_ptr<const dsl::Function> graph;
  std::vector<Kernel> kernels;
};

/// Kinds as words: "pointwise", "generic", "row reduction", "contraction".
std::string_view form_name(const Kernel& kernel);

/// All plans worth offering, the default first: at least one, always correct. (plan/planner.cpp)
/// "fused"; then, where they differ: "stored operands" and "materialised" (of contractions: computed
/// operands, also unfinished products in memory), "folds first" (row statistics in memory, elements in a
/// kernel of their own).
std::vector<Plan> make_plans(const std::shared_ptr<const dsl::Function>& function);

/// A readable text of a plan, with its kernels, stores and axes; golden files hold it.
std::string describe(const Plan& plan);
/// The part of it that is one kernel's.
std::string describe(const dsl::Function& graph, const Kernel& kernel);

}  // namespace einkern::codegen
