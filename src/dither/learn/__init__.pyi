from dither.learn.clusters.kmeans import KMeans as KMeans
from dither.learn.linear.logistic_regression import LogisticRegression as LogisticRegression
from dither.learn.naive_bayes import GaussianNB as GaussianNB
from dither.learn.nearest_centroid import NearestCentroid as NearestCentroid
from dither.learn.private_search import PrivateSearch as PrivateSearch
from dither.learn.suggest import suggest as suggest
