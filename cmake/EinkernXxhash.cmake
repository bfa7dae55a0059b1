# xxhash, used from its header alone (XXH_INLINE_ALL), since Debian's libxxhash-dev has no CMake package.
find_path(EINKERN_XXHASH_INCLUDE_DIR xxhash.h REQUIRED DOC "Folder of xxhash.h (Debian, Ubuntu: apt install libxxhash-dev)")
mark_as_advanced(EINKERN_XXHASH_INCLUDE_DIR)
target_include_directories(einkern_core SYSTEM PRIVATE ${EINKERN_XXHASH_INCLUDE_DIR})
