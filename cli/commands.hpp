// SPDX-License-Identifier: Apache-2.0
// One function per subcommand: options in, exit code out (0 success, 1 ended without success, 2 wrong input or call).
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace stickslip::cli {

enum ExitCode : int { kSuccess = 0, kNoSuccess = 1, kWrongInput = 2 };

struct RunCommand {
  std::string model;             ///< empty: that of `restart` or `from`
  std::vector<std::string> set;  ///< KEY=VALUE
  std::string scheme, out;
  std::string restart;  ///< folder of a result whose run goes on
  std::string from;     ///< folder of a result whose run is repeated
  bool json = false;
};
int run(const RunCommand& command);

struct CompareCommand {
  std::string model;
  std::vector<std::string> set;
  std::string schemes, steps, out;
  std::string epsilons;  ///< given: convergence of spring-dampers to constraints instead
  bool json = false;
};
int compare(const CompareCommand& command);
int compare_epsilons(const CompareCommand& command);

struct ShootCommand {
  std::string model;
  std::vector<std::string> set;
  std::string out;
  bool json = false;
};
int shoot(const ShootCommand& command);

struct FitCommand {
  std::string model;
  std::string data;  ///< CSV; empty: the one that the model names
  std::vector<std::string> set;
  std::string out;
  bool json = false;
};
int fit(const FitCommand& command);

struct CheckCommand {
  std::string model;
  std::vector<std::string> set;
  bool json = false;
};
int check(const CheckCommand& command);

struct SolveCommand {
  std::vector<std::string> files;
  std::string solver = "default", compare, start = "zero", out;
  double tolerance = 1e-8, max_seconds = 60;
  std::string write_solution;  ///< empty, copy or file
  bool write_local = false, json = false;
};
int solve(const SolveCommand& command);

struct PlotCommand {
  std::vector<std::string> results;  ///< folders of results, or CSV files
  std::string x, y;                  ///< columns; empty: the first, and coordinates. y: comma-separated, a panel each
  double section = 0;                ///< period of a Poincaré section [s]; 0: none
  double after = -HUGE_VAL;          ///< rows before this time are left out [s]
  bool spectrum = false, dark = false, json = false;
  std::string title, out = "plot.svg";
  double width = 900, height = 0;  ///< [px]; 0: by the number of panels
};
int plot(const PlotCommand& command);

struct FmuCommand {
  std::string model;
  std::vector<std::string> set;
  std::string out;  ///< file; empty: MODEL.fmu
  bool json = false;
};
int fmu(const FmuCommand& command);

struct ViewCommand {
  std::vector<std::string> folders;  ///< with results in them, or below
  int port = 0;                      ///< 0: a free one
  bool no_browser = false, json = false;
};
int view(const ViewCommand& command);

struct DumpCommand {
  std::string model;
  std::vector<std::string> set;
  std::vector<double> at;  ///< times [s]
  std::string out;
  bool json = false;
};
int dump(const DumpCommand& command);

struct PeriodicCommand {
  std::string model;
  std::vector<std::string> set;
  std::string branch;   ///< PARAM=FROM:TO[:STEP]; empty: periodic.continue, or none
  std::string restart;  ///< folder of a branch to go on with; empty: none
  int further = 0;      ///< branches to look for beside the first
  std::string out;
  bool json = false;
};
int periodic(const PeriodicCommand& command);

struct SweepCommand {
  std::string model;
  std::vector<std::string> set;
  std::vector<std::string> over;  ///< KEY=FROM:TO:COUNT or KEY=a,b,c
  int threads = 0;                ///< of each process; 0: one per processor
  bool fresh = false;             ///< drop what an unfinished sweep left in the folder
  double resolution = 0;          ///< > 0: basins of attraction, final states that differ by less are the same
  long count = 0;                 ///< > 0: so many random draws
  std::string seed;               ///< of them
  std::string out;
  bool json = false;
};
int sweep(const SweepCommand& command);

struct BifurcationCommand {
  std::string model;
  std::vector<std::string> set;
  std::string over;     ///< KEY=FROM:TO:COUNT
  std::string observe;  ///< column; empty: the first coordinate
  int transient = 50, record = 50;
  bool peaks = false;
  bool fresh = false;  ///< drop what an unfinished diagram left in the folder
  std::string out;
  bool json = false;
};
int bifurcation(const BifurcationCommand& command);

struct NewCommand {
  std::string kind;  ///< empty: the list of them
  std::string file;  ///< empty: KIND.toml
  bool force = false;
};
int new_model(const NewCommand& command);

struct DoctorCommand {
  bool json = false;
};
int doctor(const DoctorCommand& command);

struct ListCommand {
  std::string what;
  bool json = false;
};
int list(const ListCommand& command);

struct ReproduceCommand {
  std::string paper = "all";
  std::string out;
  bool json = false;
};
int reproduce(const ReproduceCommand& command);

}  // namespace stickslip::cli
