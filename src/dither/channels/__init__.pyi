from dither.channels import graph as graph
from dither.channels import kernels as kernels
from dither.channels import leakage as leakage
from dither.channels import oblivious as oblivious
from dither.channels import universal as universal
