# What is installed: the library libeinkern, the commands einkern and einkern-worker, and the CMake package.
