/* model_table.h - the one table from the name of a function in a row to the query that calls it. */
#ifndef TESTS_MODEL_TABLE_H
#define TESTS_MODEL_TABLE_H

#include "tests/model_funcs_failure.h"
#include "tests/model_funcs_flows.h"
#include "tests/model_funcs_job.h"
#include "tests/model_funcs_network.h"
#include "tests/model_funcs_queue.h"

static const struct model_func {
    const char *name;
    void (*ask)(struct query *q);
} model_funcs[] = {
    /* 1 hardware */
    {"two_tier", q_two_tier},
    {"three_tier", q_three_tier},
    {"rail_fabric", q_rail_fabric},
    {"gpu_net_bw", q_gpu_net_bw},
    {"pair_bw", q_pair_bw},
    {"path_lat", q_path_lat},
    {"hop_count", q_hop_count},
    {"rail_hops", q_rail_hops},
    {"leaf_share", q_leaf_share},
    {"mig_fit", q_mig_fit},
    /* 2 collectives */
    {"ar_ring", q_ar_ring},
    {"ag_ring", q_ag_ring},
    {"bcast_ring", q_bcast_ring},
    {"tree_coeff", q_tree_coeff},
    {"ar_tree", q_ar_tree},
    {"ar_flat", q_ar_flat},
    {"ar_hier", q_ar_hier},
    {"ar_nvls", q_ar_nvls},
    {"ar_best", q_ar_best},
    {"a2a", q_a2a},
    {"p2p", q_p2p},
    {"ring_shm", q_ring_shm},
    {"leaf_bytes", q_leaf_bytes},
    {"nccl_ar", q_nccl_ar},
    {"nccl_best", q_nccl_best},
    /* 3 job step */
    {"flops_step", q_flops_step},
    {"t_compute", q_t_compute},
    {"zero_mem", q_zero_mem},
    {"tp_comm", q_tp_comm},
    {"ep_bytes", q_ep_bytes},
    {"ep_comm", q_ep_comm},
    {"pp_bytes", q_pp_bytes},
    {"grad_bytes", q_grad_bytes},
    {"overlap_slow", q_overlap_slow},
    {"whole_step", q_whole_step},
    {"dp_exposed", q_dp_exposed},
    {"pp_step", q_pp_step},
    {"fsdp_step", q_fsdp_step},
    {"dp_job", q_dp_job},
    {"pnorm", q_pnorm},
    {"input_stall", q_input_stall},
    {"emax", q_emax},
    {"emax_blom", q_emax_blom},
    {"emax_table", q_emax_table},
    {"locality", q_locality},
    {"rescale", q_rescale},
    /* 4 shared links */
    {"maxmin", q_maxmin},
    {"fluid", q_fluid},
    {"contend", q_contend},
    {"ecmp_nocoll", q_ecmp_nocoll},
    {"ecmp_used", q_ecmp_used},
    {"ecmp_max", q_ecmp_max},
    /* 5 failures */
    {"young", q_young},
    {"daly", q_daly},
    {"ckpt_opt", q_ckpt_opt},
    {"ckpt_time", q_ckpt_time},
    {"lost_mean", q_lost_mean},
    {"lost_quantile", q_lost_quantile},
    {"two_level", q_two_level},
    {"ckpt_write", q_ckpt_write},
    {"ettr_meta", q_ettr_meta},
    {"hazard_time", q_hazard_time},
    {"infant_count", q_infant_count},
    {"job_mttf", q_job_mttf},
    {"avail", q_avail},
    {"binom_up", q_binom_up},
    {"layout_blast", q_layout_blast},
    {"blast_mix", q_blast_mix},
    {"server_rate", q_server_rate},
    {"amplification", q_amplification},
    {"weibull_mean", q_weibull_mean},
    {"weibull_min", q_weibull_min},
    {"weibull_renewals", q_weibull_renewals},
    {"lognorm_mean_cv", q_lognorm_mean_cv},
    {"lognorm_median_p95", q_lognorm_median_p95},
    {"repairman", q_repairman},
    {"common_cause", q_common_cause},
    {"flap_stall", q_flap_stall},
    {"lemon_mix", q_lemon_mix},
    /* 6 metrics */
    {"fgd", q_fgd},
    {"eff_free", q_eff_free},
    {"bounded_slowdown", q_bounded_slowdown},
    {"time_mean", q_time_mean},
    {"quantile7", q_quantile7},
    {"kaplan_meier", q_kaplan_meier},
    {"quantile_ci", q_quantile_ci},
    {"mser5", q_mser5},
    {"gpu_accounts", q_gpu_accounts},
    {"excess", q_excess},
    {"ettr", q_ettr},
    {"t_ci", q_t_ci}, {"paired_ci", q_paired_ci}, {"batch_means", q_batch_means},
    {"stop_rule", q_stop_rule},
    /* 7 power, cost */
    {"gpu_power", q_gpu_power},
    {"phi_cap", q_phi_cap},
    {"clock_slow", q_clock_slow},
    {"server_power", q_server_power},
    {"rack_phi", q_rack_phi},
    {"temp_at", q_temp_at},
    {"temp_cross", q_temp_cross},
    {"phi_thermal", q_phi_thermal},
    {"air_rise", q_air_rise},
    {"room_time", q_room_time},
    {"facility", q_facility},
    {"energy", q_energy},
    {"crf", q_crf},
    {"tco", q_tco},
    /* 8 serving, 10 queueing */
    {"slo_loss", q_slo_loss},
    {"batch_tput", q_batch_tput},
    {"llm_prefill", q_llm_prefill},
    {"llm_decode", q_llm_decode},
    {"kv_capacity", q_kv_capacity},
    {"mm1", q_mm1},
    {"mmc", q_mmc},
    {"mg1", q_mg1},
    {"mgc", q_mgc},
    {"mmc_tail", q_mmc_tail},
    {"erlang_b", q_erlang_b},
    {"erlang_c", q_erlang_c},
    {"mginf", q_mginf},
    {"mmck", q_mmck},
    {"kaufman_roberts", q_kaufman_roberts},
    /* 9 random numbers */
    {"philox4x32_10", q_philox},
    {"fnv1a64", q_fnv1a64},
    {"mix64", q_mix64},
    {"stream_key", q_stream_key},
    {"stream_draw", q_stream_draw},
    {"inv_exp", q_inv_exp},
    {"inv_weibull", q_inv_weibull},
    {"inv_lognormal", q_inv_lognormal},
};

/* NULL when no function of that name is built. */
static inline const struct model_func *model_func_find(const char *name)
{
    for (size_t i = 0; i < sizeof model_funcs / sizeof *model_funcs; i++)
        if (strcmp(model_funcs[i].name, name) == 0) return &model_funcs[i];
    return NULL;
}

#endif
