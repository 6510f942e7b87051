/* doubledouble.h - sums of two doubles: about 106 bits, built from + - * / only.
 *
 * Used where one rounding too many would show in base/exactmath. The value is hi + lo with |lo| at
 * most half a unit in the last place of hi. No fused multiply-add: products are split in halves
 * (Dekker 1971, Knuth TAOCP 4.2.2). Ranges: |hi| below 2^990 for products, or the split overflows.
 */
#ifndef GPUPLAN_BASE_DOUBLEDOUBLE_H
#define GPUPLAN_BASE_DOUBLEDOUBLE_H

struct dd {
    double hi, lo;
};

/* a + b without error. */
static inline struct dd dd_two_sum(double a, double b)
{
    const double sum = a + b;
    const double b_seen = sum - a;
    return (struct dd){sum, (a - (sum - b_seen)) + (b - b_seen)};
}

/* The same when |a| >= |b| or a is 0. */
static inline struct dd dd_fast_two_sum(double a, double b)
{
    const double sum = a + b;
    return (struct dd){sum, b - (sum - a)};
}

/* Upper and lower half of the 53 bits of a. */
static inline struct dd dd_split(double a)
{
    const double shifted = a * 0x1.0000002p27; /* 2^27 + 1 */
    const double hi = shifted - (shifted - a);
    return (struct dd){hi, a - hi};
}

/* a * b without error. */
static inline struct dd dd_two_product(double a, double b)
{
    const double product = a * b;
    const struct dd x = dd_split(a), y = dd_split(b);
    return (struct dd){product,
                       ((x.hi * y.hi - product) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

static inline struct dd dd_add(struct dd a, struct dd b)
{
    const struct dd sum = dd_two_sum(a.hi, b.hi);
    return dd_fast_two_sum(sum.hi, sum.lo + (a.lo + b.lo));
}

static inline struct dd dd_multiply(struct dd a, struct dd b)
{
    const struct dd product = dd_two_product(a.hi, b.hi);
    return dd_fast_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline struct dd dd_multiply_double(struct dd a, double b)
{
    const struct dd product = dd_two_product(a.hi, b);
    return dd_fast_two_sum(product.hi, product.lo + a.lo * b);
}

static inline struct dd dd_divide(struct dd a, struct dd b)
{
    const double quotient = a.hi / b.hi;
    const struct dd back = dd_multiply_double(b, quotient);
    const struct dd rest = dd_add(a, (struct dd){-back.hi, -back.lo});
    return dd_fast_two_sum(quotient, (rest.hi + rest.lo) / b.hi);
}

#endif
