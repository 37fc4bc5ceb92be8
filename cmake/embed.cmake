# embed_file(NAME PATH): generates a source file that defines `extern const unsigned char NAME[]` and `NAME_size` in
# namespace widelimit::embedded; sets the variable NAME to its path.
function(embed_file name path)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "((....,){24})" "\\1\n" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"#include <cstddef>
namespace widelimit::embedded {
extern const unsigned char ${name}[];
extern const std::size_t ${name}_size;
const unsigned char ${name}[] = {
@bytes@};
const std::size_t ${name}_size = sizeof(${name});
}  // namespace widelimit::embedded
")
  set(${name} ${output} PARENT_SCOPE)
endfunction()
