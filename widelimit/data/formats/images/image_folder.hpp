#pragma once

#include "widelimit/data/formats/format.hpp"

namespace widelimit {

/// Images of a folder, .png, .jpg and .jpeg, in the order of their names. Folders in it are classes, called by their
/// names; a folder that holds images and no such folders is samples without labels, as are all with label "none".
/// All images have one size. They are grey or colour; a mixture is read as colour. Values are 0 to 255. Hidden files
/// are passed over; notes tell of other files, folders without images, and transparency, which is dropped.
/// Error{input} names the file that is damaged, unreadable or of another size.
[[nodiscard]] Dataset read_image_folder(const std::filesystem::path& folder, const ReadOptions& options = {});

}  // namespace widelimit
