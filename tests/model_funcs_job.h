/* model_funcs_job.h - queries of the sections on job steps, shared links, power, cost and serving. */
#ifndef TESTS_MODEL_FUNCS_JOB_H
#define TESTS_MODEL_FUNCS_JOB_H

#include "models/contention.h"
#include "models/cost.h"
#include "models/jobstep.h"
#include "models/parallel.h"
#include "models/power.h"
#include "models/serving.h"
#include "models/statistics.h"
#include "models/straggler.h"
#include "tests/model_funcs_network.h"

#define TERA 1e12
#define MS   1e-3

/* --- job step ------------------------------------------------------------------------------------- */

static inline struct transformer in_transformer(struct query *q)
{
    return (struct transformer){
        .parameters = in(q, "N"),
        .tokens = in(q, "tokens"),
        .layers = in_or(q, "L", 0),
        .hidden = in_or(q, "h", 0),
        .sequence = in_or(q, "s", 0),
        .causal = in_or(q, "causal", 1) != 0,
        .recompute = in_or(q, "recompute", 0) != 0,
    };
}

static inline void q_flops_step(struct query *q)
{
    const struct transformer model = in_transformer(q);
    put(q, "flops", step_flops(&model));
}

static inline void q_t_compute(struct query *q)
{
    put(q, "t_s", compute_s(in(q, "flops"), in(q, "gpus"), in(q, "peak_TF") * TERA, in(q, "eff")));
}

static inline void q_zero_mem(struct query *q)
{
    put(q, "bytes", zero_bytes(in(q, "N"), in(q, "dp"), in_u32(q, "stage")));
}

static inline double in_activations(struct query *q)
{
    return activation_bytes(in(q, "mb"), in(q, "s"), in(q, "h"), in(q, "b"));
}

static inline void q_tp_comm(struct query *q)
{
    const struct tensor_group group = {
        .gpus = in_u32(q, "tp"),
        .layers = in(q, "Ls"),
        .microbatches = in(q, "m"),
        .size_bytes = in_activations(q),
        .hop_s = in(q, "alpha_us") * US,
        .bandwidth_bytes_per_s = in(q, "B_GBps") * GB,
    };
    put(q, "S_B", group.size_bytes);
    put(q, "T_us", tensor_parallel_s(&group) / US);
}

static inline void q_ep_bytes(struct query *q)
{
    put(q, "S_B", expert_bytes(in_activations(q), in(q, "topk")));
}

/* From here to q_grad_bytes: not in the shared rows. */
static inline void q_ep_comm(struct query *q)
{
    const struct collective_place place = in_place(q);
    put(q, "T_us",
        expert_parallel_s(&place, in(q, "Ls"), in(q, "m"), in(q, "S_B"), in(q, "o_us") * US) / US);
}

static inline void q_pp_bytes(struct query *q)
{
    put(q, "bytes",
        boundary_bytes(in_activations(q), in(q, "m"), in(q, "tp"), in(q, "scattered") != 0));
}

static inline void q_grad_bytes(struct query *q)
{
    const double size = gradient_bytes(in(q, "N"), in(q, "b"), in(q, "tp"), in(q, "pp"));
    put(q, "S_B", size);
    put(q, "sent_B", zero_traffic_bytes(size, in(q, "dp"), in_u32(q, "stage")));
}

static inline void q_dp_exposed(struct query *q)
{
    put(q, "exposed", exposed_reduce_s(in(q, "t_bwd"), in(q, "K"), in(q, "c")));
}

static inline void q_pp_step(struct query *q)
{
    const struct pipeline pipeline = {in(q, "m"), in(q, "p"), in_or(q, "v", 1), in(q, "tf"),
                                      in(q, "tb")};
    put(q, "T", pipeline_s(&pipeline));
    put(q, "bubble_ratio", bubble_ratio(&pipeline));
}

static inline void q_fsdp_step(struct query *q)
{
    const struct sharded_step step = {in(q, "L"), in(q, "tf"), in(q, "tb"), in(q, "tag"),
                                      in(q, "trs")};
    const double time = sharded_step_s(&step);
    put(q, "T", time);
    put(q, "exposed", time - step.layers * (step.forward_s + step.backward_s));
}

