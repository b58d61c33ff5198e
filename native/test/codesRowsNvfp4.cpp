// wgmma's product of codes of one problem in nvfp4.
#define A_FORMAT 0
#define B_FORMAT 0
#define SCALE_FORMAT 6
#define SCALE_BLOCK 16
#include "rowsOfCodes.h"
