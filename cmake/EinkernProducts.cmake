# What is installed: the library libeinkern, the commands einkern and einkern-worker, and the CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One shared library, so that an embedder links neither LLVM nor fmt by name; its LLVM stays hidden, and may live in a
# process that has another.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/einkern_library.cpp "")
add_library(einkern SHARED ${CMAKE_CURRENT_BINARY_DIR}/einkern_library.cpp)
add_library(einkern::einkern ALIAS einkern)
set_target_properties(einkern PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} OUTPUT_NAME einkern)
target_link_libraries(einkern PRIVATE -Wl,--whole-archive einkern_engine -Wl,--no-whole-archive)
target_link_options(einkern PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/einkern.exports -Wl,--gc-sections)
set_target_properties(einkern PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/einkern.exports)
target_include_directories(einkern INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(einkern INTERFACE cxx_std_20)

file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp)
# The suites and peers of `einkern bench`.
einkern_floor(bench LINKS einkern_engine)
add_executable(einkern-command ${cli_sources})
set_target_properties(einkern-command PROPERTIES OUTPUT_NAME einkern)
target_link_libraries(einkern-command PRIVATE einkern_bench CLI11::CLI11)

# The tuner's worker knows devices and launch plans, nothing of the language; it is found beside the command.
file(GLOB worker_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/autotune/worker/*.cpp)
add_executable(einkern-worker ${worker_sources} ${PROJECT_SOURCE_DIR}/autotune/messages.cpp)
target_link_libraries(einkern-worker PRIVATE einkern_runtime $<TARGET_NAME_IF_EXISTS:einkern_runtime_cpu>)

install(TARGETS einkern EXPORT einkern-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS einkern-command einkern-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/einkern DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT einkern-targets NAMESPACE einkern:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/einkern)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/einkern-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/einkern-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/einkern)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/einkern-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/einkern-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/einkern-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/einkern)
