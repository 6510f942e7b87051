/* fuzz_swf.c - libFuzzer over the reader of a job log in the Standard Workload Format; make fuzz runs it. */
#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_swf(bytes, count);
    return 0;
}
