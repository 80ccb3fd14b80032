// All of libttfd.
#pragma once

#include "ttfd/admin.h"
#include "ttfd/kernel_print.h"
#include "ttfd/queue.h"
#include "ttfd/resources.h"
#include "ttfd/session.h"
#include "ttfd/status.h"
#include "ttfd/tiles.h"
#include "ttfd/trace.h"
#include "ttfd/types.h"
