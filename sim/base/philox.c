/* philox.c - the ten-round counter cipher and the naming of streams. */
#include "base/philox.h"

enum { ROUNDS = 10 };

/* Constants of Philox4x32 (Salmon et al. 2011, table 2): two multipliers, two key steps. */
static const uint32_t multiplier0 = 0xD2511F53u, multiplier1 = 0xCD9E8D57u;
static const uint32_t key_step0 = 0x9E3779B9u, key_step1 = 0xBB67AE85u;

void philox4x32_10(const uint32_t ctr[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = ctr[0], c1 = ctr[1], c2 = ctr[2], c3 = ctr[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t p0 = (uint64_t)multiplier0 * c0;
        const uint64_t p1 = (uint64_t)multiplier1 * c2;
        c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p1;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += key_step0;
        k1 += key_step1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

uint64_t fnv1a64(const char *text)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
    return hash;
}

uint64_t stream_key(uint64_t seed, uint64_t replica, const char *purpose)
{
    return mix64(mix64(seed + UINT64_C(0x9E3779B97F4A7C15) * (replica + 1)) ^ fnv1a64(purpose));
}

/* The upper 52 bits, moved to the middle of their cell: never 0, never 1, no rounding. */
static double uniform_from_bits(uint64_t x)
{
    return ((double)(x >> 12) + 0.5) * 0x1p-52;
}

struct draw stream_draw(uint64_t key, uint64_t entity, uint64_t draw_no)
{
    const uint32_t ctr[4] = { (uint32_t)draw_no, (uint32_t)(draw_no >> 32), (uint32_t)entity,
                              (uint32_t)(entity >> 32) };
    const uint32_t halves[2] = { (uint32_t)key, (uint32_t)(key >> 32) };
    uint32_t out[4];
    philox4x32_10(ctr, halves, out);
    const uint64_t x1 = out[0] | (uint64_t)out[1] << 32;
    const uint64_t x2 = out[2] | (uint64_t)out[3] << 32;
    return (struct draw){ x1, x2, uniform_from_bits(x1), uniform_from_bits(x2) };
}

double stream_uniform(uint64_t key, uint64_t entity, uint64_t draw_no)
{
    return stream_draw(key, entity, draw_no).u1;
}
