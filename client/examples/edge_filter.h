// Filter of kernel blur_edge.cc, on the host and written differently: the reference that the
// card's result is compared with, pixel for pixel.
#pragma once

#include "picture.h"

// Blurred and its edges found, one byte a pixel.
Picture EdgesOf(const Picture& picture);
