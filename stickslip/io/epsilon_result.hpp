// SPDX-License-Identifier: Apache-2.0
// Convergence of spring-dampers to constraints, written: summary.json and the page.
#pragma once

#include <string>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/report_document.hpp"
#include "stickslip/motion/viscoelastic/epsilon_study.hpp"

namespace stickslip {

struct EpsilonColumn {
  const char* name;
  const char* label;
  double EpsilonErrors::*error;
};
inline constexpr EpsilonColumn kEpsilonColumns[] = {{"position", "q", &EpsilonErrors::position},
                                                    {"velocity", "v", &EpsilonErrors::velocity},
                                                    {"force", "Lambda", &EpsilonErrors::force},
                                                    {"late_position", "late q", &EpsilonErrors::late_position},
                                                    {"late_velocity", "late v", &EpsilonErrors::late_velocity},
                                                    {"late_force", "late Lambda", &EpsilonErrors::late_force},
                                                    {"force_l2", "L2 Lambda", &EpsilonErrors::force_l2}};

/// `named`: the model file as the user named it.
std::string epsilon_json(const std::string& named, const EpsilonStudy& study);
ReportDocument epsilon_report(const ModelFile& model, const EpsilonStudy& study);

}  // namespace stickslip
