from dither.learn.linear.logistic_regression import LogisticRegression as LogisticRegression
from dither.learn.trees.boosting_classifier import BoostingClassifier as BoostingClassifier
from dither.learn.trees.boosting_regressor import BoostingRegressor as BoostingRegressor
from dither.learn.trees.forest_classifier import ForestClassifier as ForestClassifier
from dither.learn.trees.forest_regressor import ForestRegressor as ForestRegressor
