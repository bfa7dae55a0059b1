// Which schedule and configuration computes a kernel: a tuning record's, the nearest record's, or the cost
// model's pick.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "autotune/record.h"
#include "codegen/schedule.h"

namespace einkern::engine {

enum class ChoiceSource { given, record, nearest_record, model };
std::string_view source_name(ChoiceSource source);

struct KernelChoice {
  const codegen::Schedule* schedule = nullptr;
  codegen::Configuration configuration;
  ChoiceSource source = ChoiceSource::model;
  codegen::Estimate estimate;
  std::optional<double> measured_seconds;  // of a record for these sizes
};

/// A schedule or configuration asked for by hand (`--schedule`, `--config`); empty: no wish.
struct KernelWish {
  std::string schedule;
  std::string configuration;
};

/// The error names the rule that a wish breaks, with both numbers, or why no schedule fits.
core::Result<KernelChoice> choose_kernel(const codegen::KernelContext& context,
                                         const autotune::RecordStore& records, const KernelWish& wish = {});

}  // namespace einkern::engine
