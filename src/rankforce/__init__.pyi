"""Public names of rankforce; written by tools/write_stub.py."""

from rankforce.combining.combine import combine as combine
from rankforce.data.artificial.artificial import make_artificial as make_artificial
from rankforce.data.artificial.web_like import make_web_like as make_web_like
from rankforce.data.clicks.click_labels import click_labels as click_labels
from rankforce.data.clicks.rates import ClickLabels as ClickLabels
from rankforce.data.dataset import Dataset as Dataset
from rankforce.data.files import read as read
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
from rankforce.diagnostics.effective_pairs import effective_pairs as effective_pairs
from rankforce.diagnostics.force_check import check_forces as check_forces
from rankforce.diagnostics.instruments import ContributionsByGrade as ContributionsByGrade
from rankforce.diagnostics.instruments import ForceAgreement as ForceAgreement
from rankforce.diagnostics.instruments import GradesInTop as GradesInTop
from rankforce.diagnostics.instruments import RankChanges as RankChanges
from rankforce.diagnostics.local_optimality import local_optimality as local_optimality
from rankforce.diagnostics.smoothness import smoothness as smoothness
from rankforce.errors import DataError as DataError
from rankforce.errors import FileFormatError as FileFormatError
from rankforce.errors import MeasureError as MeasureError
from rankforce.errors import ModelFileError as ModelFileError
from rankforce.errors import RankforceError as RankforceError
from rankforce.errors import SettingsError as SettingsError
from rankforce.evaluation.compare import Comparison as Comparison
from rankforce.evaluation.compare import compare as compare
from rankforce.evaluation.evaluate import evaluate as evaluate
from rankforce.evaluation.result import Evaluation as Evaluation
from rankforce.inspection.inspection import inspect as inspect
from rankforce.inspection.model_card import model_card as model_card
from rankforce.kernels.forces.listwise_forces import centre as centre
from rankforce.kernels.forces.listwise_forces import change_if_swapped as change_if_swapped
from rankforce.kernels.forces.listwise_forces import value_if_moved as value_if_moved
from rankforce.lambdas.catalogue import cost as cost
from rankforce.lambdas.cost import Cost as Cost
from rankforce.lambdas.discrete_bounded import DiscreteBounded as DiscreteBounded
from rankforce.lambdas.finite_difference import FiniteDifference as FiniteDifference
from rankforce.lambdas.listwise import ListwiseCost as ListwiseCost
from rankforce.lambdas.local_cost import LocalCost as LocalCost
from rankforce.lambdas.local_gradient import LocalGradient as LocalGradient
from rankforce.lambdas.near_pairs import NearPairs as NearPairs
from rankforce.lambdas.ranknet import RankNetCost as RankNetCost
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs as RankNetWeightPairs
from rankforce.lambdas.sigmoid import SigmoidCost as SigmoidCost
from rankforce.lambdas.spring import Spring as Spring
from rankforce.lambdas.spring_smooth import SpringSmooth as SpringSmooth
from rankforce.lambdas.step import Step as Step
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
from rankforce.models.model import Model as Model
from rankforce.models.storage import load as load
from rankforce.objectives.graded import Graded as Graded
from rankforce.objectives.objective import Term as Term
from rankforce.objectives.objective_files import read_objective as read_objective
from rankforce.objectives.scheduled import Scheduled as Scheduled
from rankforce.objectives.schedules import Exponential as Exponential
from rankforce.objectives.schedules import Linear as Linear
from rankforce.optimising.finite_differences import finite_differences as finite_differences
from rankforce.optimising.spsa import spsa as spsa
from rankforce.rankers.bagging import Bagging as Bagging
from rankforce.rankers.lambdamart import LambdaMART as LambdaMART
from rankforce.rankers.lambdarank import LambdaRank as LambdaRank
from rankforce.rankers.mart import MART as MART
from rankforce.rankers.prank import PRank as PRank
from rankforce.rankers.ranknet import RankNet as RankNet
from rankforce.rankers.spsa import SPSA as SPSA
from rankforce.rankers.xrank import XRank as XRank
from rankforce.training.weight_search import search_weights as search_weights
from rankforce.tuning.cross_validation import cross_validate as cross_validate
from rankforce.tuning.tune import tune as tune

__version__: str

__all__ = [
    "BPref",
    "Bagging",
    "BinaryMeasure",
    "CNDCG",
    "ClickLabels",
    "Comparison",
    "ContributionsByGrade",
    "Cost",
    "DCG",
    "DataError",
    "Dataset",
    "DiscreteBounded",
    "ERR",
    "Evaluation",
    "Exponential",
    "FileFormatError",
    "FiniteDifference",
    "ForceAgreement",
    "Graded",
    "GradesInTop",
    "Judged",
    "JudgedRun",
    "KendallTau",
    "LambdaMART",
    "LambdaRank",
    "Linear",
    "ListwiseCost",
    "LocalCost",
    "LocalGradient",
    "MAP",
    "MART",
    "MRR",
    "Measure",
    "MeasureError",
    "Model",
    "ModelFileError",
    "NDCG",
    "NearPairs",
    "PRank",
    "PairwiseAccuracy",
    "Precision",
    "Preferences",
    "RBP",
    "RPrecision",
    "RankChanges",
    "RankNet",
    "RankNetCost",
    "RankNetWeightPairs",
    "RankforceError",
    "Recall",
    "SPSA",
    "Scheduled",
    "SettingsError",
    "SigmoidCost",
    "Spring",
    "SpringSmooth",
    "Step",
    "Success",
    "Term",
    "WTA",
    "XRank",
    "__version__",
    "centre",
    "change_if_swapped",
    "check_forces",
    "click_labels",
    "combine",
    "compare",
    "confuse_labels",
    "confusion_from_repeats",
    "consistent_posteriors",
    "cost",
    "cross_validate",
    "effective_pairs",
    "evaluate",
    "finite_differences",
    "inspect",
    "judged_run",
    "load",
    "local_optimality",
    "make_artificial",
    "make_web_like",
    "measure",
    "model_card",
    "read",
    "read_folds",
    "read_letor",
    "read_objective",
    "read_preferences",
    "read_qrels",
    "read_run",
    "read_table",
    "search_weights",
    "smoothness",
    "spsa",
    "tune",
    "value_if_moved",
    "write_run",
]
