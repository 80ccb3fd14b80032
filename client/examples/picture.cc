// PNG files, through libpng's simplified interface.
#include "picture.h"

#include <png.h>

#include <cstring>

bool ReadPng(const std::string& path, Picture* picture, std::string* error) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (png_image_begin_read_from_file(&image, path.c_str()) == 0) {
    *error = image.message;
    return false;
  }
  image.format = PNG_FORMAT_RGB;
  *picture = {image.width, image.height, 3,
              std::vector<uint8_t>(size_t{3} * image.width * image.height)};
  const png_color black = {0, 0, 0};  // behind transparent pixels
  if (png_image_finish_read(&image, &black, picture->bytes.data(), 0, nullptr) == 0) {
    *error = image.message;
    return false;
  }
  return true;
}

bool WritePng(const std::string& path, const Picture& picture, std::string* error) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  image.width = picture.width;
  image.height = picture.height;
  image.format = picture.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  if (png_image_write_to_file(&image, path.c_str(), 0, picture.bytes.data(), 0, nullptr) == 0) {
    *error = image.message;
    return false;
  }
  return true;
}