static inline void q_dp_job(struct query *q)
{
    const uint32_t gpus = in_u32(q, "gpus"), g = in_u32(q, "g");
    if (q->problem[0]) return;
    const struct data_parallel_job job = {
        .model = in_transformer(q),
        .place = {.servers = gpus / g,
                  .gpus = gpus,
                  .gpus_per_server = g,
                  .intra_bytes_per_s = in(q, "Bi_GBps") * GB,
                  .network_bytes_per_s = in(q, "k") * in(q, "nic_GBps") * GB,
                  .intra_hop_s = in(q, "ai_us") * US,
                  .network_hop_s = in(q, "ae_us") * US,
                  .chunks = COLLECTIVE_CHUNKS},
        .peak_flops_per_s = in(q, "peak_TF") * TERA,
        .efficiency = in(q, "eff"),
        .gradient_bytes = in(q, "bytes_grad"),
        .buckets = in(q, "K"),
    };
    const struct step_time step = data_parallel_step(&job);
    put(q, "t_comp", step.compute_s);
    put(q, "exposed", step.exposed_s);
    put(q, "T", step.total_s);
    put(q, "mfu", step.mfu);
}

static inline void q_pnorm(struct query *q)
{
    put(q, "T", overlapped_s(in(q, "tc"), in(q, "tn"), in(q, "gamma")));
}

static inline void q_input_stall(struct query *q)
{
    const double step = in(q, "T");
    const double bound =
        input_bound_s(step, in(q, "bytes"), in(q, "rate_Bps"), in(q, "prefetch") != 0);
    put(q, "T_eff", bound);
    put(q, "stall", bound - step);
}

/* Not in the shared rows. */
static inline void q_whole_step(struct query *q)
{
    double server[LIST_MAX];
    const size_t count = in_list(q, "servers", server);
    if (count == 0) return;
    const struct whole_step step = {
        .stage_s = in(q, "stage"),
        .exposed_s = in(q, "exposed"),
        .optimizer_s = in(q, "opt"),
        .input_stall_s = in(q, "input"),
        .slowest_factor = slowest_factor(server, (uint32_t)count),
        .noise_factor = in(q, "noise"),
        .data_factor = in(q, "data"),
    };
    const double time = whole_step_s(&step);
    put(q, "T", time);
    put(q, "mfu", flops_use_frac(in(q, "flops"), in(q, "gpus"), in(q, "peak_TF") * TERA, time));
}

static inline void q_overlap_slow(struct query *q)
{
    put(q, "T", slowed_compute_s(in(q, "T"), in(q, "hidden"), in(q, "theta")));
}

static inline void q_emax_table(struct query *q)
{
    struct straggler_table table;
    straggler_table_init(&table, in(q, "sigma"));
    put(q, "factor", straggler_table_at(&table, in(q, "n")));
}

static inline void q_emax(struct query *q)
{
    put(q, "factor", straggler_factor(in(q, "n"), in(q, "sigma")));
}

static inline void q_emax_blom(struct query *q)
{
    put(q, "factor", straggler_factor_blom(in(q, "n"), in(q, "sigma")));
}

/* --- shared links ------------------------------------------------------------------------------------ */

/* jobs=A:c=0.4:b=5:w=0.1:m=1|B:...; the key of one field of item number `item`, or `absent`. */
static inline double job_field(const char *jobs, size_t item, char key, double absent)
{
    for (; item > 0 && jobs; item--) jobs = strchr(jobs, '|') ? strchr(jobs, '|') + 1 : NULL;
    for (; jobs && *jobs && *jobs != '|'; jobs++)
        if (jobs[0] == ':' && jobs[1] == key && jobs[2] == '=') return strtod(jobs + 3, NULL);
    return absent;
}

static inline void q_contend(struct query *q)
{
    const enum contention_model model = in_is(q, "model", "A")   ? CONTENTION_UPPER
                                  : in_is(q, "model", "B") ? CONTENTION_LOWER
                                                           : CONTENTION_MEAN;
    const double link = in(q, "cap_GBps") * GB;
    struct link_job jobs[CONTENTION_JOBS_MAX];
    double step[CONTENTION_JOBS_MAX];
    char job_names[CONTENTION_JOBS_MAX];
    const char *text = in_text(q, "jobs");
    uint32_t count = 0;
    for (const char *at = text; at && *at && count < CONTENTION_JOBS_MAX; count++) {
        job_names[count] = *at;
        jobs[count] = (struct link_job){job_field(text, count, 'c', 0), job_field(text, count, 'w', 0),
                                        job_field(text, count, 'b', 0) * GB,
                                        job_field(text, count, 'm', 1)};
        at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
    }
    if (q->problem[0] || count == 0) return;
    contended_steps(model, link, jobs, count, step);
    for (uint32_t i = 0; i < count; i++) {
        const char name[] = {'T', '_', job_names[i], '\0'};
        put(q, name, step[i]);
    }
}

