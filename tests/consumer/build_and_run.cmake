# Installs the library into a scratch prefix, builds the consumer against it and runs it.
# cmake -DBUILD=... -DSOURCE=... -DSCRATCH=... -P build_and_run.cmake
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} ended with ${code}:\n${out}")
  endif()
endfunction()
file(REMOVE_RECURSE ${SCRATCH})
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${SCRATCH}/build -G Ninja -DCMAKE_PREFIX_PATH=${SCRATCH}/prefix -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS=${FLAGS})
step(${CMAKE_COMMAND} --build ${SCRATCH}/build)
step(${SCRATCH}/build/consumer)
if(PACKAGE)
  cmake_path(GET PACKAGE PARENT_PATH folder)
  step(${CMAKE_COMMAND} -E env PYTHONPATH=${SCRATCH}/prefix/${folder} /usr/bin/python3 -I -c "import sys; sys.path.insert(0, '${SCRATCH}/prefix/${folder}')
import stickslip
assert stickslip.__file__.startswith('${SCRATCH}'), stickslip.__file__
assert stickslip.model(matrices={'mass': [[1]]}, run={'step': 0.1, 'end_time': 1}).run().ok")
endif()
