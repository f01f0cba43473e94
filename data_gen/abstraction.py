"""`job=abstraction`: sort the hands of every street of hold'em into buckets, by any method of conf/abstraction."""

from poker.abstraction.making import make

run = make
