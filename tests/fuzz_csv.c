/* fuzz_csv.c - libFuzzer over the reader of a job log of any CSV form; make fuzz runs it. */
#include "tests/fuzz_targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    fuzz_csv(bytes, count);
    return 0;
}
