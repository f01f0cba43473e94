"""`job=abstraction`: assign the hands of every hold'em street to buckets, by any method of conf/abstraction."""

from poker.abstraction.making import make

run = make
