# find_package(@NAME@) with this folder in CMAKE_PREFIX_PATH: targets @NAME@::@NAME@ (shared)
# and @NAME@::static.
if(NOT TARGET @NAME@::static)
  add_library(@NAME@::static STATIC IMPORTED)
  set_target_properties(@NAME@::static PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.a"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}"
    INTERFACE_LINK_LIBRARIES m)
endif()
if(NOT TARGET @NAME@::@NAME@ AND EXISTS "${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.so")
  add_library(@NAME@::@NAME@ SHARED IMPORTED)
  set_target_properties(@NAME@::@NAME@ PROPERTIES
    IMPORTED_LOCATION "${CMAKE_CURRENT_LIST_DIR}/lib@NAME@.so"
    INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}")
endif()
