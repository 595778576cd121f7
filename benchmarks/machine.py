# SPDX-License-Identifier: Apache-2.0
"""What a result was measured on: the label that every benchmark puts on its numbers."""

import datetime
import os
import pathlib
import platform
import subprocess


def first_line(command):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              check=True).stdout.splitlines()[0].strip()
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def machine(siconos_package):
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.processor() or "unknown")
    release = platform.freedesktop_os_release() if pathlib.Path("/etc/os-release").exists() else {}
    return {"cpu": model, "cores": os.cpu_count(), "system": release.get("PRETTY_NAME", platform.system()),
            "compiler": first_line(["g++", "--version"]), "flags": "-O2 -DNDEBUG",
            "siconos": first_line(["dpkg-query", "-W", "-f", "${Version}\n", siconos_package]),
            "blas_threads": 1, "load_average_before": os.getloadavg()[0],
            "date": datetime.date.today().isoformat()}
