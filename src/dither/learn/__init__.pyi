from dither.learn.linear.linear_regression import LinearRegression as LinearRegression
from dither.learn.linear.logistic_regression import LogisticRegression as LogisticRegression
from dither.learn.linear.ridge import Ridge as Ridge
from dither.learn.moments.pca import PCA as PCA
from dither.learn.moments.standard_scaler import StandardScaler as StandardScaler
