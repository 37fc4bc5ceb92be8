#pragma once

#include "widelimit/data/formats/format.hpp"

namespace widelimit {

/// Reads the images of a folder (.png, .jpg and .jpeg), sorted by name. Each sub-folder is a class, named after it; a
/// folder of images without such sub-folders is unlabelled, as is any folder if the label is "none". All images must
/// have the same size. If grey and colour images are mixed, all are read as colour. Values are 0 to 255. Hidden files
/// are skipped; notes report other files, folders without images, and dropped transparency. Throws Error{input} with
/// the file that is damaged, unreadable or of another size.
[[nodiscard]] Dataset read_image_folder(const std::filesystem::path& folder, const ReadOptions& options = {});

}  // namespace widelimit
