"""What other libraries' parameters are called, also those without counterpart: any other name is a slip.

LightGBM's are those of its version 4.7; of XGBoost 3.2 at least those that its estimators have.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_WITHOUT_COUNTERPART = {
    "LightGBM": """
    alpha auc_mu_weights bagging_fraction_seed bagging_seed blacklist bundle cat_l2 cegb_penalty_feature_coupled
    cegb_penalty_feature_lazy cegb_penalty_split cegb_tradeoff class_weight config config_file contrib
    convert_model convert_model_file convert_model_language data data_filename data_random_seed data_seed
    drop_rate drop_seed early_stopping_min_delta enable_bundle enable_sparse extra_seed fair_c fc feature_contri
    feature_contrib feature_fraction_seed feature_penalty forced_splits forced_splits_file forced_splits_filename
    forcedbins_filename forcedsplits_filename fp fs gpu_device_id gpu_device_id_list gpu_platform_id gpu_use_dp
    group group_column group_id has_header header ignore_column ignore_feature input_model is_enable_bundle
    is_enable_sparse is_pre_partition is_predict_contrib is_predict_leaf_index is_predict_raw_score is_save_binary
    is_save_binary_file is_sparse label label_column lambdarank_position_bias_regularization leaf_index
    linear_lambda local_listen_port local_port machine_list machine_list_file machine_list_filename machines
    max_bin_by_feature max_cat_threshold max_cat_to_onehot max_drop mc_penalty min_data_in_bin min_data_per_group
    mlist model_in model_input model_out model_output monotone_penalty monotone_splits_penalty ms_penalty
    multi_error_top_k name_pred neg_bagging neg_bagging_fraction neg_sub_row neg_subsample nodes num_gpu
    num_grad_quant_bins num_iteration_predict num_machine num_machines objective_seed other_rate output_model
    output_result parser_config_file poisson_max_delta_step port pos_bagging pos_bagging_fraction pos_sub_row
    pos_subsample pre_partition precise_float_parser pred_early_stop pred_early_stop_freq pred_early_stop_margin
    pred_name predict_contrib predict_disable_shape_check predict_leaf_index predict_name predict_raw_score
    predict_rawscore predict_result prediction_name prediction_result quant_train_renew_leaf query query_column
    query_id rate_drop raw_score refit_decay_rate reg_sqrt save_binary save_period saved_feature_importance_type
    skip_drop snapshot_freq sparse start_iteration_predict stochastic_rounding task task_type test test_data
    test_data_file time_out top_k top_rate topk train train_data train_data_file tree tree_learner
    tree_learner_type tree_type tweedie_variance_power two_round two_round_loading uniform_drop use_missing
    use_two_round_loading valid valid_data valid_data_file valid_filenames weight weight_column workers
    xgboost_dart_mode zero_as_missing
    """,
    "XGBoost": """
    aft_loss_distribution aft_loss_distribution_scale base_margin callbacks expectile_alpha feature_selector
    feature_weights huber_slope lambda_bias max_cached_hist_node max_cat_threshold max_cat_to_onehot
    multi_strategy normalize_type num_target one_drop process_type quantile_alpha rate_drop refresh_leaf
    sample_type sketch_eps skip_drop top_k tweedie_variance_power updater use_rmm
    """,
}


def slip(library: str, name: str, translated: Iterable[str]) -> str | None:
    """What to say of a parameter that the library does not have; None if it has it.

    ``translated`` are the parameters with a counterpart, by all their names.
    """
    known = {*_WITHOUT_COUNTERPART[library].split(), *translated}
    if name in known:
        return None
    near = difflib.get_close_matches(str(name), sorted(known), n=1, cutoff=0.75)
    return f"{library} has no parameter {name}" + (f" (is {near[0]} meant?)" if near else "")
