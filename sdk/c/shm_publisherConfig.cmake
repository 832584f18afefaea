# find_package(shm_publisher) defines the target shm_publisher::shm_publisher, for C and C++. The headers are found from
# where this file is, so that a copy of the installation works anywhere.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
if(NOT TARGET shm_publisher::shm_publisher)
  get_filename_component(_shm_publisher_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
  add_library(shm_publisher::shm_publisher INTERFACE IMPORTED)
  set_target_properties(shm_publisher::shm_publisher PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_shm_publisher_prefix}/include"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
  unset(_shm_publisher_prefix)
endif()
