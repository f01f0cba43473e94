"""The shuffled stream: whole batches, every row, well mixed, and the same from any starting point."""

import numpy as np
import pytest

from models.training.shuffle import BlockShuffle, Position


def stream(shuffle: BlockShuffle, start: int, count: int) -> np.ndarray:
    """[count, batch_rows] rows of the batches start..start+count-1."""
    return np.concatenate(list(shuffle.epoch(Position(), start + count)))[start:]


@pytest.mark.parametrize(
    ("rows", "batch", "pool"), [(1000, 100, 300), (1037, 50, 256), (64, 64, 64), (5000, 7, 640), (1000, 400, 300)]
)
def test_pass_is_a_permutation_without_an_incomplete_batch(rows: int, batch: int, pool: int) -> None:
    ids = np.arange(rows) * 3
    shuffle = BlockShuffle(ids, batch, seed=1, block_rows=16, pool_rows=pool)
    seen = stream(shuffle, 0, shuffle.batches_per_pass).ravel()
    pools = -(-rows // max(pool // 16 * 16, batch))
    assert len(np.unique(seen)) == len(seen) >= rows - pools * (batch - 1)
    assert set(seen) <= set(ids)
    assert not np.array_equal(seen, np.sort(seen))


def test_the_stream_does_not_depend_on_where_one_starts() -> None:
    shuffle = BlockShuffle(np.arange(1037), 50, seed=5, block_rows=16, pool_rows=256)
    whole = stream(shuffle, 0, 100)
    for start, count in ((0, 1), (3, 9), (19, 2), (57, 43)):
        np.testing.assert_array_equal(stream(shuffle, start, count), whole[start : start + count])


def test_two_processes_take_turns_where_pools_have_an_odd_number_of_batches() -> None:
    shuffle = BlockShuffle(np.arange(900), 50, seed=1, block_rows=10, pool_rows=150)  # three batches in a pool
    whole = stream(shuffle, 0, 18)
    for rank in (0, 1):
        for epoch in (0, 1, 2):
            batches = np.concatenate(list(shuffle.epoch(Position(epoch, rank, world=2), 6)))
            np.testing.assert_array_equal(batches, whole[6 * epoch : 6 * epoch + 6][rank::2])


def test_passes_and_seeds_differ() -> None:
    one = BlockShuffle(np.arange(4096), 64, seed=1)
    other = BlockShuffle(np.arange(4096), 64, seed=2)
    per_pass = one.batches_per_pass
    assert not np.array_equal(stream(one, 0, 1), stream(one, per_pass, 1))
    assert not np.array_equal(stream(one, 0, 1), stream(other, 0, 1))


def test_a_batch_is_drawn_from_all_over_the_disk() -> None:
    rows = np.arange(1 << 17)
    batch = stream(BlockShuffle(rows, 1024, seed=0), 0, 1)[0]
    blocks = len(np.unique(batch // 64))
    assert blocks > 700  # 1024 rows out of 2048 blocks: 806 different ones expected, standard deviation below 20
    assert abs(batch.mean() / len(rows) - 0.5) < 4 * 0.289 / np.sqrt(1024)


def test_more_rows_a_batch_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="batches of 11 out of 10 rows"):
        BlockShuffle(np.arange(10), 11, seed=0)
