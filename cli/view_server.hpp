// SPDX-License-Identifier: Apache-2.0
// Results of folders as pages for a browser on this machine, and no one else:
//
//   GET /TOKEN/                  the list, which keeps itself up to date
//   GET /TOKEN/results.json      what is there: name, title, scheme, status, progress, columns
//   GET /TOKEN/figure?r=..       columns of some results over one another, as an interactive page
//   GET /TOKEN/file/NAME/FILE    a file of a result: report.html, trajectory.csv, ...
//
// It listens on 127.0.0.1 alone. A request is answered if it names this host and port (so that no page of another site
// can ask through a name that leads here) and the token, which is new in every call; others are refused (403). Files
// are those within the folders, after links are followed; pages may load nothing from elsewhere
// (Content-Security-Policy).
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"

namespace stickslip::cli {

class ViewServer {
 public:
  /// port 0: a free one. Throws InputError where it cannot listen, or a folder does not exist.
  ViewServer(std::vector<std::string> folders, int port);
  ~ViewServer();
  std::string address() const;  ///< http://127.0.0.1:PORT/TOKEN/
  /// Until asked to stop.
  void serve(StopRequest stop);

 private:
  struct Service;
  std::unique_ptr<Service> service_;
};

}  // namespace stickslip::cli
