# How everything is compiled: standard, warnings, linker, sanitizers; and einkern_floor(), one static library a floor.
option(EINKERN_WERROR "Warnings are errors" ON)
option(EINKERN_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EINKERN_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(EINKERN_BUILD_BENCH "Build the benches" ${PROJECT_IS_TOP_LEVEL})
set(EINKERN_SANITIZE "" CACHE STRING "Sanitizers: address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(EINKERN_CCACHE ccache)
if(EINKERN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${EINKERN_CCACHE})
endif()

# The static LLVM libraries make linking the slow step: mold takes about a second, ld ten.
find_program(EINKERN_MOLD mold)
find_program(EINKERN_LLD ld.lld)
if(EINKERN_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(EINKERN_LLD)
  add_link_options(-fuse-ld=lld)
endif()

add_library(einkern_options INTERFACE)
# -ffp-contract=off: multiply-adds are decided in the program, never by a compiler (docs/semantics.md).
# -Wno-deprecated-declarations: clang sees libstdc++ 12's own use of get_temporary_buffer in std::stable_sort.
# -Wno-restrict: g++ 12 sees overlapping copies in every "literal" + std::string (GCC bug 105651).
target_compile_options(einkern_options INTERFACE -Wall -Wextra -Wshadow -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
                       $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations> -ffp-contract=off
                       $<$<BOOL:${EINKERN_WERROR}>:-Werror>)
target_include_directories(einkern_options INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
if(EINKERN_SANITIZE)
  # -Wno-maybe-uninitialized: sanitizers make g++ see reads of alternatives that a std::variant does not hold.
  add_compile_options(-fsanitize=${EINKERN_SANITIZE} -fno-omit-frame-pointer $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)  # indices, empty optionals
  add_link_options(-fsanitize=${EINKERN_SANITIZE})
endif()

# einkern_floor(name [FOLDER folder] [SUBFOLDERS ...] LINKS ...): the static library einkern_<name> of one folder's sources.
function(einkern_floor name)
  cmake_parse_arguments(floor "" "FOLDER" "LINKS;SUBFOLDERS" ${ARGN})
  if(NOT floor_FOLDER)
    set(floor_FOLDER ${name})
  endif()
  set(patterns ${PROJECT_SOURCE_DIR}/${floor_FOLDER}/*.cpp)
  foreach(subfolder ${floor_SUBFOLDERS})
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/${floor_FOLDER}/${subfolder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(NOT sources)  # a floor of headers alone
    set(sources ${CMAKE_CURRENT_BINARY_DIR}/einkern_${name}_headers.cpp)
    file(WRITE ${sources} "")
  endif()
  add_library(einkern_${name} STATIC ${sources})
  target_link_libraries(einkern_${name} PUBLIC einkern_options ${floor_LINKS})
endfunction()
