// SPDX-License-Identifier: Apache-2.0

// One problem by one solver of Siconos: siconos_contact FILE --solver NAME [--tolerance T] [--seconds S]
// [--repetitions N] [--storage blocks|sparse|dense]. One JSON line; its errors are recomputed from r by our residuals,
// not those Siconos reports.
//
// Debian's Siconos has no FCLIB reader, so W goes in as a matrix of 3 x 3 blocks (what its own FCLIB interface would
// make of it), sparse or dense; some of its solvers are much faster with one than with the other. Cold start r = 0, u =
// 0. Building the problem is not clocked; whatever a solver sets up itself is.

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <fc3d_Solvers.h>

#include <filesystem>
#include <optional>

#include "harness.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"

namespace {

using namespace contact_benchmark;

struct PeerSolver {
  const char* name;
  int id;
  int local;  // 0: none
  int max_iterations;
};

constexpr PeerSolver kSolvers[] = {
    {"NSGS", SICONOS_FRICTION_3D_NSGS, 0, 1000000},
    {"NSGS-NSN", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN, 1000000},
    {"NSGS-PLI", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration, 1000000},
    {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 0, 1000},
    {"ADMM", SICONOS_FRICTION_3D_ADMM, 0, 1000000},
    {"VI_EG", SICONOS_FRICTION_3D_VI_EG, 0, 1000000},
};

SolverOptions* make_options(const PeerSolver& solver, double tolerance) {
  SolverOptions* options = solver_options_create(solver.id);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = solver.max_iterations;
  if (solver.local != 0) solver_options_update_internal(options, 0, solver.local);
  if (solver.id == SICONOS_FRICTION_3D_NSN_AC)
    options->iparam[SICONOS_FRICTION_3D_NSN_LINEAR_SOLVER] = SICONOS_FRICTION_3D_NSN_USE_MUMPS;
  if (solver.id == SICONOS_FRICTION_3D_ADMM) {
    // rho = 1 throughout, accelerated: faster on these problems than the default, which balances residuals.
    options->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY] = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_CONSTANT;
    options->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO] = SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_GIVEN;
    options->dparam[SICONOS_FRICTION_3D_ADMM_RHO] = 1.0;
    options->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_ACCELERATION] = SICONOS_FRICTION_3D_ADMM_ACCELERATION_AND_RESTART;
  }
  return options;
}

// Made anew for every run: solvers cache what they derive from a matrix.
FrictionContactProblem* make_problem(const stickslip::LocalContactProblem& local, const std::string& storage) {
  const int m = static_cast<int>(local.q.size()), contacts = static_cast<int>(local.mu.size());
  const bool dense = storage == "dense";
  NumericsMatrix* matrix = NM_create(dense ? NM_DENSE : NM_SPARSE, m, m);
  if (dense) {
    stickslip::DenseMatrix::Map(matrix->matrix0, m, m) = local.W;
  } else {
    NM_triplet_alloc(matrix, local.W.nonZeros());
    for (int i = 0; i < m; ++i)
      for (stickslip::SparseMatrix::InnerIterator entry(local.W, i); entry; ++entry)
        CSparseMatrix_entry(matrix->matrix2->triplet, i, entry.col(), entry.value());
    matrix->matrix2->origin = NSM_TRIPLET;
  }
  if (storage == "blocks") {
    SparseBlockStructuredMatrix* blocks = SBM_new();
    SBM_from_csparse(3, NM_csc(matrix), blocks);
    NM_clear(matrix);
    std::free(matrix);
    matrix = NM_new_SBM(m, m, blocks);
  }
  FrictionContactProblem* problem = frictionContactProblem_new();
  problem->dimension = 3;
  problem->numberOfContacts = contacts;
  problem->M = matrix;
  problem->q = static_cast<double*>(std::malloc(sizeof(double) * static_cast<std::size_t>(m)));
  problem->mu = static_cast<double*>(std::malloc(sizeof(double) * static_cast<std::size_t>(contacts)));
  std::copy(local.q.begin(), local.q.end(), problem->q);
  std::copy(local.mu.begin(), local.mu.end(), problem->mu);
  return problem;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv, 1);
  const std::string name = arguments.text("solver", "NSGS");
  std::optional<PeerSolver> solver;
  for (const PeerSolver& known : kSolvers)
    if (name == known.name) solver = known;
  if (arguments.files.size() != 1 || !solver) {
    std::fprintf(stderr, "usage: %s FILE --solver NSGS|NSGS-NSN|NSGS-PLI|NSN_AC|ADMM|VI_EG\n", argv[0]);
    return 2;
  }
  try {
    const stickslip::LocalContactProblem local = read_local(arguments.files.front());
    if (local.dimension != 3 || local.s.size() > 0) {
      std::fprintf(stderr, "%s: three dimensions and no bilateral constraints only\n", argv[0]);
      return 2;
    }
    const stickslip::DualProblem dual = to_dual(local);
    const double tolerance = arguments.number("tolerance", 1e-8);
    const std::string storage = arguments.text("storage", "blocks");
    const int most = static_cast<int>(arguments.number("repetitions", 1));
    limit_cpu(arguments.number("seconds", 5));
    double best = HUGE_VAL;
    int info = 0, iterations = 0;
    stickslip::Vector r, u;
    for (int run = 0, runs = 1; run < runs; ++run) {
      FrictionContactProblem* problem = make_problem(local, storage);
      SolverOptions* options = make_options(*solver, tolerance);
      r = stickslip::Vector::Zero(local.q.size());
      u = stickslip::Vector::Zero(local.q.size());
      const double begin = cpu_seconds();
      info = fc3d_driver(problem, r.data(), u.data(), options);
      best = std::min(best, cpu_seconds() - begin);
      iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
      if (run == 0)
        runs = std::min(repetitions(best, most),
                        std::max(1, static_cast<int>(0.5 * arguments.number("seconds", 5) / std::max(best, 1e-9))));
      solver_options_delete(options);
      std::free(options);
      frictionContactProblem_free(problem);
    }
    const stickslip::Residuals errors = stickslip::residuals(dual, r);
    std::printf(
        "{\"problem\": %s, \"solver\": %s, \"storage\": %s, \"contacts\": %ld, \"info\": %d, \"error\": %s, "
        "\"strict_error\": %s, "
        "\"iterations\": %d, \"seconds\": %s}\n",
        json_text(std::filesystem::path(arguments.files.front()).stem().string()).c_str(), json_text(name).c_str(),
        json_text(storage).c_str(), static_cast<long>(local.mu.size()), info, json_number(errors.error).c_str(),
        json_number(errors.strict_error).c_str(), iterations, json_number(best).c_str());
  } catch (const stickslip::InputError& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 2;
  }
  return 0;
}
