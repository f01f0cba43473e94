"""TensorBoard scalars, read back."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """(step, value) by tag, of all that was written to a folder."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return {
        tag: [(event.step, float(event.tensor_proto.float_val[0])) for event in events.Tensors(tag)]
        for tag in events.Tags()["tensors"]
    }
