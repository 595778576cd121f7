// SPDX-License-Identifier: Apache-2.0
// Results of the runs of paper 3, and the claims judged by them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "papers/compliance/experiments.hpp"
#include "papers/papers.hpp"

namespace stickslip::paper3 {

struct ConeRun {
  int facets = 0;  ///< 0: disk
  bool circumscribed = false;
  Simulation run;
  double difference = 0;  ///< largest of x, y at the end against the disk
  double worst = 0;       ///< the same, largest over four angles of the polygon
};

struct Results {
  Simulation slide, fall;                                 ///< Tests S and D
  std::vector<std::pair<std::string, double>> estimates;  ///< cone and Lipschitz estimate
  Increments compliant, rigid;
  std::vector<std::pair<std::string, double>> agreements;  ///< method and distance to the reference, tolerance 1e-11
  std::vector<std::pair<double, double>> loose;            ///< tolerance and distance, Test S
  Simulation two_contacts;
  double two_contacts_agreement = 0;
  std::vector<ConeRun> cones;
  double box_against_square = 0;
  std::vector<double> steps, heun, rk4;           ///< h and errors
  std::vector<double> stiffness, plain, coupled;  ///< k, and d - px(T) for a = 0 and a = 0.1
  Shooting fair, slow;
  Simulation slider;
};

/// False: stopped.
bool run_all(Results& results, const ReproductionProgress& progress);
std::vector<Claim> claims_of(const Results& results);

}  // namespace stickslip::paper3
