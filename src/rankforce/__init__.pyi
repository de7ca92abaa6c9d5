"""Public names of rankforce; written by tools/write_stub.py."""

from rankforce import click_models as click_models
from rankforce import diagnostics as diagnostics
from rankforce import lambdas as lambdas
from rankforce import optimising as optimising
from rankforce import plot as plot
from rankforce import schedules as schedules
from rankforce.combining.combine import combine as combine
from rankforce.combining.combined import Combined as Combined
from rankforce.data.artificial.artificial import make_artificial as make_artificial
from rankforce.data.artificial.web_like import make_web_like as make_web_like
from rankforce.data.clicks.click_labels import click_labels as click_labels
from rankforce.data.clicks.propensities import Propensities as Propensities
from rankforce.data.clicks.propensity_estimates import estimate_propensities as estimate_propensities
from rankforce.data.clicks.rates import ClickLabels as ClickLabels
from rankforce.data.clicks.session_lists import click_sessions as click_sessions
from rankforce.data.clicks.similar_queries import SimilarQueries as SimilarQueries
from rankforce.data.dataset import Dataset as Dataset
from rankforce.data.feature_logs.joining import FeatureLog as FeatureLog
from rankforce.data.feature_logs.reading import read_feature_log as read_feature_log
from rankforce.data.fold_files import read_folds as read_folds
from rankforce.data.letor.reading import read_letor as read_letor
from rankforce.data.noise import confuse_labels as confuse_labels
from rankforce.data.noise import confusion_from_repeats as confusion_from_repeats
from rankforce.data.preferences import Preferences as Preferences
from rankforce.data.preferences import consistent_posteriors as consistent_posteriors
from rankforce.data.preferences import read_preferences as read_preferences
from rankforce.data.tables.table_files import read_table as read_table
from rankforce.data.trec import JudgedRun as JudgedRun
from rankforce.data.trec import judged_run as judged_run
from rankforce.data.trec import read_qrels as read_qrels
from rankforce.data.trec import read_run as read_run
from rankforce.data.trec import write_run as write_run
from rankforce.diagnostics.document_forces import forces_at as forces_at
from rankforce.distributed.shared import SharedDataset as SharedDataset
from rankforce.distributed.shared import shared as shared
from rankforce.drifting.drift import drift as drift
from rankforce.drifting.drift_result import Drift as Drift
from rankforce.errors import ClusterError as ClusterError
from rankforce.errors import DataError as DataError
from rankforce.errors import FileFormatError as FileFormatError
from rankforce.errors import MeasureError as MeasureError
from rankforce.errors import MissingDependencyError as MissingDependencyError
from rankforce.errors import ModelFileError as ModelFileError
from rankforce.errors import NotFittedError as NotFittedError
from rankforce.errors import RankforceError as RankforceError
from rankforce.errors import RankforceWarning as RankforceWarning
from rankforce.errors import SettingsError as SettingsError
from rankforce.evaluation.compare import compare as compare
from rankforce.evaluation.comparison import Comparison as Comparison
from rankforce.evaluation.evaluate import evaluate as evaluate
from rankforce.evaluation.leaderboard import Leaderboard as Leaderboard
from rankforce.evaluation.off_policy import off_policy as off_policy
from rankforce.evaluation.off_policy_result import OffPolicyEvaluation as OffPolicyEvaluation
from rankforce.evaluation.result import Evaluation as Evaluation
from rankforce.explaining.contributions import Contributions as Contributions
from rankforce.explaining.document_explanation import DocumentExplanation as DocumentExplanation
from rankforce.explaining.explain import explain as explain
from rankforce.explaining.feature_importance import FeatureImportance as FeatureImportance
from rankforce.explaining.importance import importance as importance
from rankforce.explaining.pair_explanation import PairExplanation as PairExplanation
from rankforce.export.bundling import ExportedBundle as ExportedBundle
from rankforce.export.bundling import export_bundle as export_bundle
from rankforce.export.exporting import export_model as export_model
from rankforce.importing.recognising import load as load
from rankforce.inspection.inspection import Inspection as Inspection
from rankforce.inspection.inspection import inspect as inspect
from rankforce.inspection.model_card import ModelCard as ModelCard
from rankforce.inspection.model_card import model_card as model_card
from rankforce.measures.average_precision import MAP as MAP
from rankforce.measures.bpref import BPref as BPref
from rankforce.measures.catalogue import measure as measure
from rankforce.measures.cndcg import CNDCG as CNDCG
from rankforce.measures.dcg import DCG as DCG
from rankforce.measures.expected_reciprocal_rank import ERR as ERR
from rankforce.measures.judged_share import Judged as Judged
from rankforce.measures.kendall_tau import KendallTau as KendallTau
from rankforce.measures.measure import BinaryMeasure as BinaryMeasure
from rankforce.measures.measure import Measure as Measure
from rankforce.measures.ndcg import NDCG as NDCG
from rankforce.measures.pairwise_accuracy import PairwiseAccuracy as PairwiseAccuracy
from rankforce.measures.precision import Precision as Precision
from rankforce.measures.r_precision import RPrecision as RPrecision
from rankforce.measures.rank_biased_precision import RBP as RBP
from rankforce.measures.recall import Recall as Recall
from rankforce.measures.reciprocal_rank import MRR as MRR
from rankforce.measures.success import Success as Success
from rankforce.measures.winner_takes_all import WTA as WTA
from rankforce.migration.translation import MigrationWarning as MigrationWarning
from rankforce.models.exported import ExportCheck as ExportCheck
from rankforce.models.exported import Exported as Exported
from rankforce.models.model import Model as Model
from rankforce.objectives.graded import Graded as Graded
from rankforce.objectives.objective import Term as Term
from rankforce.objectives.objective_files import read_objective as read_objective
from rankforce.objectives.position_bias import InversePropensities as InversePropensities
from rankforce.objectives.position_bias import JointRatios as JointRatios
from rankforce.objectives.scheduled import Scheduled as Scheduled
from rankforce.rankers.bagging import Bagging as Bagging
from rankforce.rankers.lambdamart import LambdaMART as LambdaMART
from rankforce.rankers.lambdarank import LambdaRank as LambdaRank
from rankforce.rankers.mart import MART as MART
from rankforce.rankers.prank import PRank as PRank
from rankforce.rankers.ranknet import RankNet as RankNet
from rankforce.rankers.spsa import SPSA as SPSA
from rankforce.rankers.xrank import XRank as XRank
from rankforce.reporting.report import Report as Report
from rankforce.reporting.report import report as report
from rankforce.simulating.clicks import simulate_clicks as simulate_clicks
from rankforce.simulating.simulated_clicks import SimulatedClicks as SimulatedClicks
from rankforce.stores.binned_dataset import BinnedDataset as BinnedDataset
from rankforce.stores.opening import read as read
from rankforce.stores.writing import bin as bin
from rankforce.training.monitoring import TrainingWarning as TrainingWarning
from rankforce.training.weight_search import search_weights as search_weights
from rankforce.tuning.cross_validation import CrossValidation as CrossValidation
from rankforce.tuning.cross_validation import cross_validate as cross_validate
from rankforce.tuning.tune import tune as tune
from rankforce.tuning.tuning_result import Tuning as Tuning

