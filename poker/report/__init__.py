"""Reports of results: on the console, as JSON, as an HTML page with pictures, and as TensorBoard scalars."""

from poker.report.report import Figure, Report, Section, Table, Text

__all__ = ["Figure", "Report", "Section", "Table", "Text"]
