// SPDX-License-Identifier: Apache-2.0
// Case 3 of paper 2 by CVODE (Adams, its own root finding) with the decision of the next mode written out for two
// hinges.
//
//   M y'' + K y + fc sgn(y') = 0,  M = [[2,1],[1,1]], K = diag(2, 2.5), fc = (0.1, 0.1), y(0) = (1, 0.2), at rest
//
// Every mode has its right-hand side in closed form, so that what is measured is the integrator and its root finding.
// Prints one JSON line: seconds of CPU time for a run to t = 30 (best of `repetitions`), events, final positions.
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

constexpr double kLimit = 0.1;

struct Mode {
  int s[2];  // 0 stick, +1, -1
};

/// Accelerations and stuck forces at (y, v) in a mode.
void motion(const Mode& mode, const double* y, double a[2], double r[2]) {
  const double g[2] = {-2 * y[0] - kLimit * mode.s[0], -2.5 * y[1] - kLimit * mode.s[1]};
  a[0] = a[1] = 0;
  if (mode.s[0] != 0 && mode.s[1] != 0) {
    a[0] = g[0] - g[1];
    a[1] = -g[0] + 2 * g[1];
  } else if (mode.s[0] != 0) {
    a[0] = g[0] / 2;
  } else if (mode.s[1] != 0) {
    a[1] = g[1];
  }
  r[0] = -2 * y[0] - 2 * a[0] - a[1];
  r[1] = -2.5 * y[1] - a[0] - a[1];
}

int rate(sunrealtype, N_Vector yv, N_Vector dv, void* user) {
  const double* y = N_VGetArrayPointer(yv);
  double* d = N_VGetArrayPointer(dv);
  double a[2], r[2];
  const Mode& mode = *static_cast<Mode*>(user);
  motion(mode, y, a, r);
  for (int i = 0; i < 2; ++i) {
    d[i] = mode.s[i] == 0 ? 0.0 : y[2 + i];
    d[2 + i] = a[i];
  }
  return 0;
}

int roots(sunrealtype, N_Vector yv, sunrealtype* g, void* user) {
  const double* y = N_VGetArrayPointer(yv);
  const Mode& mode = *static_cast<Mode*>(user);
  double a[2], r[2];
  motion(mode, y, a, r);
  for (int i = 0; i < 2; ++i) g[i] = mode.s[i] != 0 ? y[2 + i] : kLimit - std::abs(r[i]);
  return 0;
}

/// All nine modes; the one whose conditions hold.
Mode decide(const double* y, const bool* resting, const Mode& before, int released) {
  for (int s0 = -1; s0 <= 1; ++s0)
    for (int s1 = -1; s1 <= 1; ++s1) {
      const Mode mode{{s0, s1}};
      double a[2], r[2];
      motion(mode, y, a, r);
      bool right = true;
      for (int i = 0; i < 2 && right; ++i) {
        if (!resting[i]) {
          right = mode.s[i] == before.s[i];
        } else if (mode.s[i] == 0) {
          right = std::abs(r[i]) <= kLimit && i != released;
        } else {
          right = mode.s[i] * a[i] > 0 || (i == released && mode.s[i] * a[i] > -1e-9);
        }
      }
      if (right) return mode;
    }
  return before;
}

}  // namespace

int main(int count, char** words) {
  const double tolerance = count > 1 ? std::atof(words[1]) : 1e-10;
  const int repetitions = count > 2 ? std::atoi(words[2]) : 5;
  double best = HUGE_VAL, final[2] = {0, 0};
  int events = 0;
  long evaluations = 0;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    timespec from, to;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    SUNContext context;
    SUNContext_Create(nullptr, &context);
    N_Vector y = N_VNew_Serial(4, context);
    double* x = N_VGetArrayPointer(y);
    x[0] = 1;
    x[1] = 0.2;
    x[2] = x[3] = 0;
    const bool all[2] = {true, true};
    Mode mode = decide(x, all, {{0, 0}}, -1);
    void* cvode = CVodeCreate(CV_ADAMS, context);
    CVodeInit(cvode, rate, 0, y);
    CVodeSStolerances(cvode, tolerance, 1e-3 * tolerance);
    CVodeSetUserData(cvode, &mode);
    CVodeSetMaxNumSteps(cvode, 1000000);
    SUNNonlinearSolver solver = SUNNonlinSol_FixedPoint(y, 0, context);
    CVodeSetNonlinearSolver(cvode, solver);
    CVodeRootInit(cvode, 2, roots);
    double t = 0;
    events = 0;
    evaluations = 0;
    while (t < 30) {
      const int flag = CVode(cvode, 30, y, &t, CV_NORMAL);
      if (flag < 0) return 1;
      if (flag != CV_ROOT_RETURN) break;
      int found[2];
      CVodeGetRootInfo(cvode, found);
      bool resting[2];
      int released = -1;
      for (int i = 0; i < 2; ++i) {
        if (found[i] != 0 && mode.s[i] != 0) x[2 + i] = 0;
        if (found[i] != 0 && mode.s[i] == 0) released = i;
        resting[i] = mode.s[i] == 0 || found[i] != 0;
      }
      const Mode next = decide(x, resting, mode, released);
      ++events;
      mode = next;
      long calls;
      CVodeGetNumRhsEvals(cvode, &calls);
      evaluations += calls;
      if (mode.s[0] == 0 && mode.s[1] == 0) break;
      CVodeReInit(cvode, t, y);
    }
    final[0] = x[0];
    final[1] = x[1];
    CVodeFree(&cvode);
    SUNNonlinSolFree(solver);
    N_VDestroy(y);
    SUNContext_Free(&context);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    best = std::fmin(
        best, static_cast<double>(to.tv_sec - from.tv_sec) + 1e-9 * static_cast<double>(to.tv_nsec - from.tv_nsec));
  }
  std::printf(
      "{\"tolerance\": %g, \"seconds\": %.4g, \"events\": %d, \"evaluations\": %ld, \"y1\": %.17g, \"y2\": %.17g}\n",
      tolerance, best, events, evaluations, final[0], final[1]);
}