static inline void q_ecmp_nocoll(struct query *q)
{
    put(q, "p", ecmp_no_collision(in_u32(q, "n"), in_u32(q, "k")));
}

static inline void q_ecmp_used(struct query *q)
{
    const uint32_t n = in_u32(q, "n");
    const double used = ecmp_trunks_used(n, in_u32(q, "k"));
    put(q, "links", used);
    put(q, "flow_eff", used / n);
}

static inline void q_ecmp_max(struct query *q)
{
    const uint32_t n = in_u32(q, "n"), k = in_u32(q, "k");
    put(q, "emax", ecmp_max_load(n, k));
    put(q, "eff", ecmp_efficiency(n, k));
}

/* --- power ---------------------------------------------------------------------------------------------- */

static inline struct gpu_power in_gpu(struct query *q)
{
    return (struct gpu_power){in(q, "P_idle"), in(q, "P_max"), in(q, "u")};
}

static inline void q_gpu_power(struct query *q)
{
    const struct gpu_power gpu = in_gpu(q);
    put(q, "P", gpu_power_w(&gpu, in(q, "phi")));
}

static inline void q_phi_cap(struct query *q)
{
    const struct gpu_power gpu = in_gpu(q);
    put(q, "phi", capped_phi(&gpu, in(q, "P_cap"), in_or(q, "phi_min", 0.3)));
}

static inline void q_clock_slow(struct query *q)
{
    put(q, "slowdown", clock_slowdown(in(q, "phi"), in(q, "beta")));
}

static inline void q_server_power(struct query *q)
{
    const struct server_power server = {in(q, "base"),     in(q, "n_gpu"),  in(q, "P_gpu"),
                                        in(q, "n_nic"),    in(q, "P_nic"),  in(q, "fan_frac"),
                                        in(q, "loss_W"),   in(q, "psu_eff")};
    put(q, "P_wall", server_power_w(&server));
}

static inline void q_rack_phi(struct query *q)
{
    put(q, "phi",
        rack_phi(in(q, "static_W"), in(q, "dyn_W"), in(q, "cap_W"), in_or(q, "phi_min", 0.3)));
}

static inline struct thermal in_thermal(struct query *q)
{
    return (struct thermal){in(q, "T_in"), in(q, "R"), in(q, "P"), in(q, "tau")};
}

static inline void q_temp_at(struct query *q)
{
    const struct thermal thermal = in_thermal(q);
    put(q, "T", temperature_c(&thermal, in(q, "T0"), in(q, "t")));
}

static inline void q_temp_cross(struct query *q)
{
    const struct thermal thermal = in_thermal(q);
    put(q, "t", temperature_cross_s(&thermal, in(q, "T0"), in(q, "T_thr")));
}

static inline void q_phi_thermal(struct query *q)
{
    const struct gpu_power gpu = in_gpu(q);
    put(q, "phi",
        thermal_phi(&gpu, in(q, "T_in"), in(q, "R"), in(q, "T_slow"), in_or(q, "phi_min", 0.3)));
}

static inline void q_air_rise(struct query *q)
{
    put(q, "dT_K", air_rise_k(in(q, "P_W"), in(q, "flow_m3ps")));
}

static inline void q_room_time(struct query *q)
{
    put(q, "t_s", room_warming_s(in(q, "Q_W"), in(q, "cool_W"), in(q, "C_JpK"), in(q, "dT_K")));
}

static inline void q_facility(struct query *q)
{
    const double all = facility_w(in(q, "P_it"), in(q, "ups_eff"), in(q, "cop"), in(q, "misc"));
    put(q, "P_fac", all);
    put(q, "pue", all / in(q, "P_it"));
}

static inline void q_energy(struct query *q)
{
    double at[LIST_MAX], watts[LIST_MAX];
    const size_t count = in_parts(q, "points", ":", 0, at);
    in_parts(q, "points", ":", 1, watts);
    if (q->problem[0]) return;
    const double kwh =
        step_integral(at, watts, count, in(q, "t0"), in(q, "t1")) * in(q, "pue") / 3.6e6;
    put(q, "kWh", kwh);
    put(q, "usd", kwh * in(q, "usd_kWh"));
    put(q, "kg", kwh * in(q, "kg_kWh"));
}