__version__: str

__all__ = [
    "BPref",
    "Bagging",
    "BinaryMeasure",
    "BinnedDataset",
    "CNDCG",
    "ClickLabels",
    "ClusterError",
    "Combined",
    "Comparison",
    "Contributions",
    "CrossValidation",
    "DCG",
    "DataError",
    "Dataset",
    "DocumentExplanation",
    "Drift",
    "ERR",
    "Evaluation",
    "ExportCheck",
    "Exported",
    "ExportedBundle",
    "FeatureImportance",
    "FeatureLog",
    "FileFormatError",
    "Graded",
    "Inspection",
    "InversePropensities",
    "JointRatios",
    "Judged",
    "JudgedRun",
    "KendallTau",
    "LambdaMART",
    "LambdaRank",
    "Leaderboard",
    "MAP",
    "MART",
    "MRR",
    "Measure",
    "MeasureError",
    "MigrationWarning",
    "MissingDependencyError",
    "Model",
    "ModelCard",
    "ModelFileError",
    "NDCG",
    "NotFittedError",
    "OffPolicyEvaluation",
    "PRank",
    "PairExplanation",
    "PairwiseAccuracy",
    "Precision",
    "Preferences",
    "Propensities",
    "RBP",
    "RPrecision",
    "RankNet",
    "RankforceError",
    "RankforceWarning",
    "Recall",
    "Report",
    "SPSA",
    "Scheduled",
    "SettingsError",
    "SharedDataset",
    "SimilarQueries",
    "SimulatedClicks",
    "Success",
    "Term",
    "TrainingWarning",
    "Tuning",
    "WTA",
    "XRank",
    "__version__",
    "bin",
    "click_labels",
    "click_models",
    "click_sessions",
    "combine",
    "compare",
    "confuse_labels",
    "confusion_from_repeats",
    "consistent_posteriors",
    "cross_validate",
    "diagnostics",
    "drift",
    "estimate_propensities",
    "evaluate",
    "explain",
    "export_bundle",
    "export_model",
    "forces_at",
    "importance",
    "inspect",
    "judged_run",
    "lambdas",
    "load",
    "make_artificial",
    "make_web_like",
    "measure",
    "model_card",
    "off_policy",
    "optimising",
    "plot",
    "read",
    "read_feature_log",
    "read_folds",
    "read_letor",
    "read_objective",
    "read_preferences",
    "read_qrels",
    "read_run",
    "read_table",
    "report",
    "schedules",
    "search_weights",
    "shared",
    "simulate_clicks",
    "tune",
    "write_run",
]
