# Text files as C++ constants, so that the program is one file. Run as a script:
#   cmake -DINPUT=file -DOUTPUT=file.cpp -DSYMBOL=name -P StickslipEmbed.cmake
# and as a function: stickslip_embed(TARGET SYMBOL FILE [DEPENDS...]) declares `extern const std::string_view SYMBOL`
# in namespace stickslip::embedded.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${INPUT}" text)
  # A string literal may not be longer than 64 KiB everywhere: adjacent pieces join.
  string(LENGTH "${text}" length)
  set(pieces "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 8000 piece)
    string(APPEND pieces "R\"stickslip~(${piece})stickslip~\"\n")
    math(EXPR at "${at} + 8000")
  endwhile()
  if(pieces STREQUAL "")
    set(pieces "\"\"")
  endif()
  file(WRITE "${OUTPUT}" "#include <string_view>\nnamespace stickslip::embedded {\nextern const std::string_view ${SYMBOL};\nconst std::string_view ${SYMBOL} =\n${pieces};\n}\n")
  return()
endif()

set(STICKSLIP_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(stickslip_embed target symbol file)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_${symbol}.cpp)
  add_custom_command(OUTPUT ${output} DEPENDS ${file} ${ARGN} ${STICKSLIP_EMBED_SCRIPT}
                     COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol} -P ${STICKSLIP_EMBED_SCRIPT}
                     COMMENT "Embedding ${symbol}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
