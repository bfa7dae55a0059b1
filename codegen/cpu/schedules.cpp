#include "codegen/cpu/schedules.h"

#include "codegen/cpu/contraction_schedule.h"
#include "codegen/cpu/dot_schedule.h"
#include "codegen/cpu/point_schedule.h"
#include "codegen/cpu/row_schedule.h"

namespace einkern::codegen::cpu {

const std::vector<const Schedule*>& schedules() {
  static const std::vector<const Schedule*> all = {&dot_schedule(), &contraction_schedule(), &row_schedule(),
                                                   &point_schedule()};
  return all;
}

}  // namespace einkern::codegen::cpu
