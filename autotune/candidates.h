// Which schedules and configurations are worth measuring, best guess first.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/schedule.h"
#include "core/emission.h"

namespace einkern::autotune {

struct Candidate {
  const codegen::Schedule* schedule = nullptr;
  codegen::Configuration configuration;
  codegen::Estimate estimate;
  core::Emission emission;
};

/// A schedule's name and a configuration's text.
using CandidateName = std::pair<std::string, std::string>;

struct CandidateRequest {
  int count = 48;                // at most
  std::string schedule;          // only this one; "": all that fit
  std::set<CandidateName> skip;  // measured before
  std::set<CandidateName> keep;  // taken first, whatever their estimates
};

struct CandidateList {
  std::vector<Candidate> candidates;  // distinct in source and launch
  std::vector<std::string> reasons;   // why schedules do not fit, and emissions failed
};

/// Candidates of all schedules ordered by estimate. Cost models of different schedules do not compare well,
/// so every schedule that fits has its best guesses among them.
CandidateList list_candidates(const codegen::KernelContext& context, const CandidateRequest& request);

}  // namespace einkern::autotune
