/* test_step_curve.c - straight pieces of a step: bends by hand, random chains of them, steps of real plans between the points. */
#include "models/step_curve.h"

#include "models/train_step.h"
#include "tests/near.h"
#include "tests/rows.h"
#include "tests/train_fixture.h"

/* 10 + max(0, w - 3) + max(0, 2 (w - 40)): bends at 3 and 40. */
static double two_bends(double wire_s, const void *context)
{
    (void)context;
    return 10 + fmax(0, wire_s - 3) + fmax(0, 2 * (wire_s - 40));
}

static void bends_by_hand(void **state)
{
    (void)state;
    struct step_curve curve;
    step_curve_find(&curve, 1, two_bends, NULL);
    assert_int_equal(curve.count, 4); /* both ends, too */
    CHECK_NEAR(curve.point[1].wire_s, 3, 1e-9);
    CHECK_NEAR(curve.point[2].wire_s, 40, 1e-9);
    CHECK_NEAR(step_curve_at(curve.point, 4, 0.5), 10, 0);
    CHECK_NEAR(step_curve_at(curve.point, 4, 13), 20, 1e-9);
    CHECK_NEAR(step_curve_at(curve.point, 4, 50), 77, 1e-9);
    CHECK_NEAR(step_curve_at(curve.point, 4, 1e6), 10 + 999997 + 2 * 999960.0, 1e-9);
    CHECK_NEAR(step_curve_wire_s(curve.point, 4, 9), 1, 0);
    CHECK_NEAR(step_curve_wire_s(curve.point, 4, 20), 13, 1e-9);
    CHECK_NEAR(step_curve_wire_s(curve.point, 4, 77), 50, 1e-9);
    CHECK_NEAR(step_curve_wire_s(curve.point, 4, 10 + 999997 + 2 * 999960.0), 1e6, 1e-9);
}

/* Sums of up to six hidden parts, and the faster of two ways. */
static double drawn(double wire_s, const void *context)
{
    const uint64_t seed = *(const uint64_t *)context;
    double step_s = 1;
    for (uint32_t i = 0; i < any_count(seed, 1, 0, 6); i++)
        step_s += fmax(0, any(seed, 10 + i) * wire_s - any_scale(seed, 20 + i, 0.01, 100));
    return step_s + fmin(wire_s, any_scale(seed, 2, 0.1, 10) + any(seed, 3) * wire_s);
}

static void between_the_points(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct step_curve curve;
        const double least_s = any_scale(seed, 4, 1e-3, 10);
        step_curve_find(&curve, least_s, drawn, &seed);
        for (uint32_t i = 0; i < 50; i++) {
            const double wire_s = least_s * any_scale(seed, 100 + i, 1, 1e4);
            const double step_s = step_curve_at(curve.point, curve.count, wire_s);
            CHECK(fabs(step_s - drawn(wire_s, &seed)) <= 1e-9 * step_s,
                  "seed %u: %.12g at %g, want %.12g", (unsigned)seed, step_s, wire_s,
                  drawn(wire_s, &seed));
            const double back_s = step_curve_wire_s(curve.point, curve.count, step_s);
            CHECK(back_s <= wire_s * (1 + 1e-9) &&
                      step_curve_at(curve.point, curve.count, back_s) >= step_s * (1 - 1e-12),
                  "seed %u: back at %g from %g", (unsigned)seed, back_s, wire_s);
        }
    }
}

/* A plan with everything that hides, by the factor that its NICs are slower. */
static double step_of_a_plan(double slower, const void *context)
{
    const uint64_t seed = *(const uint64_t *)context;
    struct train_model model = small_model();
    struct train_machine machine = small_machine(64);
    struct train_plan plan = train_plan_plain();
    model.parameters = model.active_parameters = any_scale(seed, 1, 1e8, 1e11);
    machine.fabric.scaleup_hop_s = 3e-6;
    machine.fabric.network_hop_s = 14e-6;
    machine.fabric.tree_hop_s = 35e-6;
    machine.allowed = ALLOW_ALL;
    machine.fabric.nic_bytes_per_s /= slower;
    plan.tensor = 1u << any_count(seed, 2, 0, 3);
    plan.pipeline = 1u << any_count(seed, 3, 0, 2);
    plan.data = 64 / plan.tensor / plan.pipeline;
    plan.batch = 64;
    plan.zero = plan.pipeline > 1 ? any_count(seed, 4, 0, 1) : any_count(seed, 4, 0, 3);
    plan.buckets = any_count(seed, 5, 1, 20);
    plan.overlap_data = any(seed, 6);
    plan.overlap_tensor = any(seed, 7);
    plan.overlap_pipeline = any(seed, 8);
    return train_step(&model, &plan, &machine).step_s;
}

static void plans_between_the_points(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct step_curve curve;
        step_curve_find(&curve, 1, step_of_a_plan, &seed);
        for (uint32_t i = 0; i < 20; i++) {
            const double slower = any_scale(seed, 100 + i, 1, 1e4);
            const double want_s = step_of_a_plan(slower, &seed);
            const double got_s = step_curve_at(curve.point, curve.count, slower);
            CHECK(fabs(got_s - want_s) <= 1e-9 * want_s,
                  "seed %u: %.12g at %g, want %.12g, %u points", (unsigned)seed, got_s, slower,
                  want_s, curve.count);
        }
    }
}

int main(void)
{
    struct rows rows = { 0 };
    rows_add(&rows, bends_by_hand, NULL, "bends by hand");
    rows_add(&rows, between_the_points, NULL, "random chains of straight pieces");
    rows_add(&rows, plans_between_the_points, NULL, "steps of plans");
    return rows_run("step_curve", &rows);
}