static inline void q_crf(struct query *q)
{
    put(q, "crf", capital_recovery_frac(in(q, "r"), in(q, "n")));
}

static inline void q_tco(struct query *q)
{
    const struct cost_layout layout = {
        .gpus = in_u32(q, "G"),
        .gpus_per_server = in_u32(q, "g"),
        .nics_per_server = in_u32(q, "k"),
        .switch_ports = in_u32(q, "radix"),
        .oversubscription = in(q, "oversub"),
        .server_usd = in(q, "C_srv"),
        .gpu_usd = in(q, "C_gpu"),
        .nic_usd = in(q, "C_nic"),
        .switch_usd = in(q, "C_sw"),
        .cable_usd = in(q, "C_cab"),
        .server_w = in(q, "W_srv"),
        .gpu_w = in(q, "W_gpu"),
        .switch_w = in(q, "W_sw"),
        .pue = in(q, "pue"),
        .usd_per_kwh = in(q, "usd_kWh"),
        .maintenance_frac = in(q, "maint"),
        .interest = in(q, "r"),
        .years = in(q, "years"),
        .goodput_frac = in(q, "goodput"),
    };
    const struct cost cost = layout_cost(&layout);
    put(q, "switches", (double)cost.switches);
    put(q, "cables", (double)cost.cables);
    put(q, "capex", cost.purchase_usd);
    put(q, "annual", cost.yearly_usd);
    put(q, "usd_per_useful_gpuh", cost.useful_gpu_hour_usd);
}

/* --- serving -------------------------------------------------------------------------------------------- */

static inline void q_slo_loss(struct query *q)
{
    const struct slo_layout layout = {
        .servers = in_u32(q, "servers"),
        .gpus_per_server = in_u32(q, "g"),
        .gpus_per_replica = in_u32(q, "per_replica"),
        .lambda = in(q, "lam"),
        .mu = in(q, "mu"),
        .limit_s = in(q, "t"),
        .server_up = in(q, "A"),
        .load_max = in(q, "rho_max"),
    };
    put(q, "all_up", slo_with_servers_up(&layout, layout.servers));
    put(q, "one_down", slo_with_servers_up(&layout, layout.servers - 1));
    put(q, "expected", slo_expected(&layout));
}

static inline void q_batch_tput(struct query *q)
{
    const struct batch batch =
        batch_within(in(q, "alpha_ms") * MS, in(q, "beta_ms") * MS, in(q, "slo_ms") * MS);
    put(q, "b_max", batch.size_max);
    put(q, "tok_per_s", batch.per_s);
}

static inline struct language_model in_language_model(struct query *q)
{
    return (struct language_model){
        .parameters = in(q, "N"),
        .weight_bytes = in_or(q, "w_bytes", 2),
        .tensor_parallel = in(q, "tp"),
        .peak_flops_per_s = in_or(q, "peak_TF", 0) * TERA,
        .efficiency = in_or(q, "eff", 1),
        .hbm_bytes_per_s = in_or(q, "hbm_GBps", 0) * GB,
        .memory_efficiency = in_or(q, "mem_eff", 1),
        .kv_bytes_per_token = in_or(q, "kv_B", 0),
    };
}

static inline void q_llm_prefill(struct query *q)
{
    const struct language_model model = in_language_model(q);
    put(q, "t_ms", prefill_s(&model, in(q, "tokens")) / MS);
}

static inline void q_llm_decode(struct query *q)
{
    const struct language_model model = in_language_model(q);
    const struct decode_time time =
        decode_s(&model, in(q, "b"), in(q, "ctx"), in_or(q, "t_comm_ms", 0) * MS);
    put(q, "t_ms", time.total_s / MS);
    put(q, "mem_ms", time.memory_s / MS);
    put(q, "comp_ms", time.compute_s / MS);
}

static inline void q_kv_capacity(struct query *q)
{
    struct language_model model = in_language_model(q);
    model.kv_bytes_per_token =
        kv_bytes(in(q, "layers"), in(q, "kv_heads"), in(q, "d_head"), in(q, "bytes"));
    put(q, "kv_B", model.kv_bytes_per_token);
    if (q->problem[0]) return;
    put(q, "tokens", kv_tokens(&model, in(q, "mem_GB") * GB, in(q, "util")));
}

#endif
