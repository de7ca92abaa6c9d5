"""Public names of rankforce.lambdas; written by tools/write_stub.py."""

from rankforce.kernels.forces.listwise_forces import centre as centre
from rankforce.kernels.forces.listwise_forces import change_if_swapped as change_if_swapped
from rankforce.kernels.forces.listwise_forces import value_if_moved as value_if_moved
from rankforce.lambdas.base import LambdaFunction as LambdaFunction
from rankforce.lambdas.catalogue import lambda_function as lambda_function
from rankforce.lambdas.discrete_bounded import DiscreteBounded as DiscreteBounded
from rankforce.lambdas.finite_difference import FiniteDifference as FiniteDifference
from rankforce.lambdas.listwise import ListwiseLambdaFunction as ListwiseLambdaFunction
from rankforce.lambdas.local_cost import LocalCost as LocalCost
from rankforce.lambdas.local_gradient import LocalGradient as LocalGradient
from rankforce.lambdas.near_pairs import NearPairs as NearPairs
from rankforce.lambdas.pairwise import PairwiseLambdaFunction as PairwiseLambdaFunction
from rankforce.lambdas.ranknet import RankNetCost as RankNetCost
from rankforce.lambdas.ranknet_weight_pairs import RankNetWeightPairs as RankNetWeightPairs
from rankforce.lambdas.sigmoid import SigmoidCost as SigmoidCost
from rankforce.lambdas.spring import Spring as Spring
from rankforce.lambdas.spring_smooth import SpringSmooth as SpringSmooth
from rankforce.lambdas.step import Step as Step

__all__ = [
    "DiscreteBounded",
    "FiniteDifference",
    "LambdaFunction",
    "ListwiseLambdaFunction",
    "LocalCost",
    "LocalGradient",
    "NearPairs",
    "PairwiseLambdaFunction",
    "RankNetCost",
    "RankNetWeightPairs",
    "SigmoidCost",
    "Spring",
    "SpringSmooth",
    "Step",
    "centre",
    "change_if_swapped",
    "lambda_function",
    "value_if_moved",
]
