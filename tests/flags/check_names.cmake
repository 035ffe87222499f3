# Every function of heed's in OBJECTS that the linker may merge with one from another file has flags_… among its
# namespaces, but for these, of which a program needs one each. They call the standard library and compute nothing:
#   ShapeError's constructors and destructors    one vtable for whoever catches it
#   Workspace's destructor                       its address is kept for the end of the thread
set(allowed "^_ZN4heed(10ShapeError(C|D)|9WorkspaceD)")

set(tagged 0)
set(failed "")
foreach(object IN LISTS OBJECTS)
  execute_process(COMMAND "${OBJDUMP}" -t "${object}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[0-9a-f]+ (g|u| w)[^\n]* F [^\n]* _ZZ*N[KVRO]*4heed[^\n]*" functions "${symbols}")
  foreach(line IN LISTS functions)
    string(REGEX REPLACE ".* " "" name "${line}")
    # Namespaces have lower-case names, classes upper-case ones and templates an I behind theirs.
    if(name MATCHES "^_ZZ*N[KVRO]*4heed([0-9]+[a-z0-9]+)*[0-9]+flags_")
      math(EXPR tagged "${tagged} + 1")
    elseif(NOT name MATCHES "${allowed}")
      list(APPEND failed "${name}")
    endif()
  endforeach()
endforeach()
if(tagged LESS 500)
  message(FATAL_ERROR "only ${tagged} functions with flags in their names: this check does not see them")
endif()
if(failed)
  list(REMOVE_DUPLICATES failed)
  list(JOIN failed "\n" text)
  message(FATAL_ERROR "a file for every processor could get the code of one compiled for this one:\n${text}")
endif()
message(STATUS "${tagged} functions have their flags in their names")
